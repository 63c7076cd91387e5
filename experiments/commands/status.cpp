#include "experiments/commands/status.h"
#include "experiments/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "experiments/files/json_text.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/run_status.h"
#include "experiments/training/run_study.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
using State = RunStatus::State;

constexpr std::array kStates = {State::done, State::running, State::failed, State::stopped,
                                State::waiting};

struct Listed {
  fs::path study;
  std::vector<fs::path> runs;  // their folders
};

Listed list_runs(const StatusOptions& options) {
  if (fs::is_directory(options.study)) {
    if (!options.overrides.empty() || !options.out.empty())
      throw InputError(fmt::format(
          "{}: is a folder, which says all; overrides and --out go with the file of a study",
          options.study.string()));
    return {options.study, find_runs(options.study)};
  }
  const Study study = require_study(options.study, options.overrides);
  Listed listed{folder_of(study, options.out), {}};
  for (const StudyRun& run : study.runs) listed.runs.push_back(listed.study / run.folder);
  return listed;
}

std::string counts(const std::vector<RunStatus>& runs) {
  std::string text = fmt::format("{} {}", runs.size(), runs.size() == 1 ? "run" : "runs");
  const char* before = ": ";
  for (const State state : kStates)
    if (const auto count = std::ranges::count(runs, state, &RunStatus::state); count > 0)
      text += fmt::format("{}{} {}", std::exchange(before, ", "), count, name_of(state));
  return text;
}

// "running    43 %  error 12.30 % in training  process 12 on host h, of user u, since ..."
std::string line_of(const RunStatus& run) {
  std::string text;
  if (run.share > 0.0) text += fmt::format(" {:>3.0f} %", 100 * run.share);
  if (run.error)
    text += fmt::format("  error {:>5.2f} %{}", 100 * *run.error,
                        run.state == State::done ? "" : " in training");
  if (run.holder) text += "  " + to_text(*run.holder);
  if (!run.message.empty()) text += "  " + run.message.substr(0, run.message.find('\n'));
  return text.empty() ? name_of(run.state) : fmt::format("{:<8}{}", name_of(run.state), text);
}

// Returns the path of a run relative to its study; its own name if only the run was requested.
std::string name_in(const fs::path& study, const fs::path& run) {
  const fs::path below = run.lexically_normal().lexically_relative(study.lexically_normal());
  if (below != "." && !below.empty()) return below.string();
  const fs::path whole = fs::absolute(run).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::string to_table(const Listed& listed, const std::vector<RunStatus>& runs) {
  std::string text = fmt::format("{}: {}\n", listed.study.string(), counts(runs));
  std::vector<std::string> names;
  std::size_t width = 0;
  for (const RunStatus& run : runs) {
    names.push_back(name_in(listed.study, run.folder));
    width = std::max(width, names.back().size());
  }
  for (std::size_t i = 0; i < runs.size(); ++i)
    text += fmt::format("  {:<{}}  {}\n", names[i], width, line_of(runs[i]));
  return text;
}

std::string to_json(const Listed& listed, const std::vector<RunStatus>& runs) {
  nlohmann::ordered_json document{{"study", listed.study.string()}};
  for (const State state : kStates)
    document[name_of(state)] = std::ranges::count(runs, state, &RunStatus::state);
  for (const RunStatus& run : runs) {
    nlohmann::ordered_json one{
        {"folder", run.folder.string()}, {"status", name_of(run.state)}, {"share", run.share}};
    if (run.error) one[run.state == State::done ? "test/error" : "train/error"] = *run.error;
    if (run.holder)
      one["holder"] = {{"process", run.holder->process},
                       {"since", run.holder->since},
                       {"command", run.holder->command}};
    if (!run.message.empty()) one["message"] = run.message;
    document["runs"].push_back(one);
  }
  return json_text(document, 2) + "\n";
}

}  // namespace

std::string status(const StatusOptions& options) {
  const Listed listed = list_runs(options);
  std::vector<RunStatus> runs;
  for (const fs::path& run : listed.runs) runs.push_back(status_of(RunFolder(run)));
  return options.json ? to_json(listed, runs) : to_table(listed, runs);
}

Command status_command() {
  const auto options = std::make_shared<StatusOptions>();
  return {.name = "status",
          .group = "Studies on many machines",
          .about = "Show how a run or the runs of a study stand",
          .options = {{"study", &options->study, "Study: its folder or its file (YAML)",
                       Option::kRequired},
                      overrides_option(&options->overrides),
                      {"--out", &options->out, "With the file: the folder that run was told"},
                      json_option(&options->json)},
          .call =
              [options](const Call&) {
                say(status(*options));
                return Ending::done;
              },
          .examples = {"saccade status runs/hard_vs_soft", "saccade status hard_vs_soft --json"}};
}

}  // namespace saccade
