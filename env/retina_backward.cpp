// The backward passes of looks: from the gradient of a glimpse to that of the canvas.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/error.h"
#include "env/retina.h"

namespace saccade {
namespace {

// Calls add(cell, pixel, share of the pixel in the cell) for each overlap on one axis.
template <class Add>
void each_overlap(float location, int pixels, int patch, double box, const Add& add) {
  const double point = 0.5 * (static_cast<double>(location) + 1.0) * pixels;
  for (int k = 0; k < patch; ++k) {
    const double from = point + (k - 0.5 * patch) * box, to = from + box;
    const int first = static_cast<int>(std::floor(std::clamp(from, 0.0, 1.0 * pixels)));
    for (int pixel = first; pixel < std::min(to, 1.0 * pixels); ++pixel)
      add(k, pixel, std::max(0.0, std::min(to, pixel + 1.0) - std::max(from, 1.0 * pixel)) / box);
  }
}

}  // namespace

// For one scale whose first box begins at this row and column of the canvas: adds to each pixel
// `weight` times the gradient of its box.
void Retina::add_boxes(std::span<float> dcanvas, int first_row, int first_col, int zoom,
                       float weight, const float* dboxes) const {
  const int patch = config_.patch_size;
  for (int c = 0; c < channels_; ++c, dboxes += patch * patch)
    for (int row = std::max(first_row, 0); row < std::min(first_row + patch * zoom, rows_); ++row)
      for (int col = std::max(first_col, 0); col < std::min(first_col + patch * zoom, cols_); ++col)
        dcanvas[(c * rows_ + row) * cols_ + col] +=
            weight * dboxes[(row - first_row) / zoom * patch + (col - first_col) / zoom];
}

// Calls add(zoom, share of a pixel in its box, gradient of the boxes) for each scale.
template <class Add>
void Retina::each_scale_backward(std::span<float> dcanvas, std::span<const float> dglimpse,
                                 const Add& add) const {
  SACCADE_CHECK(dcanvas.size() == static_cast<std::size_t>(rows_) * cols_ * channels_);
  SACCADE_CHECK(dglimpse.size() == static_cast<std::size_t>(glimpse_size_));
  if (pools_max(config_))
    throw SettingError(
        {"retina.pooling"},
        fmt::format("retina.pooling: {} has no gradient by the canvas; allowed for it: mean",
                    config_.pooling));
  const float* dboxes = dglimpse.data();
  for (const int zoom : zooms_) {
    add(zoom, 1.0F / static_cast<float>(zoom * zoom), dboxes);
    dboxes += channels_ * config_.patch_size * config_.patch_size;
  }
}

void Retina::look_backward(std::span<float> dcanvas, float x, float y,
                           std::span<const float> dglimpse) const {
  each_scale_backward(dcanvas, dglimpse, [&](int zoom, float share, const float* dboxes) {
    const int side = config_.patch_size * zoom;
    add_boxes(dcanvas, first_edge(y, rows_, side), first_edge(x, cols_, side), zoom, share, dboxes);
  });
}

void Retina::look_smoothly_backward(std::span<float> dcanvas, float x, float y,
                                    std::span<const float> dglimpse) const {
  each_scale_backward(dcanvas, dglimpse, [&](int zoom, float share, const float* dboxes) {
    const Corner row = corner(y, rows_, zoom), col = corner(x, cols_, zoom);
    for (const int down : {0, 1})
      for (const int right : {0, 1})
        add_boxes(dcanvas, row.edge + down, col.edge + right, zoom,
                  share * (down == 1 ? row.fraction : 1.0F - row.fraction) *
                      (right == 1 ? col.fraction : 1.0F - col.fraction),
                  dboxes);
  });
}

void Retina::look_zoomed_backward(std::span<float> dcanvas, const float* location,
                                  std::span<const float> dglimpse) const {
  SACCADE_CHECK(zooms());
  const int patch = config_.patch_size;
  const double zoom = zoom_.at(location[2]);
  each_scale_backward(dcanvas, dglimpse, [&](int factor, float, const float* dboxes) {
    const double box = zoom * factor;
    each_overlap(location[1], rows_, patch, box, [&](int i, int row, double height) {
      each_overlap(location[0], cols_, patch, box, [&](int k, int col, double width) {
        for (int c = 0; c < channels_; ++c)
          dcanvas[(c * rows_ + row) * cols_ + col] +=
              static_cast<float>(height * width) * dboxes[(c * patch + i) * patch + k];
      });
    });
  });
}

}  // namespace saccade
