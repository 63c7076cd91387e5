// The script written by `saccade slurm`. scripts/try-slurm tries it with a real Slurm.
#include "experiments/training/slurm.h"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sstream>

#include <cstdlib>

#include "tests/experiments/program.h"
#include "tests/experiments/studies.h"

namespace saccade {
namespace {

// A program of this name and contents, first in PATH until the end of the scope.
struct Stub {
  Stub(const fs::path& folder, const std::string& name, const std::string& text)
      : path("PATH", (folder.string() + ":" + std::getenv("PATH")).c_str()) {
    fs::create_directories(folder);
    put_bytes(folder / name, "#!/bin/sh\n" + text);
    chmod((folder / name).c_str(), 0755);
  }
  TemporaryVariable path;
};

SlurmRequest options_of(const TinyStudy& tiny) {
  return {
      .config = tiny.yaml, .overrides = {}, .out = tiny.path / "a study", .jobs = 3, .sbatch = ""};
}

}  // namespace

TEST_CASE("slurm: the script has the options its tasks need, with the user's last") {
  const TinyStudy tiny("seeds: 2\n");
  SlurmRequest options = options_of(tiny);
  options.overrides = {"vary={model.core: [rnn, gru]}"};
  options.sbatch = "--partition=long --time=2:00:00";
  const TemporaryVariable data("SACCADE_DATA", "/of digits");
  const fs::path file = options.out / "slurm.sh";
  CHECK(slurm(options) == file);
  const std::string text = bytes_of(file);
  INFO(text);
  CHECK(text.starts_with("#!/bin/bash\n#SBATCH --job-name=tiny\n#SBATCH --array=0-2\n"));
  for (const char* line : {"#SBATCH --requeue", "#SBATCH --open-mode=append",
                           "#SBATCH --signal=B:USR1@60", "export SACCADE_DATA='/of digits'"})
    CHECK(contains(text, fmt::format("\n{}\n", line)));
  check_contains(text, {fmt::format("\n#SBATCH --output='{}/slurm-%a.log'\n", options.out.string()),
                        "\n#SBATCH --partition=long --time=2:00:00\n# ",
                        fmt::format(" run {} 'vary={{model.core: [rnn, gru]}}' --out '{}' --jobs 1 "
                                    "--threads \"${{SLURM_CPUS_PER_TASK:-1}}\" &\n",
                                    tiny.yaml.string(), options.out.string())});
  CHECK(split(bytes_of(options.out / "study.txt"), '\n').size() == 5);  // for `saccade status`

  CHECK(slurm(options) == file);  // the same script
  put_bytes(file, text + "module load gcc\n");
  CHECK(message_of<InputError>([&] { slurm(options); }) ==
        file.string() + ": exists already with other lines; --force writes over it");
  CHECK(bytes_of(file) == text + "module load gcc\n");
  options.force = true;
  slurm(options);
  CHECK(bytes_of(file) == text);
}

TEST_CASE("slurm: a task told to end saves and is requeued, unless it is cancelled") {
  const TinyStudy tiny("seeds: 1\n");
  const std::string longer = "training.episodes=12800000";
  check_done(run_saccade(tiny.path, {"slurm", "tiny.yaml", longer, "--out", "study"}));
  const TemporaryVariable array("SLURM_ARRAY_JOB_ID", "12"), task("SLURM_ARRAY_TASK_ID", "3");
  const fs::path run = tiny.path / "study" / tiny.runs({longer})[0].folder;
  for (const char* state : {"RUNNING", "COMPLETING"}) {
    CAPTURE(state);
    const Stub squeue(tiny.path / "bin", "squeue",
                      fmt::format("case \"$*\" in *--jobs=12_3*) echo {};; esac\n", state));
    const Stub scontrol(tiny.path / "bin", "scontrol", "echo asked: \"$@\"\n");
    Program program(tiny.path, {"/bin/bash", (tiny.path / "study/slurm.sh").string()});
    while (!fs::exists(run / "lock") || !fs::exists(run / kLast)) usleep(1000);
    program.send(SIGUSR1);
    const Program::Result result = program.finish();
    INFO(result.err);
    const bool runs = std::string(state) == "RUNNING";
    CHECK(result.code == (runs ? 0 : 130));
    CHECK(contains(result.out, "saved; queued again\nasked: requeue 12_3\n") == runs);
    CHECK(contains(result.err, "stopped and saved; "));
    CHECK_FALSE(fs::exists(run / "lock"));
  }
}

TEST_CASE("slurm: the script ends as its program does") {
  const TinyStudy tiny("seeds: 1\n");
  check_done(run_saccade(tiny.path, {"slurm", "tiny.yaml", "--out", "study"}));
  const CommandWords words = {"/bin/bash", (tiny.path / "study/slurm.sh").string()};
  CHECK(Program(tiny.path, words).finish().code == 0);
  CHECK(fs::exists(tiny.path / "study/base/seed-1/summary.json"));
  fs::remove(tiny.yaml);
  const Program::Result failed = Program(tiny.path, words).finish();
  CHECK(failed.code == 2);
  CHECK(contains(failed.err, "tiny.yaml: cannot be read"));
}

TEST_CASE("slurm: a script is submitted if Slurm is available") {
  const TinyStudy tiny("seeds: 1\n");
  SlurmRequest options = options_of(tiny);
  options.submit = true;
  {
    const TemporaryVariable path("PATH", "/none");
    const std::string message = message_of<InputError>([&] { slurm(options); });
    CHECK(message.starts_with("--submit: there is no Slurm on this machine (no sbatch in PATH); "));
    CHECK(contains(message, "slurm.sh"));
    CHECK(fs::exists(options.out / "slurm.sh"));
  }
  const Stub sbatch(tiny.path / "bin", "sbatch", "cp \"$1\" submitted\n");
  const fs::path before = fs::current_path();
  fs::current_path(tiny.path);
  options.force = true;  // the script goes to the present folder
  CHECK(slurm(options) == options.out / "slurm.sh");
  CHECK(bytes_of("submitted") == bytes_of(options.out / "slurm.sh"));
  const Stub refuses(tiny.path / "bin", "sbatch", "exit 1\n");
  CHECK(
      contains(message_of<InputError>([&] { slurm(options); }), "--submit: sbatch did not take "));
  fs::current_path(before);
}

TEST_CASE("slurm: an impossible script is refused with one message and exit code 2") {
  const TinyStudy tiny("seeds: 2\n");
  put_bytes(tiny.path / "one.yaml", tiny_yaml(tiny.path / "data"));
  const auto before = contents(tiny.path);
  const auto check = [&](const CommandWords& words, const std::string& message) {
    check_refused(run_saccade(tiny.path, words), message);
  };
  for (const char* jobs : {"0", "-1", "1001", "many"})
    check({"slurm", "tiny.yaml", "--jobs", jobs}, "");
  check({"slurm"}, "config is required");
  check({"slurm", "none.yaml"}, "none.yaml: cannot be read: ");
  check({"slurm", "one.yaml"}, "one.yaml: is a single run; allowed: a study (vary, seeds), which ");
  check({"slurm", "one.yaml", "model.cor=rnn"}, "override 'model.cor=rnn': unknown key");
  check({"slurm", "tiny.yaml", "--out", "one.yaml"}, "one.yaml: the folder cannot be made");
  check({"slurm", "tiny.yaml", "--sbatch", "partition=long"},
        "--sbatch 'partition=long': allowed: options of sbatch on one line, ");
  SlurmRequest options = options_of(tiny);
  options.sbatch = "--time=1\nrm -r /none";
  CHECK(message_of<InputError>([&] { slurm(options); }).starts_with("--sbatch '--time=1\nrm"));
  // A path with any byte is quoted or refused, and commands in it are not run.
  for (int byte = 1; byte < 256; ++byte) {
    CAPTURE(byte);
    options = options_of(tiny);
    options.out =
        tiny.path / ("a" + std::string(1, static_cast<char>(byte)) + "touch X #'`$(touch X)");
    if (byte < 0x20 || byte == 0x7f) {
      CHECK(contains(message_of<InputError>([&] { slurm(options); }), "has a control character"));
      continue;
    }
    if (byte == '/') continue;  // separates folders
    slurm(options);
    const std::string script = bytes_of(options.out / "slurm.sh");
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line);) CHECK_FALSE(line.starts_with("touch"));
    fs::remove_all(options.out);
  }
  CHECK(contents(tiny.path) == before);
}

}  // namespace saccade
