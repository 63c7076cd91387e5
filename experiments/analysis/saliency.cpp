#include "experiments/analysis/saliency.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "agent/learning/jacobian.h"
#include "base/error.h"
#include "base/output.h"
#include "base/stop.h"
#include "experiments/evaluation/saliency_arrays.h"
#include "experiments/files/npz.h"
#include "experiments/pictures/colours.h"
#include "experiments/pictures/recording.h"
#include "experiments/pictures/saliency_picture.h"
#include "experiments/runs/trained.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr int kChunk = 8;  // scenes played at a time
constexpr int kMargin = 14;

double norm(const float* values, std::size_t count) {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += double{values[i]} * values[i];
  return std::sqrt(sum);
}

// Computes each output for the first `count` episodes played, which are scenes n, n + 1, ..
std::vector<SceneSaliency> follow(Jacobian& jacobian, std::span<const float> weights,
                                  const std::vector<int>& outputs, int n, int count,
                                  SaliencyArrays& arrays) {
  std::vector<SceneSaliency> scenes(count);
  std::vector<int> chosen(jacobian.rollout.episodes(), -1);
  for (int o = 0; o < static_cast<int>(outputs.size()); ++o) {
    for (int b = 0; b < count; ++b) chosen[b] = jacobian.rollout.answer->chosen(outputs[o], b);
    jacobian.backward(weights, outputs[o], chosen);
    const ConstMatrix logits = jacobian.rollout.answer->logits(outputs[o]);
    const Tensor<3>& seen = jacobian.dglimpses.size() > 0 ? jacobian.dglimpses : jacobian.dfeatures;
    for (int b = 0; b < count; ++b) {
      const float logit = chosen[b] < 0 ? 0.0F : logits(b, chosen[b]);
      arrays.record(jacobian, b, n + b, o, chosen[b], logit);
      const float* canvas = &jacobian.dcanvases(b, 0);
      scenes[b].chosen.push_back(chosen[b]);
      scenes[b].logits.push_back(logit);
      scenes[b].canvas.emplace_back(canvas, canvas + jacobian.dcanvases.shape()[1]);
      std::vector<double>& steps = scenes[b].steps.emplace_back();
      for (std::size_t t = 0; t < seen.shape()[0]; ++t)
        steps.push_back(norm(&seen(t, b, 0), seen.shape()[2]));
    }
  }
  return scenes;
}

// Plays the scenes, differentiates their logits, and draws and writes both.
void write_saliency(const Task& task, std::span<const float> weights,
                    const SaliencyRequest& request, const fs::path& png, const fs::path& npz,
                    const ProgressCallback& on_progress) {
  const Model& model = task.model;
  const std::vector<int> outputs = followed_outputs(model, request.step, "--step");
  const EvaluationConfig& evaluation = task.config.evaluation;
  Jacobian jacobian(model, task.environments(Split::test)(kChunk, 1));
  Tensor<3> canvases = zeros<3>(model.num_glimpses(), kChunk, model.canvas().pixels());
  SaliencyArrays arrays(jacobian, request.scenes, static_cast<int>(outputs.size()));
  const SaliencyPicture drawn(task, static_cast<int>(outputs.size()));
  const int end = kMargin + request.scenes * (drawn.rows() + kMargin);
  Picture sheet(end + drawn.scales_rows(), drawn.cols() + 2 * kMargin, kPaper);
  drawn.draw_scales(sheet, {kMargin, end});
  const int step = model.answer().spells ? model.num_glimpses() - 1 : outputs.back();
  for (int first = 0; first < request.scenes; first += kChunk) {
    stop_if_asked();
    if (on_progress) on_progress(first, request.scenes);
    RolloutRequest rollout = RolloutRequest::of_scenes(first, evaluation.seed);
    rollout.sampling = SamplingMode::deterministic;
    rollout.canvases = &canvases;
    jacobian.run(weights, rollout);
    const int count = std::min(kChunk, request.scenes - first);
    const std::vector<SceneSaliency> scenes =
        follow(jacobian, weights, outputs, first, count, arrays);
    for (int b = 0; b < count; ++b)
      sheet.paste(drawn.picture({jacobian.rollout, canvases, b}, scenes[b], step, first + b + 1),
                  {kMargin, kMargin + (first + b) * (drawn.rows() + kMargin)});
  }
  write_text(png, to_png(sheet));
  write_npz(npz, arrays.take());
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder))
    throw InputError(fmt::format("--out {}: no folder can be made there", folder.string()));
}

}  // namespace

std::vector<fs::path> saliency(const SaliencyRequest& request,
                               const ProgressCallback& on_progress) {
  if (request.scenes < 1 || request.scenes > kMaxSheetScenes)
    throw InputError(fmt::format("--scenes {}: allowed: 1 to {}", request.scenes, kMaxSheetScenes));
  const Trained trained(request.run_folder, request.data);
  followed_outputs(trained.task.model, request.step, "--step");  // validates the step first
  require_traceable(trained.task.model, trained.task.config.retina);
  make_folder(request.out);
  const fs::path png = request.out / "saliency.png", npz = request.out / "saliency.npz";
  OutputFile png_file(png, request.force), npz_file(npz, request.force);
  write_saliency(trained.task, flat(trained.weights), request, png_file.path(), npz_file.path(),
                 on_progress);
  png_file.commit();
  npz_file.commit();
  return {png, npz};
}

}  // namespace saccade
