// Untrusted text (names, classes, paths) cannot escape its context.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/printable.h"
#include "experiments/files/shipped.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

const std::string kEscape = "\x1b]0;owned\x07";
const std::string kScript = "<script>alert(1)</script>";

void check_harmless(const Program::Result& result, const std::vector<int>& codes) {
  INFO("said: " << printable(result.out) << printable(result.err));
  CHECK(std::ranges::find(codes, result.code) != codes.end());
  CHECK(result.out == printable(result.out));
  CHECK(result.err == printable(result.err));
}

TEST_CASE("a run and its comparison in folders with hostile names") {
  const TinyExperiment tiny;
  const std::string names[] = {"th\xe9", kEscape + "\xe2\x80\xaegpj\nb|<b>&'\"`$(touch mine)`",
                               std::string(200, 'n')};
  for (const std::string& name : names) {
    CAPTURE(printable(name));
    const auto call = [&](const CommandWords& words) { return run_saccade(tiny.path, words); };
    check_harmless(call({"run", tiny.yaml.string(), "--out", name}), {0});
    check_harmless(call({"run", tiny.yaml.string(), "--out", name}), {2});
    check_harmless(call({"eval", name}), {0});
    check_harmless(call({"record", name, "--out", name + ".gif"}), {0});
    check_harmless(call({"compare", name}), {0});
    check_harmless(call({"compare", name, name + "-none"}), {2});
    const fs::path comparison = tiny.path / name / "comparison";
    const std::string page = bytes_of(comparison / "report.html");
    CHECK(is_utf8(page));
    CHECK_FALSE(contains(page, "<b>&"));
    CHECK_FALSE(contains(page, "\x1b"));
    for (const std::string& line : split(bytes_of(comparison / "compare.md"), '\n'))
      CHECK((line.starts_with("    ") || !contains(line, "<b>")));  // unless it is code
    const Program::Result status = call({"status", name, "--json"});
    check_harmless(status, {0});
    CHECK_FALSE(nlohmann::json::parse(status.out, nullptr, false).is_discarded());
    CHECK_FALSE(fs::exists(tiny.path / "mine"));
  }
}

TEST_CASE("untrusted settings are refused or kept as text") {
  const TinyExperiment tiny;
  for (const std::string& name :
       {std::string("../out"), std::string("/tmp/out"), std::string("..")})
    check_harmless(run_saccade(tiny.path, {"run", tiny.yaml.string(), "name=" + name}), {2});
  const std::string texts[] = {"th\xe9", kEscape, std::string(10000, 'n'), "\xe2\x80\xaegpj"};
  for (const std::string& text : texts)
    for (const std::string key : {"name", "data.path", "init_from", "model.core", "no.such.key"}) {
      CAPTURE(key);
      check_harmless(
          run_saccade(tiny.path, {"run", tiny.yaml.string(), key + "=" + text, "--out", "out"}),
          {0, 1, 2});
      fs::remove_all(tiny.path / "out");
    }
  CHECK_FALSE(fs::exists(tiny.path.parent_path() / "out"));
  CHECK_FALSE(fs::exists("/tmp/out"));
}

