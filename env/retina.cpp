#include "env/retina.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "nn/check.h"
#include "nn/error.h"

namespace saccade {
namespace {

// A box sum of up to 16 x 16 bytes fits 16 bits: 256 * 255 < 2^16.
using Sum = std::uint16_t;
constexpr int kMaxZoom = 16;
constexpr int kMaxCanvasSide = 2048;

}  // namespace

Retina::Retina(const RetinaConfig& config, int canvas_rows, int canvas_cols, int channels)
    : config_(config), rows_(canvas_rows), cols_(canvas_cols), channels_(channels) {
  const auto [patch, scales, factor] = config;
  if (std::min(rows_, cols_) < 1 || std::max(rows_, cols_) > kMaxCanvasSide)
    throw InputError(fmt::format("scene.canvas: {} x {} pixels; allowed: 1 to {} a side", rows_,
                                 cols_, kMaxCanvasSide));
  if (patch < 1 || patch > std::min(rows_, cols_))
    throw InputError(fmt::format(
        "retina.patch_size: {} pixels on a canvas of {} x {}; allowed: 1 to the shorter side ({})",
        patch, rows_, cols_, std::min(rows_, cols_)));
  if (scales < 1 || factor < 1)
    throw InputError(fmt::format(
        "retina.scales: {} with retina.scale_factor: {}; allowed: 1 and more", scales, factor));

  std::size_t numbers = 0;
  int zoom = 1;
  for (int s = 0; s < scales; ++s, zoom *= factor) {
    const int finer_side = patch * zoom / factor;
    if (zoom > kMaxZoom || (s > 0 && finer_side >= 2 * std::max(rows_, cols_)))
      throw InputError(fmt::format(
          "retina.scales: scale {} would average {} x {} pixels and cover {} of a canvas of {} x "
          "{}; allowed: boxes of at most {} pixels a side, and no scale beyond one that covers "
          "twice the longer side (fewer retina.scales or a smaller retina.scale_factor)",
          s + 1, zoom, zoom, patch * zoom, rows_, cols_, kMaxZoom));
    const Scale scale{zoom, rows_ + zoom - 1, cols_ + zoom - 1, numbers};
    scales_.push_back(scale);
    numbers += static_cast<std::size_t>(scale.rows) * scale.cols * channels_;
  }
  prepared_size_ = numbers * sizeof(Sum);
  glimpse_size_ = scales * channels_ * patch * patch;
}

// The box of scale s with its corner at canvas pixel (y, x) stands at row y + zoom - 1, column
// x + zoom - 1 of the scale's sums: all boxes that meet the canvas, and no others. A box is made of
// factor x factor boxes of the finer scale, first summed down the rows, then along them.
void Retina::prepare(std::span<const std::uint8_t> canvas, std::span<std::byte> prepared) const {
  SACCADE_CHECK(canvas.size() == static_cast<std::size_t>(rows_) * cols_ * channels_);
  SACCADE_CHECK(prepared.size() == prepared_size_);
  Sum* sums = reinterpret_cast<Sum*>(prepared.data());
  std::copy(canvas.begin(), canvas.end(), sums);

  std::array<Sum, kMaxCanvasSide + kMaxZoom> column_sums;
  for (std::size_t s = 1; s < scales_.size(); ++s) {
    const Scale& fine = scales_[s - 1];
    const Scale& coarse = scales_[s];
    for (int c = 0; c < channels_; ++c) {
      const Sum* source = sums + fine.offset + static_cast<std::size_t>(c) * fine.rows * fine.cols;
      Sum* target = sums + coarse.offset + static_cast<std::size_t>(c) * coarse.rows * coarse.cols;
      for (int row = 0; row < coarse.rows; ++row, target += coarse.cols) {
        std::fill_n(column_sums.begin(), fine.cols, Sum{0});
        for (int k = 0; k < config_.scale_factor; ++k) {
          const int fine_row = row - k * fine.zoom;
          if (fine_row < 0 || fine_row >= fine.rows) continue;
          const Sum* from = source + static_cast<std::size_t>(fine_row) * fine.cols;
          for (int j = 0; j < fine.cols; ++j) column_sums[j] = Sum(column_sums[j] + from[j]);
        }
        std::fill_n(target, coarse.cols, Sum{0});
        for (int k = 0; k < config_.scale_factor; ++k) {
          Sum* to = target + k * fine.zoom;
          for (int j = 0; j < fine.cols; ++j) to[j] = Sum(to[j] + column_sums[j]);
        }
      }
    }
  }
}

void Retina::look(std::span<const std::byte> prepared, float x, float y, float* glimpse) const {
  const Sum* sums = reinterpret_cast<const Sum*>(prepared.data());
  const int patch = config_.patch_size;
  const float point_x = 0.5F * (x + 1.0F) * static_cast<float>(cols_);
  const float point_y = 0.5F * (y + 1.0F) * static_cast<float>(rows_);
  for (const Scale& scale : scales_) {
    const int zoom = scale.zoom;
    const float half = 0.5F * static_cast<float>(patch * zoom);
    // Row and column, among the scale's sums, of the glimpse's first box.
    const int first_row = static_cast<int>(std::floor(point_y - half + 0.5F)) + zoom - 1;
    const int first_col = static_cast<int>(std::floor(point_x - half + 0.5F)) + zoom - 1;
    // The boxes [begin, end) of a glimpse row meet the canvas; the others are black.
    const auto steps_up_to = [zoom](int distance) { return (distance + zoom - 1) / zoom; };
    const int begin = std::clamp(steps_up_to(-first_col), 0, patch);
    const int end = std::clamp(steps_up_to(scale.cols - first_col), begin, patch);
    const float to_average = 1.0F / (255.0F * static_cast<float>(zoom * zoom));
    for (int c = 0; c < channels_; ++c) {
      const Sum* plane = sums + scale.offset + static_cast<std::size_t>(c) * scale.rows * scale.cols;
      for (int i = 0; i < patch; ++i, glimpse += patch) {
        const int row = first_row + i * zoom;
        if (row < 0 || row >= scale.rows) {
          std::fill_n(glimpse, patch, 0.0F);
          continue;
        }
        const Sum* from = plane + static_cast<std::ptrdiff_t>(row) * scale.cols + first_col;
        std::fill(glimpse, glimpse + begin, 0.0F);
        for (int j = begin; j < end; ++j)
          glimpse[j] = static_cast<float>(from[j * zoom]) * to_average;
        std::fill(glimpse + end, glimpse + patch, 0.0F);
      }
    }
  }
}

}  // namespace saccade
