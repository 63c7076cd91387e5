#include "experiments/analysis/saliency.h"

#include <memory>

#include "experiments/commands/command.h"
#include "experiments/runs/other_scenes.h"

namespace saccade {

Command saliency_command() {
  const auto request = std::make_shared<SaliencyRequest>();
  return {.name = "saliency",
          .group = "Look at agents",
          .about = "Plot the gradient saliency of an answer",
          .options = {run_folder_option(&request->run_folder),
                      data_option(&request->data),
                      {"--out", &request->out, "The folder for saliency.png and saliency.npz",
                       Option::kRequired},
                      {"--scenes", &request->scenes, "Test scenes (default 8)",
                       SaliencyRequest::kScenes},
                      {"--step", &request->step,
                       "Of the answer after this glimpse, or this symbol of a sequence (default: "
                       "the last; every symbol)"},
                      force_option(&request->force)},
          .call =
              [request](const Call& call) {
                return say_unless_stopped(call, "scenes", [&](const ProgressCallback& on_progress) {
                  const SaliencyFiles written = saliency(*request, on_progress);
                  return to_lines(written.paths) + word_on_training(written.from_training);
                });
              },
          .examples = {"saccade saliency runs/quickstart/base/seed-1 --out maps",
                       "saccade saliency soft60 --out maps --scenes 4 --step 2"}};
}

}  // namespace saccade