TEST_CASE("an error shows only the beginning, the end and the length of a megabyte of text") {
  const TinyExperiment tiny;
  const std::string text(1'000'000, 'n'), word(100'000, 'n');
  const auto check_short = [&](const CommandWords& words) {
    CAPTURE(words[0]);
    const Program::Result result = run_saccade(tiny.path, words);
    check_harmless(result, {2});
    CHECK(contains(result.err, "00000 characters) ...n"));
    CHECK(result.err.size() < 12'000);
  };
  for (const std::string& yaml : {"name: " + text, "name:\n  " + text, "data: {path: " + text + "}",
                                  "model: {core: " + text + "}"}) {
    put_bytes(tiny.path / "long.yaml", yaml + "\n");
    check_short({"run", "long.yaml"});
  }
  check_short({"run", "tiny.yaml", "name=" + word});
  check_short({"run", "tiny.yaml", word + "=1"});
}

TEST_CASE("a variant name with HTML is displayed literally") {
  const TinyExperiment tiny;
  const Program::Result run = run_saccade(
      tiny.path, {"run", tiny.yaml.string(), "variant='" + kScript + "'", "--out", "out"});
  INFO(run.err);
  if (run.code == 0) {
    check_harmless(run_saccade(tiny.path, {"compare", "out"}), {0});
    for (const char* file : {"report.html", "compare.md"})
      CHECK_FALSE(contains(bytes_of(tiny.path / "out/comparison" / file), "<script>alert"));
  } else {
    check_harmless(run, {2});
  }
}

TEST_CASE("an impossible path is refused by every command") {
  const TinyExperiment tiny;
  const std::string path(10000, 'n');
  for (const CommandWords& words :
       {CommandWords{"run", "tiny.yaml", "--out", path}, CommandWords{"run", path},
        CommandWords{"eval", path}, CommandWords{"compare", path}, CommandWords{"status", path},
        CommandWords{"record", path, "--out", "a.gif"},
        CommandWords{"export", path, "--npz", "a.npz"}}) {
    CAPTURE(words[0]);
    const Program::Result result = run_saccade(tiny.path, words);
    check_harmless(result, {2});
    CHECK_FALSE(contains(result.err, "filesystem error"));
  }
}

TEST_CASE("permissions of files and folders follow the user's umask") {
  const TinyExperiment tiny;
  const std::string saccade = saccade_binary();
  const auto call = [&](const std::string& words) {
    const auto result =
        Program(tiny.path, {"/bin/sh", "-c", "umask 027; exec " + saccade + " " + words}).finish();
    INFO(result.err);
    REQUIRE(result.code == 0);
  };
  call(
      "run tiny.yaml record.every=64 record.format=gif log.tensorboard=true log.jsonl=true "
      "log.snapshots=true --out out/run");
  call("compare out/run --out out/page");
  call("record out/run --out out/video.mp4 --scenes 1");
  call("eval out/run --weights out/weights.npz");
  call("export out/run --onnx out/a.onnx --npz out/a.npz --agent out/a");
  for (const auto& entry : fs::recursive_directory_iterator(tiny.path / "out")) {
    CAPTURE(entry.path().string());
    CHECK(static_cast<int>(entry.status().permissions()) == (entry.is_directory() ? 0750 : 0640));
  }
}

TEST_CASE("a study's list of runs can name only folders inside it") {
  const TinyExperiment tiny;
  tiny.train("study/base/seed-1");
  tiny.train("other");
  for (const std::string& line : {std::string("../other"), (tiny.path / "other").string(),
                                  std::string("base/../../other"), std::string("")}) {
    CAPTURE(line);
    put_bytes(tiny.path / "study/study.txt", line + "\n");
    const Program::Result result = run_saccade(tiny.path, {"compare", "study", "--force"});
    check_harmless(result, {2});
    CHECK(contains(result.err, "study.txt: '" + line + "' is not a folder inside"));
  }
  fs::remove(tiny.path / "study/study.txt");
  REQUIRE(mkfifo((tiny.path / "study/study.txt").c_str(), 0600) == 0);  // without a writer
  check_harmless(run_saccade(tiny.path, {"compare", "study", "--force"}), {2});
  fs::remove(tiny.path / "study/study.txt");
  put_bytes(tiny.path / "study/study.txt", "base/seed-1\n");
  fs::create_directory_symlink(tiny.path / "study", tiny.path / "study/round");
  fs::create_directory_symlink(tiny.path / "study", tiny.path / "study/round2");
  check_harmless(run_saccade(tiny.path, {"compare", "study", "--force"}), {0});

  // Otherwise a recording of a private run could get into the page.
  put_bytes(tiny.path / "secret", "secret");
  fs::create_directory_symlink(tiny.path, tiny.path / "study/base/seed-1/recordings");
  const Program::Result result = run_saccade(tiny.path, {"compare", "study", "--force"});
  CHECK(contains(result.out + result.err, "a symbolic link in a run folder is not followed"));
}

// An untrusted folder has links in place of the program's files: their targets must stay unchanged.
TEST_CASE("no command writes through a planted symbolic link") {
  const TinyExperiment tiny;
  tiny.train("run");
  put_bytes(tiny.path / "study.yaml", bytes_of(tiny.yaml) + "seeds: 1\n");
  const std::string quiet = "--quiet";
  struct Case {
    std::string link;
    CommandWords words;
  };
  const Case cases[] = {
      {"run/lock", {"run", "tiny.yaml", "--out", "run", "--resume", quiet}},
      {"run/metrics.csv", {"run", "tiny.yaml", "--out", "run", "--resume", quiet}},
      {"run/summary.json", {"run", "tiny.yaml", "--out", "run", "--resume", quiet}},
      {"run/checkpoints/last.safetensors.tmp",
       {"run", "tiny.yaml", "--out", "run", "--resume", quiet}},
      {"s/study.txt", {"run", "study.yaml", "--out", "s", quiet}},
      {"s/base/seed-1/failed.txt",
       {"run", "study.yaml", "--out", "s", "init_from=/nothere", quiet}},
      {"s/slurm.sh", {"slurm", "study.yaml", "--out", "s"}},
      {"run/comparison/report.html", {"compare", "run", "--force"}},
      {"run/comparison/compare.csv", {"compare", "run", "--force"}},
      {"looks.gif", {"record", "run", "--out", "looks.gif", "--scenes", "1", "--force"}},
      {"w.npz", {"eval", "run", "--weights", "w.npz", "--episodes", "20"}},
      {"p.png", {"data", "preview", "tiny.yaml", "--out", "p.png", "--force"}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.link);
    const fs::path victim = tiny.path / "victim", link = tiny.path / one.link;
    put_bytes(victim, "mine");
    fs::create_directories(link.parent_path());
    const bool there = fs::exists(link);
    if (there) fs::rename(link, tiny.path / "aside");
    fs::create_symlink(victim, link);
    check_harmless(run_saccade(tiny.path, one.words), {0, 1, 2});
    CHECK(bytes_of(victim) == "mine");
    fs::remove(link);
    if (there) fs::rename(tiny.path / "aside", link);
    for (const char* made : {"s", "run/comparison", "looks.gif", "w.npz", "p.png"})
      fs::remove_all(tiny.path / made);
  }
  // A folder that is a link, and weights that belong to somebody else.
  fs::create_directory(tiny.path / "elsewhere");
  fs::create_directory_symlink(tiny.path / "elsewhere", tiny.path / "run/comparison");
  check_harmless(run_saccade(tiny.path, {"compare", "run"}), {2});
  CHECK(fs::is_empty(tiny.path / "elsewhere"));
  fs::rename(tiny.path / "run" / kBest, tiny.path / "best");
  fs::create_symlink(tiny.path / "best", tiny.path / "run" / kBest);
  check_harmless(run_saccade(tiny.path, {"eval", "run"}), {2});
}

// What is exported is published.
TEST_CASE("no export reads a private file through a planted symbolic link") {
  const TinyExperiment tiny;
  tiny.train("run");
  std::vector<CommandWords> exports = {
      {"--agent", "made"}, {"--npz", "made.npz"}, {"--onnx", "made.onnx"}};
  if (!shipped_page().empty()) exports.push_back({"--web", "made"});
  for (const std::string file :
       {"command.txt", "summary.json", "metrics.csv", "test.json", "checkpoints"}) {
    const fs::path link = tiny.path / "run" / file, secret = tiny.path / "secret";
    fs::rename(link, secret);
    fs::create_symlink(secret, link);
    for (const CommandWords& words : exports) {
      CAPTURE(file);
      CAPTURE(words[0]);
      const Program::Result result = run_saccade(tiny.path, {"export", "run", words[0], words[1]});
      check_harmless(result, {2});
      CHECK(contains(result.err,
                     "run/" + file + ": a symbolic link in a run folder is not followed"));
      CHECK_FALSE(fs::exists(tiny.path / words[1]));
    }
    fs::remove(link);
    fs::rename(secret, link);
  }
}

}  // namespace
}  // namespace saccade
