#include "experiments/evaluation/coverage.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace saccade {
namespace {

// Returns the first cell and the end, within the box, that a patch around a place covers.
std::pair<int, int> overlap(float place, float half_side, int canvas, int box, int side) {
  // Rounds as the retina does; half a patch is a multiple of 1/2, which the division by the canvas
  // size must not blur.
  const double point = 0.5F * (place + 1.0F) * static_cast<float>(canvas);
  const double half = std::round(0.5 * half_side * canvas * 4096.0) / 4096.0;
  const auto cell = [&](double edge) {  // windows may be anywhere, or NaN
    const double in_box = std::floor(edge + 0.5) - box;
    return static_cast<int>(std::min(std::max(0.0, in_box), static_cast<double>(side)));
  };
  return {cell(point - half), cell(point + half)};
}

}  // namespace

PatchSum::PatchSum(const Box& box, int canvas_rows, int canvas_cols)
    : box_(box),
      canvas_rows_(canvas_rows),
      canvas_cols_(canvas_cols),
      corners_((box.width + 1) * (box.height + 1), 0.0F) {}

void PatchSum::add(const Gaze& gaze) {
  const auto at = [&](int x, int y) -> float& { return corners_[y * (box_.width + 1) + x]; };
  for (int k = 0; k < gaze.places.rows; ++k) {
    const auto [left, right] =
        overlap(gaze.places(k, 0), gaze.half_width, canvas_cols_, box_.x, box_.width);
    const auto [top, bottom] =
        overlap(gaze.places(k, 1), gaze.half_height, canvas_rows_, box_.y, box_.height);
    if (left >= right || top >= bottom) continue;
    const float weight = gaze.weights[k] * gaze.exposure;
    at(left, top) += weight;
    at(right, top) -= weight;
    at(left, bottom) -= weight;
    at(right, bottom) += weight;
  }
}

std::vector<float> PatchSum::total() const {
  std::vector<float> sums(box_.width * box_.height);
  const auto at = [&](int x, int y) { return x < 0 || y < 0 ? 0.0F : sums[y * box_.width + x]; };
  for (int y = 0; y < box_.height; ++y)
    for (int x = 0; x < box_.width; ++x)
      sums[y * box_.width + x] =
          corners_[y * (box_.width + 1) + x] + at(x - 1, y) + at(x, y - 1) - at(x - 1, y - 1);
  return sums;
}

double coverage(const SceneFacts& facts, Look& look, int first, int count, int b,
                CanvasSize canvas) {
  if (facts.num_digits == 0) return 0.0;
  double seen = 0.0;
  for (int d = 0; d < facts.num_digits; ++d) {
    const Box& box = facts.boxes[d];
    std::vector<float> unseen(box.width * box.height, 1.0F);
    for (int t = first; t < first + count; ++t) {
      PatchSum patches(box, canvas.rows, canvas.cols);
      patches.add(look.gaze(t, b));
      const std::vector<float> weights = patches.total();
      for (std::size_t i = 0; i < unseen.size(); ++i)
        unseen[i] *= 1.0F - std::clamp(weights[i], 0.0F, 1.0F);
    }
    double sum = 0.0;
    for (const float share : unseen) sum += share;
    seen += 1.0 - sum / static_cast<double>(unseen.size());
  }
  return seen / facts.num_digits;
}

MapSize map_size(CanvasSize canvas) {
  if (canvas.pixels() == 0) return {1, 1};
  const int factor = (std::max(canvas.rows, canvas.cols) + kMaxMapSide - 1) / kMaxMapSide;
  return {(canvas.rows + factor - 1) / factor, (canvas.cols + factor - 1) / factor};
}

}  // namespace saccade
