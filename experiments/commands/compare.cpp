#include "experiments/comparison/compare.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "experiments/commands/command.h"
#include "experiments/comparison/tables.h"
#include "experiments/files/json_text.h"

namespace saccade {
namespace {

// "a,b" is a and b; nothing is none.
std::vector<std::string> keys_in(const std::string& list) {
  std::vector<std::string> keys;
  std::istringstream stream(list);
  for (std::string key; std::getline(stream, key, ',');) keys.push_back(key);
  return keys;
}

}  // namespace

Command compare_command() {
  struct Line {
    CompareRequest request;
    std::string tuned_by;
    bool json = false;
  };
  const auto line = std::make_shared<Line>();
  CompareRequest& request = line->request;
  return {
      .name = "compare",
      .group = "Train and test",
      .about = "Put trained agents side by side: tables, charts, a report",
      .options = {{"folders", &request.folders,
                   std::string("Folders of runs or of studies, names of trained agents") +
                       kOtherScenes,
                   Option::kRequired},
                  {"--out", &request.out,
                   "Folder to write (default: comparison/, in the one folder given or here)"},
                  {"--tuned-by", &line->tuned_by,
                   "KEY[,KEY]: of runs that differ in these alone, those with the least "
                   "validation error stand for their variant"},
                  {"--stop-error", &request.stop_target.error,
                   "Stop each agent when it is surer than a threshold: on validation scenes, "
                   "that of the fewest looks with at most this error (default: that of all "
                   "looks)"},
                  {"--stop-looks", &request.stop_target.looks,
                   "That of the least error with at most so many mean looks"},
                  json_option(&line->json),
                  threads_option(&request.threads),
                  force_option(&request.force)},
      .call =
          [line](const Call& call) {
            line->request.command = call.command;
            line->request.other_scenes = take_overrides(line->request.folders);
            line->request.tuned_by = keys_in(line->tuned_by);
            return say_unless_stopped(
                call, "compared and filmed", [&](const ProgressCallback& on_progress) {
                  const ComparedRuns compared = compare(line->request, on_progress);
                  return line->json ? json_text(to_json(compared.comparison), 2) + "\n"
                                    : to_text(compared);
                });
          },
      .examples = {"saccade compare runs/quickstart --force",
                   "saccade compare soft60 cluttered60 scene.num_distractors=16 --out crowded"}};
}

}  // namespace saccade
