// Untrusted run folders: faults are reported, and the other runs are compared.

#include <doctest/doctest.h>

#include "experiments/comparison/chart.h"
#include "experiments/comparison/gather.h"
#include "experiments/comparison/tables.h"
#include "experiments/files/json_text.h"
#include "experiments/runs/run_status.h"
#include "experiments/runs/training_log.h"
#include "experiments/training/finished.h"
#include "nn/safetensors.h"
#include "tests/experiments/program.h"
#include "tests/special_files.h"

namespace saccade {
namespace {

using Json = nlohmann::json;

// Two runs of one variant, the second of which is corrupted and restored repeatedly.
struct GoodAndBad : TinyExperiment {
  GoodAndBad() : good(train("good")), bad(train("bad", {"seed=2"})), kept(contents(bad)) {}

  // The message about the second run if one of its files has other bytes.
  std::string reason(const std::string& file, const std::string& bytes) const {
    CAPTURE(file);
    put_bytes(bad / file, bytes);
    const std::string said = reason(file);
    put_bytes(bad / file, kept.at(file));
    return said;
  }

  // The same for the file as it is.
  std::string reason(const std::string& file) const {
    const Comparison both = gather(std::vector{good, bad});
    charts_of(both);
    CHECK(both.variants.size() == 1);
    CHECK(both.variants[0].folders == std::vector{good});
    CHECK(
        contains(message_of<InputError>([&] { gather(std::vector{bad}); }), "no run is finished"));
    REQUIRE(both.left_out.size() == 1);
    CHECK(both.left_out[0].folder == bad);
    const std::string begin = (bad / file).string() + ": ";
    CHECK(both.left_out[0].reason.starts_with(begin));
    return both.left_out[0].reason.substr(std::min(begin.size(), both.left_out[0].reason.size()));
  }

  // The same with another value for a key of a JSON file.
  std::string reason(const std::string& file, const std::string& key, const Json& value) const {
    CAPTURE(key);
    Json document = Json::parse(kept.at(file));
    document[Json::json_pointer(key)] = value;
    return reason(file, document.dump());
  }

