#include "experiments/training/study_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/commands/command.h"
#include "experiments/files/json_text.h"

namespace saccade {
namespace {

using State = RunStatus::State;

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

std::string to_table(const StudyStatus& status) {
  std::string text = fmt::format("{}: {}\n", status.study.string(), counts_of(status.runs));
  std::vector<std::string> names;
  std::size_t width = 0;
  for (const RunStatus& run : status.runs) {
    names.push_back(name_below(status.study, run.folder));
    width = std::max(width, names.back().size());
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("  {:<{}}  {}\n", names[i], width, line_of(status.runs[i]));
  return text;
}

std::string to_json(const StudyStatus& status) {
  nlohmann::ordered_json document{{"study", status.study.string()}};
  for (const State state : kRunStates)
    document[name_of(state)] = std::ranges::count(status.runs, state, &RunStatus::state);
  for (const RunStatus& run : status.runs) {
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

Command status_command() {
  struct Line {
    StatusRequest request;
    bool json = false;
  };
  const auto line = std::make_shared<Line>();
  return {.name = "status",
          .group = "Studies on many machines",
          .about = "Show how a run or the runs of a study stand",
          .options = {{"study", &line->request.study, "Study: its folder or its file (YAML)",
                       Option::kRequired},
                      overrides_option(&line->request.overrides),
                      {"--out", &line->request.out,
                       "With a file: the folder that was given to `run --out`"},
                      json_option(&line->json)},
          .call =
              [line](const Call&) {
                const StudyStatus status = study_status(line->request);
                say(line->json ? to_json(status) : to_table(status));
                return Ending::done;
              },
          .examples = {"saccade status runs/hard_vs_soft", "saccade status hard_vs_soft --json"}};
}

}  // namespace saccade
