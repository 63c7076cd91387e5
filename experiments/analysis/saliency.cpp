#include "experiments/analysis/saliency.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "experiments/evaluation/saliency_arrays.h"
#include "experiments/files/npz.h"
#include "experiments/pictures/colours.h"
#include "experiments/pictures/recording.h"
#include "experiments/pictures/saliency_picture.h"
#include "experiments/runs/trained.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr int kMargin = 14;

// Plays the scenes, differentiates their logits, and draws and writes both.
void write_saliency(const Task& task, std::span<const float> weights,
                    const SaliencyRequest& request, const fs::path& png, const fs::path& npz,
                    const ProgressCallback& on_progress) {
  const Model& model = task.model;
  const std::vector<int> outputs = followed_outputs(model, request.step, "--step");
  const SaliencyPicture drawn(task, static_cast<int>(outputs.size()));
  const int end = kMargin + request.scenes * (drawn.rows() + kMargin);
  Picture sheet(end + drawn.scales_rows(), drawn.cols() + 2 * kMargin, kPaper);
  drawn.draw_scales(sheet, {kMargin, end});
  const int step = model.answer().spells ? model.num_glimpses() - 1 : outputs.back();
  Tensor<3> canvases = zeros<3>(model.num_glimpses(), kTracedAtATime, model.canvas().pixels());
  const auto draw = [&](const SaliencyArrays& arrays, Rollout& rollout, int first, int count) {
    for (int b = 0; b < count; ++b)
      sheet.paste(drawn.picture({rollout, canvases, b}, arrays, first + b, step),
                  {kMargin, kMargin + (first + b) * (drawn.rows() + kMargin)});
    if (on_progress) on_progress(first + count, request.scenes);
  };
  if (on_progress) on_progress(0, request.scenes);
  std::vector<NpzArray> arrays =
      saliency_arrays(model, weights, task.environments(Split::test), request.scenes,
                      task.config.evaluation.seed, outputs, &canvases, draw);
  write_text(png, to_png(sheet));
  write_npz(npz, std::move(arrays));
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder))
    throw InputError(fmt::format("--out {}: no folder can be made there", folder.string()));
}

}  // namespace

SaliencyFiles saliency(const SaliencyRequest& request, const ProgressCallback& on_progress) {
  if (request.scenes < 1 || request.scenes > kMaxSheetScenes)
    throw InputError(fmt::format("--scenes {}: allowed: 1 to {}", request.scenes, kMaxSheetScenes));
  const Trained trained(request.run_folder, {.data = request.data});
  followed_outputs(trained.task.model, request.step, "--step");  // validates the step first
  require_traceable(trained.task.model, trained.task.config.retina);
  make_folder(request.out);
  const fs::path png = request.out / "saliency.png", npz = request.out / "saliency.npz";
  OutputFile png_file(png, request.force), npz_file(npz, request.force);
  write_saliency(trained.task, flat(trained.weights), request, png_file.path(), npz_file.path(),
                 on_progress);
  png_file.commit();
  npz_file.commit();
  return {{png, npz}, trained.from_training};
}

}  // namespace saccade
