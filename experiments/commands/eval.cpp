#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/analysis/evaluate.h"
#include "experiments/commands/command.h"
#include "experiments/files/json_text.h"

namespace saccade {

Command eval_command() {
  struct Line {
    EvaluateRequest request;
    bool json = false;
  };
  const auto line = std::make_shared<Line>();
  EvaluateRequest& request = line->request;
  return {
      .name = "eval",
      .group = "Train and test",
      .about = "Test the best checkpoint of a run",
      .options = {run_folder_option(&request.run_folder),
                  {"settings", &request.on.scenes,
                   "scene.key=value: other scenes than it was trained on"},
                  data_option(&request.on.data),
                  {"--episodes", &request.on.test_scenes, "Test scenes", EvaluateRequest::kScenes},
                  {"--draws", &request.on.draws,
                   "Draws of them, of the same digits where all are shown (default: as in the run)",
                   EvaluateRequest::kDraws},
                  json_option(&line->json),
                  {"--weights", &request.weights,
                   "A new .npz file: the attention of the deterministic pass, scene by scene "
                   "(locations, glimpse_weights or windows, gate, hidden, alignment, core; "
                   "labels, answers, errors)"},
                  {"--stop", &request.stop,
                   "Stop looking once the highest class probability is above this (default: "
                   "chosen on the validation scenes, for the error of all looks)"},
                  {"--stop-error", &request.stop_target.error,
                   "Choose that threshold for the fewest looks with at most this error, a share"},
                  {"--stop-looks", &request.stop_target.looks,
                   "Choose it for the least error with at most so many mean looks"},
                  threads_option(&request.threads)},
      .call =
          [line](const Call& call) {
            return say_unless_stopped(
                call, "test scenes", [&](const ProgressCallback& on_progress) {
                  const TestFigures figures = evaluate(line->request, on_progress);
                  return line->json ? json_text(to_json(figures), 2) + "\n" : to_text(figures);
                });
          },
      .examples = {"saccade eval cluttered60 --draws 5 --stop-looks 1.5",
                   "saccade eval soft60 scene.num_distractors=16 --weights attention.npz"}};
}

}  // namespace saccade
