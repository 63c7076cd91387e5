#include "experiments/training/slurm.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/error.h"
#include "base/output.h"
#include "base/printable.h"
#include "base/read_text.h"
#include "experiments/runs/run_folder.h"
#include "experiments/training/run_study.h"
#include "experiments/training/warn_unused.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// Slurm notifies only the shell (B:). The script forwards this as SIGUSR1, which never ends the
// program at once, even if Slurm has also sent it a SIGTERM. The program ends with 130 after
// saving, or with 138 or 143 if it was not yet handling signals. A job that is being cancelled, or
// requeued by Slurm itself, is no longer RUNNING and is left alone.
constexpr const char* kScript = R"sh(#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --array=0-{last}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@60
#SBATCH --output={log}
{sbatch}# The tasks divide the runs of the study among them; the file `lock` in a run's folder says who has it.
cd {here} || exit
{environment}{program} run {words} --jobs 1 --threads "${{SLURM_CPUS_PER_TASK:-1}}" &
program=$!
trap 'kill -USR1 $program 2>/dev/null' USR1 TERM
while wait $program; kill -0 $program 2>/dev/null; do :; done
wait $program
code=$?
case $code in
  130 | 138 | 143)
    task=${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID  # the number of one task is that of the array
    [ "$(squeue --noheader --states=all --jobs="$task" --format=%T)" = RUNNING ] &&
      echo "saved; queued again" && scontrol requeue "$task" && exit 0 ;;
esac
exit $code
)sh";

void check(const SlurmRequest& request) {
  if (request.sbatch.empty()) return;
  if (!request.sbatch.starts_with('-') || request.sbatch.find_first_of("\n\r") != std::string::npos)
    throw InputError(
        fmt::format("--sbatch '{}': allowed: options of sbatch on one line, as \"--partition=long "
                    "--time=2:00:00\"",
                    request.sbatch));
}

// Returns a word quoted for both the shell and sbatch, on one line. Throws InputError for a control
// character: a line break in an sbatch comment would start a command.
std::string script_word(const std::string& text) {
  if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    throw InputError(fmt::format(
        "'{}' has a control character; none is allowed in what goes into a batch script", text));
  return shell_word(text);
}

std::string script(const SlurmRequest& request, const Study& study, const fs::path& folder) {
  std::string words = script_word(request.config.string());
  for (const std::string& word : request.overrides) words += fmt::format(" {}", script_word(word));
  words += fmt::format(" --out {}", script_word(folder.string()));
  const char* data = std::getenv("SACCADE_DATA");
  return fmt::format(
      kScript, fmt::arg("name", script_word(study.name)), fmt::arg("last", request.jobs - 1),
      fmt::arg("log",
               script_word((fs::absolute(folder) / "slurm-%a.log").lexically_normal().string())),
      fmt::arg("sbatch", request.sbatch.empty() ? "" : "#SBATCH " + request.sbatch + "\n"),
      fmt::arg("here", script_word(fs::current_path().string())),
      fmt::arg("environment",
               data == nullptr ? "" : "export SACCADE_DATA=" + script_word(data) + "\n"),
      fmt::arg("program", script_word(fs::read_symlink("/proc/self/exe").string())),
      fmt::arg("words", words));
}

bool is_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

void submit(const fs::path& file) {
  if (!is_in_path("sbatch"))
    throw InputError(
        fmt::format("--submit: there is no Slurm on this machine (no sbatch in PATH); {0} is "
                    "written: `sbatch {0}` on one that has it",
                    file.string()));
  std::string program = "sbatch", name = file.string();
  char* const words[] = {program.data(), name.data(), nullptr};
  pid_t child = 0;
  int status = -1;
  if (posix_spawnp(&child, words[0], nullptr, nullptr, words, environ) != 0 ||
      waitpid(child, &status, 0) != child || status != 0)
    throw InputError(fmt::format(
        "--submit: sbatch did not take {}; --sbatch \"...\" says what it misses", name));
}

}  // namespace

fs::path slurm(const SlurmRequest& request) {
  check(request);
  const Study study = require_study(request.config, request.overrides);
  warn_of_unused(configs_of(study), Unused::warn);
  const fs::path folder = folder_of(study, request.out);
  const std::string text = script(request, study, folder);
  const fs::path file = folder / kSlurmFile;
  if (!request.force && fs::exists(file) && read_text(file) != text)
    throw InputError(
        fmt::format("{}: exists already with other lines; --force writes over it", file.string()));
  write_study_file(folder, study);  // so that `saccade status` finds the runs
  replace_text(file, text);
  if (request.submit) submit(file);
  return file;
}

}  // namespace saccade
