#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/analysis/gradients.h"
#include "experiments/commands/command.h"
#include "experiments/files/json_text.h"
#include "experiments/files/metrics.h"
#include "experiments/runs/trained.h"

namespace saccade {
namespace {

struct GradientsLine {
  std::filesystem::path run_folder;
  GradientsRequest request = {};
  std::string data;
  int threads = 0;
  bool json = false;
};

std::string call_gradients(GradientsLine& line, const ProgressCallback& on_progress) {
  const Trained trained(line.run_folder, {.data = line.data});
  Workers workers(line.threads);
  line.request.agent = line.run_folder.string();
  const GradientReport report =
      gradients(trained.task, flat(trained.weights), line.request, workers, on_progress);
  const std::vector<Difference>& differs = trained.from_training;
  if (line.json) {
    nlohmann::ordered_json document = to_json(report);
    if (!differs.empty()) document[Metric("test/other_scenes").name()] = to_json(differs);
    return json_text(document, 2) + "\n";
  }
  return word_on_training(differs) + to_table(report);
}

}  // namespace

Command gradients_command() {
  const auto line = std::make_shared<GradientsLine>();
  GradientsRequest& request = line->request;
  return {.name = "gradients",
          .group = "Look at agents",
          .about = "Compare advantage estimators by the locator's gradient",
          .options = {run_folder_option(&line->run_folder),
                      data_option(&line->data),
                      {"--scenes", &request.scenes, "Test scenes (default 64)",
                       GradientsRequest::kScenes},
                      {"--rollouts", &request.rollouts, "A scene (default 4)",
                       GradientsRequest::kRollouts},
                      {"--samples", &request.samples, "Draws of the policy (default 128)",
                       GradientsRequest::kSamples},
                      json_option(&line->json),
                      threads_option(&line->threads)},
          .call =
              [line](const Call& call) {
                return say_unless_stopped(call, "draws", [&](const ProgressCallback& on_progress) {
                  return call_gradients(*line, on_progress);
                });
              },
          .examples = {"saccade gradients runs/quickstart/base/seed-1 --scenes 32 --samples 64",
                       "saccade gradients cluttered60 --json"}};
}

}  // namespace saccade