  fs::path good, bad;
  std::map<std::string, std::string> kept;
};

}  // namespace

TEST_CASE("a test.json with inconsistent sizes or values is reported and left out") {
  const GoodAndBad tiny;
  const auto reason = [&](const std::string& key, const Json& value) {
    return tiny.reason("test.json", key, value);
  };
  CHECK(reason("/test~1confusion", Json::array({1, 2, 3})) ==
        "'test/confusion' has 3 values; allowed: 9");
  CHECK(reason("/test~1confusion", Json::array()) == "'test/confusion' has 0 values; allowed: 9");
  CHECK(reason("/test~1confusion", std::vector(9, -1)) ==
        "'test/confusion': -1; allowed: 0 to 2147483647");
  CHECK(reason("/class_names", Json::array()) == "'class_names' has 0 values; allowed: 1 to 2000");
  CHECK(reason("/class_names", {1, 2, 3}) == "'class_names': 1; allowed: texts");
  CHECK(reason("/class_names", Names(3000)) == "'class_names' has 3000 values; allowed: 1 to 2000");
  CHECK(reason("/test~1error_by_glimpse", {0.5, 0.5, 1e300}) ==
        "'test/error_by_glimpse': 1e+300; allowed: 0 to 1");
  CHECK(reason("/test~1error_by_glimpse", {0.5, nullptr, 0.5}) ==
        "'test/error_by_glimpse': null; allowed: numbers");
  const std::string map = "'attention/look_map': ";
  CHECK(reason("/attention~1look_map/rows", 0) == map + "'rows': 0; allowed: 1 to 2048");
  CHECK(reason("/attention~1look_map/cols", -15) == map + "'cols': -15; allowed: 1 to 2048");
  CHECK(reason("/attention~1look_map/rows", 1000000000) ==
        map + "'rows': 1000000000; allowed: 1 to 2048");
  CHECK(reason("/attention~1look_map/rows", 12.5) == map + "'rows': 12.5; allowed: 1 to 2048");
  CHECK(reason("/attention~1look_map/weights", {1.0}) ==
        map + "'weights' has 1 value; allowed: 195");
  CHECK(reason("/attention~1look_map", Json::array()) ==
        "'attention/look_map': a list; allowed: an object");
  CHECK(tiny.reason("test.json", "[]") == "is not a JSON object");
  CHECK(tiny.reason("test.json", "") == "is not a JSON object");
  CHECK(tiny.reason("test.json", R"({"class_names": )" + std::string(100000, '[')) ==
        "is not a JSON object");
}

TEST_CASE("a test.json with inconsistent stops is reported and left out") {
  const GoodAndBad tiny;
  const Json kept = Json::parse(tiny.kept.at("test.json")).at("test/stopping");
  const std::size_t count = kept.at("thresholds").size();
  REQUIRE(count > 2);
  const auto reason = [&](const std::string& key, const Json& value) {
    const std::string said = tiny.reason("test.json", "/test~1stopping" + key, value);
    const std::string begin = "'test/stopping': ";
    CHECK(said.starts_with(begin));
    return said.substr(std::min(begin.size(), said.size()));
  };
  const auto sized = [&](const std::string& key, std::size_t size) {
    return fmt::format("'{}' has {} values; allowed: {}", key, size, count);
  };
  CHECK(reason("", 3) == "3; allowed: an object");
  CHECK(reason("/thresholds", Json::array()) == "'thresholds' has 0 values; allowed: 1 to 1000");
  CHECK(reason("/thresholds/1", 1.5) == "'thresholds': 1.5; allowed: 0 to 1");
  CHECK(reason("/thresholds/1", "x") == "'thresholds': \"x\"; allowed: numbers");
  CHECK(reason("/test", Json::array()) == "'test': a list; allowed: an object");
  CHECK(reason("/test", Json::object()) == "'test': 'error' is missing");
  CHECK(reason("/test/error", std::vector(count + 1, 0.5)) ==
        "'test': " + sized("error", count + 1));
  CHECK(reason("/valid/looks", {1.0, 2.0}) == "'valid': " + sized("looks", 2));
  CHECK(reason("/valid/error_high", {1.0, 1.0}) == "'valid': " + sized("error_high", 2));
  CHECK(reason("/valid/error/2", 1e300) == "'valid': 'error': 1e+300; allowed: 0 to 1");
  // Looks that no episode can have, of 3.
  for (const std::string part : {"test", "valid", "always", "oracle"}) {
    CHECK(reason("/" + part + "/looks/0", 0.5) == "'" + part + "': 'looks': 0.5; allowed: 1 to 3");
    CHECK(reason("/" + part + "/looks/0", 40) == "'" + part + "': 'looks': 40.0; allowed: 1 to 3");
  }
  CHECK(reason("/always/error", {0.5, 0.5}) == "'always': 'error' has 2 values; allowed: 3");
  CHECK(reason("/always/looks", {1.0, 2.0}) == "'test': 'looks': 3.0; allowed: 1 to 2");
  CHECK(reason("/oracle/error", Json::array()) == "'oracle': 'error' has 0 values; allowed: 1");
}

TEST_CASE("stops of a run that no target fits are refused, naming the option") {
  const GoodAndBad tiny;
  Json document = Json::parse(tiny.kept.at("test.json"));
  for (Json& looks : document["test/stopping"]["valid"]["looks"]) looks = 2.5;
  put_bytes(tiny.bad / "test.json", document.dump());
  CHECK(message_of<InputError>([&] { gather(std::vector{tiny.bad}, {}, nullptr, {.looks = 2}); }) ==
        "--stop-looks 2: no threshold has so few looks on the validation scenes; allowed: from 2.5 "
        "(threshold 0)");
}

TEST_CASE("invalid UTF-8 in a run is replaced in JSON") {
  const GoodAndBad tiny;
  put_bytes(tiny.bad / "command.txt", "saccade run caf\xe9.yaml\n");
  const Comparison both = gather(std::vector{tiny.good, tiny.bad});
  const Json document = Json::parse(json_text(to_json(both)));
  CHECK(document.at("commands").at(1) == "saccade run caf\xef\xbf\xbd.yaml");
}

TEST_CASE("a test with other sizes than its variant's is left out") {
  const GoodAndBad tiny;
  const auto reason = [&](const std::string& file, const std::string& key, const Json& value) {
    Json document = Json::parse(tiny.kept.at(file));
    document[key] = value;
    put_bytes(tiny.bad / file, document.dump());
    const Comparison both = gather(std::vector{tiny.good, tiny.bad});
    put_bytes(tiny.bad / file, tiny.kept.at(file));
    REQUIRE(both.left_out.size() == 1);
    return both.left_out[0].reason;
  };
  CHECK(reason("test.json", "test/error_by_glimpse", {0.5, 0.5}) ==
        "its test has 2 glimpses (test/error_by_glimpse), that of the others 3");
  CHECK(reason("test.json", "attention/look_map", {{"rows", 1}, {"cols", 1}, {"weights", {0.5}}}) ==
        "its test has 1 rows (attention/look_map), that of the others 13");
  CHECK(reason("summary.json", "attention/on_target_by_glimpse", {0.5}) ==
        "its test has 1 looks (attention/on_target_by_glimpse), that of the others 3");
  Json two = Json::parse(tiny.kept.at("test.json"));
  two["class_names"] = {"a", "b"};
  two["test/confusion"] = {1, 2, 3, 4};
  put_bytes(tiny.bad / "test.json", two.dump());
  const Comparison both = gather(std::vector{tiny.good, tiny.bad});
  REQUIRE(both.left_out.size() == 1);
  CHECK(both.left_out[0].reason == "its test has 2 classes (class_names), that of the others 3");
}

TEST_CASE("a metrics.csv that is incomplete or has impossible numbers is reported and left out") {
  const GoodAndBad tiny;
  const std::string& table = tiny.kept.at("metrics.csv");
  const std::string header = table.substr(0, table.find('\n') + 1);
  const auto reason = [&](const std::string& bytes) { return tiny.reason("metrics.csv", bytes); };
  CHECK(reason("") == "is empty");
  CHECK(reason("episodes\n64\n") == "line 1 has no column 'time/elapsed'");
  CHECK(reason(table.substr(0, table.rfind(','))) ==
        "line 7 has 22 cells; allowed: 23, one a column");
  const auto row = [&](const char* error, const char* seconds) {
    const Names columns = split(header.substr(0, header.size() - 1), ',');
    std::string line = "64";
    for (std::size_t i = 1; i < columns.size(); ++i)
      line += std::string(",") + (columns[i] == "valid/error"    ? error
                                  : columns[i] == "time/elapsed" ? seconds
                                                                 : "");
    return header + line + "\n";
  };
  for (const char* number : {"1e300", "1e308", "inf", "nan", "-1", "2"})
    CHECK(contains(reason(row(number, "1")), "; allowed: 0 to 1"));
  CHECK(reason(row("0.5", "1e300")) ==
        "line 2, 'time/elapsed': 1e+300; allowed: 0 to 1000000000000");
  CHECK(reason(row("0.5", "")) == "line 2, 'time/elapsed': '' is not a number");
  CHECK(reason(row("0.5x", "1")) == "line 2, 'valid/error': '0.5x' is not a number");
  fs::remove(tiny.bad / "metrics.csv");
  CHECK(contains(gather(std::vector{tiny.good, tiny.bad}).left_out.at(0).reason,
                 "metrics.csv: cannot be read: No such file or directory"));
  // Allowed, although no mean of scenes can be so small: an axis does not extend down to it.
  put_bytes(tiny.bad / "metrics.csv", row("1e-310", "1e-310"));
  const Comparison both = gather(std::vector{tiny.good, tiny.bad});
  CHECK(both.left_out.empty());
  for (const Chart& chart : charts_of(both)) {
    CHECK(chart.x.ticks.size() < 100);
    CHECK(chart.y.ticks.size() < 100);
  }
}

TEST_CASE("a summary.json or meta.json with wrong types is reported and left out") {
  const GoodAndBad tiny;
  const auto reason = [&](const std::string& key, const Json& value) {
    return tiny.reason("summary.json", key, value);
  };
  CHECK(reason("/status", 1) == "'status': 1; allowed: text");
  CHECK(reason("/valid~1error", "x") == "'valid/error': \"x\"; allowed: a number");
  CHECK(reason("/episode~1gflop", "\x1b[31mred") ==
        "'episode/gflop': \"\\u001b[31mred\"; allowed: a number");
  CHECK(reason("/episode~1gflop", 1e300) == "'episode/gflop': 1e+300; allowed: 0 to 1000000000000");
  CHECK(reason("/test~1scenes", 1e12) == "'test/scenes': 1000000000000; allowed: 0 to 2147483647");
  CHECK(reason("/test~1error_random", 5) == "'test/error_random': 5; allowed: 0 to 1");
  CHECK(reason("/attention~1on_target", nullptr) ==
        "'attention/on_target': null; allowed: a number");
  CHECK(reason("/attention~1on_target_by_glimpse", Json::array()) ==
        "'attention/on_target_by_glimpse' has 0 values; allowed: 1 to 2048");
  CHECK(tiny.reason("meta.json", "/data_crc32", 5) ==
        "'data_crc32': 5; allowed: an object of texts");
  CHECK(tiny.reason("meta.json", "/data_crc32/train", 5) == "'data_crc32': 5; allowed: texts");
  CHECK(contains(tiny.reason("command.txt", std::string(2 << 20, 'x')),
                 "cannot be read: it has 2097152 bytes; allowed: at most 1048576"));
}

TEST_CASE("a file of a run that is not a regular file is reported and left out") {
  const GoodAndBad tiny;
  for (const std::string file :
       {"config.yaml", "command.txt", "meta.json", "metrics.csv", "summary.json", "test.json"}) {
    CAPTURE(file);
    fs::remove(tiny.bad / file);
    for_each_special_file(tiny.bad / file, [&] {
      CHECK(tiny.reason(file) == "not a regular file");
      CHECK(status_of(RunFolder(tiny.bad)).state == RunStatus::State::failed);
    });
    fs::create_symlink("/dev/zero", tiny.bad / file);
    CHECK(tiny.reason(file) == (file == "summary.json"  // which is read first
                                    ? "not a regular file"
                                    : "a symbolic link in a run folder is not followed"));
    fs::remove(tiny.bad / file);
    put_bytes(tiny.bad / file, tiny.kept.at(file));
  }
}

TEST_CASE("files that a resumed training reads must be regular files") {
  const TinyExperiment tiny;
  tiny.train("run");
  const fs::path run = tiny.path / "run";
  RunFolder folder(run);
  const auto refused = [](const fs::path& path) { return path.string() + ": not a regular file"; };
  for (const std::string file : {"config.yaml", "command.txt", "meta.json"}) {
    CAPTURE(file);
    const std::string bytes = bytes_of(run / file);
    fs::remove(run / file);
    for_each_special_file(run / file, [&] {
      CHECK(message_of<InputError>([&] { folder.has_lost(); }) == refused(run / file));
    });
    put_bytes(run / file, bytes);
  }
  for (const std::string& file : {kLast, kBest}) {
    CAPTURE(file);
    fs::remove(run / file);
    for_each_special_file(run / file, [&] {
      CHECK(message_of<InputError>([&] { read_safetensors(run / file); }) == refused(run / file));
    });
  }
  const fs::path table = folder.metrics(), lines = folder.metrics_lines(), events = folder.events();
  fs::remove(table);
  for_each_special_file(table, [&] {
    CHECK(message_of<InputError>([&] { MetricsFile(table, 0); }) == refused(table));
    CHECK(message_of<InputError>([&] { folder.set_metrics_aside(); }) == refused(table));
  });
  for_each_special_file(lines, [&] {
    CHECK(message_of<InputError>([&] { MetricsLines(lines, 0); }) == refused(lines));
  });
  for_each_special_file(events, [&] {
    CHECK(message_of<InputError>([&] { EventFile(events, 0); }) == refused(events));
  });
}

TEST_CASE("resuming over a pipe, or training from an endless file, exits with 2") {
  const TinyExperiment tiny;
  const fs::path run = tiny.train("run");
  for (const char* file : {"summary.json", "metrics.csv"}) fs::remove(run / file);
  {
    const EmptyPipe pipe(run / "metrics.csv");
    const Program::Result result =
        run_saccade(tiny.path, {"run", "tiny.yaml", "--out", "run", "--resume", "--quiet"});
    CHECK(result.code == 2);
    CHECK(contains(result.err, "run/metrics.csv: not a regular file"));
  }
  // Without the check it would read until killed.
  const std::string limited = "ulimit -t 20; exec " + saccade_binary() + " run /dev/zero";
  check_refused(Program(tiny.path, {"/bin/sh", "-c", limited}).finish(),
                "/dev/zero: not a regular file");
  const EmptyPipe pipe(tiny.path / "pipe.yaml");
  for (const CommandWords& command :
       {CommandWords{"run"}, {"config"}, {"bench"}, {"data", "preview", "--out", "a.png"}}) {
    CommandWords words = command;
    words.push_back("pipe.yaml");
    check_refused(run_saccade(tiny.path, words), "pipe.yaml: not a regular file");
  }
}

TEST_CASE("comparing only malformed runs exits with 2, together with others with 0") {
  const GoodAndBad tiny;
  put_bytes(tiny.bad / "test.json", R"({"class_names": 1})");
  const Program::Result alone = run_saccade(tiny.path, {"compare", "bad"});
  CHECK(alone.code == 2);
  CHECK(alone.err ==
        "saccade: bad: no run is finished and whole (bad/test.json: 'class_names': 1; allowed: a "
        "list of texts)\n");
  const Program::Result both = run_saccade(tiny.path, {"compare", "good", "bad", "--out", "c"});
  check_done(both);
  CHECK(contains(both.out, "left out: bad: bad/test.json: 'class_names': 1; allowed: a list"));
}

TEST_CASE("a malformed run has a line in its study's status, and fails when trained") {
  const GoodAndBad tiny;
  put_bytes(tiny.bad / "summary.json", R"({"status": 7})");
  const RunStatus status = status_of(RunFolder(tiny.bad));
  CHECK(status.state == RunStatus::State::failed);
  CHECK(contains(status.message, "bad/summary.json: 'status': 7; allowed: text"));
  CHECK(status_of(RunFolder(tiny.good)).state == RunStatus::State::done);
  CHECK(contains(message_of<InputError>([&] { is_done(RunFolder(tiny.bad), Config{}); }),
                 "'status': 7"));
  put_bytes(tiny.bad / "summary.json", "{}");
  put_bytes(tiny.bad / "metrics.csv", "episodes,train/error\n1e300,1e300\n");
  CHECK(!status_of(RunFolder(tiny.bad)).error.has_value());
}

}  // namespace saccade
