
#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <vector>

#include "experiments/runs/finished_run.h"
#include "experiments/runs/run_failure.h"
#include "experiments/runs/run_status.h"
#include "tests/experiments/program.h"
#include "tests/experiments/studies.h"

namespace saccade {
namespace {

// Five runs: done, running, failed, stopped and waiting.
struct Standing : TinyStudy {
  Standing() : TinyStudy("seeds: 5\n") {
    CHECK(run(options("study", {"seeds=1"}), false));
    const auto copy = [&](int number) {
      fs::copy(folder(1), folder(number), fs::copy_options::recursive);
      fs::remove(folder(number) / "summary.json");
      fs::remove(folder(number) / "test.json");
      const std::string rows = bytes_of(folder(number) / "metrics.csv");
      put_bytes(folder(number) / "metrics.csv", rows.substr(0, rows.find("\n128,") + 1));
    };
    copy(2);
    lock = std::make_unique<RunLock>(folder(2), "saccade run");
    fs::create_directories(folder(3));
    keep_failure(RunFolder(folder(3)), "no luck\nat all");
    copy(4);
    run_study_file();
  }
  void run_study_file() const {
    std::string lines;
    for (const StudyRun& run : runs()) lines += run.folder.string() + "\n";
    put_bytes(path / "study/study.txt", lines);
  }
  fs::path folder(int number) const {
    return path / "study" / runs()[static_cast<std::size_t>(number - 1)].folder;
  }
  std::unique_ptr<RunLock> lock;
};

}  // namespace

TEST_CASE("the runs of a study are done, running, failed, stopped or waiting") {
  const Standing tiny;
  const auto check = [&](int number, RunStatus::State state, double share) {
    CAPTURE(number);
    const RunStatus status = status_of(RunFolder(tiny.folder(number)));
    CHECK(std::string(name_of(status.state)) == name_of(state));
    CHECK(status.share == doctest::Approx(share));
    CHECK(status.holder.has_value() == (state == RunStatus::State::running));
    CHECK(status.error.has_value() == (share > 0.0));
    CHECK(status.message == (state == RunStatus::State::failed ? "no luck\nat all" : ""));
    return status;
  };
  const RunStatus done = check(1, RunStatus::State::done, 1.0);
  CHECK(*done.error == read_json(tiny.folder(1) / "summary.json").at("test/error"));
  const RunStatus running = check(2, RunStatus::State::running, 80.0 / 192);
  const Csv metrics(tiny.folder(2) / "metrics.csv");
  CHECK(*running.error == doctest::Approx(std::stod(metrics.column.at("train/error").back())));
  check(3, RunStatus::State::failed, 0.0);
  check(4, RunStatus::State::stopped, 80.0 / 192);
  check(5, RunStatus::State::waiting, 0.0);
}

TEST_CASE("status gives a table or a JSON document, for a folder or a file, and changes nothing") {
  const Standing tiny;
  const auto before = contents(tiny.path);
  const Program::Result table = run_saccade(tiny.path, {"status", "study"});
  check_done(table);
  const Names lines = split(table.out, '\n');
  REQUIRE(lines.size() == 7);
  CHECK(lines[0] == "study: 5 runs: 1 done, 1 running, 1 failed, 1 stopped, 1 waiting");
  CHECK(lines[1].starts_with("  base/seed-1  done     100 %  error "));
  CHECK(lines[2].starts_with("  base/seed-2  running   42 %  error "));
  CHECK(contains(lines[2], fmt::format(" % in training  process {} on host ", getpid())));
  CHECK(lines[3] == "  base/seed-3  failed    no luck");
  CHECK(lines[4].starts_with("  base/seed-4  stopped   42 %  error "));
  CHECK(lines[5] == "  base/seed-5  waiting");
  check_done(run_saccade(tiny.path, {"status", "tiny.yaml", "--out", "study"}));
  CHECK(run_saccade(tiny.path, {"status", "tiny.yaml", "--out", "study"}).out == table.out);

  const Program::Result said = run_saccade(tiny.path, {"status", "study", "--json"});
  check_done(said);
  const nlohmann::json document = nlohmann::json::parse(said.out);
  CHECK(document.at("waiting") == 1);
  CHECK(document.at("stopped") == 1);
  REQUIRE(document.at("runs").size() == 5);
  CHECK(document.at("runs")[0].at("test/error").is_number());
  CHECK(document.at("runs")[1].at("holder").at("command") == "saccade run");
  CHECK(document.at("runs")[2].at("message") == "no luck\nat all");
  CHECK(document.at("runs")[3].at("status") == "stopped");
  CHECK(contents(tiny.path) == before);

  const Program::Result none = run_saccade(tiny.path, {"status", "tiny.yaml", "seeds=2"});
  check_done(none);
  CHECK(none.out.starts_with("runs/tiny: 2 runs: 2 waiting\n"));
}

TEST_CASE("the status of a single run shows its name") {
  const TinyExperiment tiny;
  CHECK_FALSE(run(tiny.options("mine"), /*stop=*/true));
  for (const std::string folder : {"mine", "./mine/", "mine/."}) {
    const Program::Result result = run_saccade(tiny.path, {"status", folder});
    check_done(result);
    CHECK(result.out == folder + ": 1 run: 1 stopped\n  mine  stopped\n");
  }
  const Program::Result inside = run_saccade(tiny.path / "mine", {"status", "."});
  check_done(inside);
  CHECK(inside.out == ".: 1 run: 1 stopped\n  mine  stopped\n");
}

TEST_CASE("status refuses anything but a study") {
  const TinyStudy tiny("seeds: 2\n");
  put_bytes(tiny.path / "one.yaml", tiny_yaml(tiny.path / "data"));
  const auto check = [&](const CommandWords& words, const std::string& message) {
    check_refused(run_saccade(tiny.path, words), message);
  };
  check({"status"}, "study is required");
  check({"status", "none"}, "none: no such file, and no preset; presets: ");
  check({"status", "data"}, "data: neither a run folder (no config.yaml) nor a study");
  check({"status", "one.yaml"}, "one.yaml: is a single run; allowed: a study");
  check({"status", "data", "seeds=2"},
        "data: is a folder, which says all; overrides and --out go ");
}

// Passes at any speed: nothing that comes and goes may be an error.
TEST_CASE("runs are found while others begin and end beside them") {
  const TemporaryFolder folder;
  const fs::path there = folder.path / "base/seed-1", other = folder.path / "core=gru";
  fs::create_directories(there);
  put_bytes(there / "config.yaml", "");
  const std::jthread trainings([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      fs::create_directories(other / "seed-1/checkpoints");
      fs::remove_all(other);
    }
  });
  for (int i = 0; i < 3000; ++i) REQUIRE(find_runs(folder.path) == std::vector<fs::path>{there});
}

}  // namespace saccade
