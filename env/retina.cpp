#include "env/retina.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>

#include "nn/check.h"
#include "nn/error.h"

namespace saccade {
namespace {

// A box sum of up to 16 x 16 bytes fits 16 bits: 256 * 255 < 2^16.
using Sum = std::uint16_t;
constexpr int kMaxZoom = 16;
constexpr int kMaxCanvasSide = 2048;

// One plane (rows, cols) of box sums of a coarse scale from that of the finer one: a coarse box is
// made of factor x factor fine ones. Rows and columns begin .. end - 1 are written. The usual
// factor is compiled apart. `join` is a sum or the larger of two.
template <class Factor, class Join>
void pool_boxes(Sum* __restrict coarse, const Sum* __restrict fine, int stride, int first,
                int last_row, int last_col, int fine_zoom, Factor factor, Join join) {
  for (int row = first; row <= last_row; ++row) {
    Sum* __restrict to = coarse + static_cast<std::ptrdiff_t>(row) * stride;
    const Sum* __restrict from = fine + static_cast<std::ptrdiff_t>(row) * stride;
    for (int col = first; col <= last_col; ++col) {
      int pool = 0;
      for (int i = 0; i < factor; ++i)
        for (int j = 0; j < factor; ++j)
          pool = join(pool, from[(i * stride + j) * fine_zoom + col]);
      to[col] = static_cast<Sum>(pool);
    }
  }
}

// The boxes begin .. end - 1 of a glimpse's row or column are in the plane; all others are black.
struct Visible {
  int begin, end;
};

Visible visible(int first, int zoom, int plane_side, int patch) {
  const auto steps = [zoom](int distance) { return (distance + zoom - 1) / zoom; };
  const int begin = std::clamp(steps(-first), 0, patch);
  return {begin, std::clamp(steps(plane_side - first), begin, patch)};
}

// Copies every zoom-th box of a plane, in units of `white`; `boxes` is the glimpse's first.
template <class Zoom>
void read_patch(float* __restrict glimpse, int patch, const Sum* __restrict boxes, int stride,
                Visible rows, Visible cols, Zoom zoom, float white) {
  const float scale = 1.0F / white;
  for (int i = rows.begin; i < rows.end; ++i) {
    const Sum* from = boxes + static_cast<std::ptrdiff_t>(i) * zoom * stride;
    float* to = glimpse + static_cast<std::ptrdiff_t>(i) * patch;
    for (int j = cols.begin; j < cols.end; ++j) to[j] = static_cast<float>(from[j * zoom]) * scale;
  }
}

// The same between four boxes, (u, v) of the way to the next column and row, with slopes.
template <class Zoom>
void read_patch_between(float* __restrict glimpse, float* __restrict by_x, float* __restrict by_y,
                        int patch, const Sum* __restrict boxes, int stride, Visible rows,
                        Visible cols, Zoom zoom, float u, float v, float scale, float x_scale,
                        float y_scale) {
  for (int i = rows.begin; i < rows.end; ++i) {
    const Sum* __restrict upper = boxes + static_cast<std::ptrdiff_t>(i) * zoom * stride;
    const Sum* __restrict lower = upper + stride;
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(i) * patch;
    for (int j = cols.begin; j < cols.end; ++j) {
      const int at = j * zoom;
      const auto left = static_cast<float>(upper[at]), right = static_cast<float>(upper[at + 1]);
      const float left_down = static_cast<float>(lower[at]) - left;
      const float right_down = static_cast<float>(lower[at + 1]) - right;
      const float from = left + v * left_down, to = right + v * right_down;
      glimpse[row + j] = scale * (from + u * (to - from));
      by_x[row + j] = x_scale * (to - from);
      by_y[row + j] = y_scale * (left_down + u * (right_down - left_down));
    }
  }
}

template <int value>
constexpr std::integral_constant<int, value> kConstant{};

// The usual strides are compiled apart.
template <class Read>
void with_stride(int zoom, Read&& read) {
  switch (zoom) {
    case 1:
      return read(kConstant<1>);
    case 2:
      return read(kConstant<2>);
    case 4:
      return read(kConstant<4>);
    default:
      return read(zoom);
  }
}

}  // namespace

const std::vector<std::string>& retina_poolings() {
  static const std::vector<std::string> names = {"mean", "max"};
  return names;
}

Retina::Retina(const RetinaConfig& config, int canvas_rows, int canvas_cols, int channels)
    : config_(config), rows_(canvas_rows), cols_(canvas_cols), channels_(channels) {
  const int patch = config.patch_size, scales = config.scales, factor = config.scale_factor;
  if (std::min(rows_, cols_) < 1 || std::max(rows_, cols_) > kMaxCanvasSide)
    throw InputError(fmt::format("scene.canvas: {} x {} pixels; allowed: 1 to {} a side", rows_,
                                 cols_, kMaxCanvasSide));
  if (patch < 1 || patch > std::min(rows_, cols_))
    throw InputError(fmt::format(
        "retina.patch_size: {} pixels on a canvas of {} x {}; allowed: 1 to the shorter side ({})",
        patch, rows_, cols_, std::min(rows_, cols_)));
  if (std::ranges::find(retina_poolings(), config.pooling) == retina_poolings().end())
    throw InputError(fmt::format("retina.pooling: '{}'; allowed: mean, max", config.pooling));
  if (scales < 1 || factor < 1)
    throw InputError(fmt::format(
        "retina.scales: {} with retina.scale_factor: {}; allowed: 1 and more", scales, factor));

  int zoom = 1;
  for (int s = 0; s < scales; ++s, zoom *= factor) {
    const int finer_side = patch * zoom / factor;
    if (zoom > kMaxZoom || (s > 0 && finer_side >= 2 * std::max(rows_, cols_)))
      throw InputError(fmt::format(
          "retina.scales: scale {} would average {} x {} pixels and cover {} of a canvas of {} x "
          "{}; allowed: boxes of at most {} pixels a side, and no scale beyond one that covers "
          "twice the longer side (fewer retina.scales or a smaller retina.scale_factor)",
          s + 1, zoom, zoom, patch * zoom, rows_, cols_, kMaxZoom));
    zooms_.push_back(zoom);
  }
  margin_ = zooms_.back();
  plane_rows_ = rows_ + 2 * margin_;
  plane_cols_ = cols_ + 2 * margin_;
  prepared_size_ = sizeof(Sum) * scales * channels_ * plane_rows_ * plane_cols_;
  glimpse_size_ = scales * channels_ * patch * patch;
}

// Each scale and channel has a plane of box sums: the box with its corner at canvas pixel (y, x)
// stands at row y + margin, column x + margin. The margin has room for all boxes that meet the
// canvas and for one more at each side; those that do not meet it are zero from the beginning.
void Retina::prepare(std::span<const std::uint8_t> canvas, std::span<std::byte> prepared) const {
  SACCADE_CHECK(canvas.size() == static_cast<std::size_t>(rows_) * cols_ * channels_);
  SACCADE_CHECK(prepared.size() == prepared_size_);
  Sum* plane = reinterpret_cast<Sum*>(prepared.data());
  const std::ptrdiff_t plane_size = static_cast<std::ptrdiff_t>(plane_rows_) * plane_cols_;
  const std::uint8_t* pixels = canvas.data();
  for (int c = 0; c < channels_; ++c, plane += plane_size)
    for (int row = 0; row < rows_; ++row, pixels += cols_)
      std::copy_n(pixels, cols_, plane + (row + margin_) * plane_cols_ + margin_);

  for (std::size_t s = 1; s < zooms_.size(); ++s) {
    const int first = margin_ - zooms_[s] + 1;
    for (int c = 0; c < channels_; ++c, plane += plane_size) {
      const auto pool = [&](auto factor, auto join) {
        pool_boxes(plane, plane - channels_ * plane_size, plane_cols_, first, margin_ + rows_ - 1,
                   margin_ + cols_ - 1, zooms_[s - 1], factor, join);
      };
      const auto pool_by = [&](auto join) {
        config_.scale_factor == 2 ? pool(kConstant<2>, join) : pool(config_.scale_factor, join);
      };
      if (config_.pooling == "max")
        pool_by([](int a, int b) { return std::max(a, b); });
      else
        pool_by(std::plus<int>());
    }
  }
}

void Retina::view(std::span<const std::byte> prepared, float* canvas) const {
  const Sum* plane = reinterpret_cast<const Sum*>(prepared.data());  // the finest scale's
  for (int c = 0; c < channels_;
       ++c, plane += static_cast<std::ptrdiff_t>(plane_rows_) * plane_cols_)
    for (int row = 0; row < rows_; ++row, canvas += cols_) {
      const Sum* from = plane + static_cast<std::ptrdiff_t>(row + margin_) * plane_cols_ + margin_;
      for (int col = 0; col < cols_; ++col)
        canvas[col] = static_cast<float>(from[col]) * (1.0F / 255.0F);
    }
}

// The canvas row or column where a square around a location begins.
int Retina::first_edge(float location, int pixels, double side) {
  const double point = 0.5 * (static_cast<double>(location) + 1.0) * pixels;
  const double rounding = pixels * 0x1p-23;
  return static_cast<int>(std::floor(point - 0.5 * side + 0.5 + rounding));
}

void Retina::look(std::span<const std::byte> prepared, float x, float y, float* glimpse) const {
  const Sum* plane = reinterpret_cast<const Sum*>(prepared.data());
  const int patch = config_.patch_size;
  for (const int zoom : zooms_) {
    const float white =
        config_.pooling == "max" ? 255.0F : 255.0F * static_cast<float>(zoom * zoom);
    // Row and column, in the plane, of the glimpse's first box.
    const int first_row = first_edge(y, rows_, patch * zoom) + margin_;
    const int first_col = first_edge(x, cols_, patch * zoom) + margin_;
    const Visible rows = visible(first_row, zoom, plane_rows_, patch);
    const Visible cols = visible(first_col, zoom, plane_cols_, patch);
    const bool whole = rows.end - rows.begin == patch && cols.end - cols.begin == patch;
    for (int c = 0; c < channels_; ++c) {
      if (!whole) std::fill_n(glimpse, patch * patch, 0.0F);
      const Sum* boxes = plane + static_cast<std::ptrdiff_t>(first_row) * plane_cols_ + first_col;
      with_stride(zoom, [&](auto stride) {
        read_patch(glimpse, patch, boxes, plane_cols_, rows, cols, stride, white);
      });
      plane += static_cast<std::ptrdiff_t>(plane_rows_) * plane_cols_;
      glimpse += patch * patch;
    }
  }
}

Retina::Corner Retina::corner(float location, int side, int zoom) const {
  const float point = 0.5F * (location + 1.0F) * static_cast<float>(side);
  const float edge = point - 0.5F * static_cast<float>(config_.patch_size * zoom);
  const float whole = std::floor(edge);
  return {static_cast<int>(whole), edge - whole};
}

void Retina::look_smoothly(std::span<const std::byte> prepared, float x, float y, float* glimpse,
                           float* slopes) const {
  const Sum* plane = reinterpret_cast<const Sum*>(prepared.data());
  const int patch = config_.patch_size, size = patch * patch;
  const bool max = config_.pooling == "max";
  float *by_x = slopes, *by_y = slopes + glimpse_size_;
  for (const int zoom : zooms_) {
    const float scale = 1.0F / (max ? 255.0F : 255.0F * static_cast<float>(zoom * zoom));
    // A location unit is half a side of pixels.
    const float x_scale = 0.5F * static_cast<float>(cols_) * scale;
    const float y_scale = 0.5F * static_cast<float>(rows_) * scale;
    const Corner down = corner(y, rows_, zoom), right = corner(x, cols_, zoom);
    const int first_row = down.edge + margin_, first_col = right.edge + margin_;
    // The last row and column of a plane are black: what lies between them and the outside is, too.
    const Visible rows = visible(first_row, zoom, plane_rows_ - 1, patch);
    const Visible cols = visible(first_col, zoom, plane_cols_ - 1, patch);
    const bool whole = rows.end - rows.begin == patch && cols.end - cols.begin == patch;
    for (int c = 0; c < channels_; ++c, glimpse += size, by_x += size, by_y += size) {
      if (!whole)
        for (float* numbers : {glimpse, by_x, by_y}) std::fill_n(numbers, size, 0.0F);
      const Sum* boxes = plane + static_cast<std::ptrdiff_t>(first_row) * plane_cols_ + first_col;
      with_stride(zoom, [&](auto stride) {
        read_patch_between(glimpse, by_x, by_y, patch, boxes, plane_cols_, rows, cols, stride,
                           right.fraction, down.fraction, scale, x_scale, y_scale);
      });
      plane += static_cast<std::ptrdiff_t>(plane_rows_) * plane_cols_;
    }
  }
}

// Of one scale, whose first box has its corner at this row and column of the canvas: each pixel
// gets `weight` times the gradient of its box.
void Retina::add_boxes(std::span<float> dcanvas, int first_row, int first_col, int zoom,
                       float weight, const float* dboxes) const {
  const int patch = config_.patch_size;
  for (int c = 0; c < channels_; ++c, dboxes += patch * patch)
    for (int row = std::max(first_row, 0); row < std::min(first_row + patch * zoom, rows_); ++row)
      for (int col = std::max(first_col, 0); col < std::min(first_col + patch * zoom, cols_); ++col)
        dcanvas[(c * rows_ + row) * cols_ + col] +=
            weight * dboxes[(row - first_row) / zoom * patch + (col - first_col) / zoom];
}

// Calls add(zoom, the share of a pixel in its box, the gradient of the boxes) for each scale.
template <class Add>
void Retina::each_scale_backward(std::span<float> dcanvas, std::span<const float> dglimpse,
                                 const Add& add) const {
  SACCADE_CHECK(dcanvas.size() == static_cast<std::size_t>(rows_) * cols_ * channels_);
  SACCADE_CHECK(dglimpse.size() == static_cast<std::size_t>(glimpse_size_));
  if (config_.pooling != "mean")
    throw InputError(fmt::format(
        "retina.pooling: {} has no gradient by the canvas; allowed for it: mean", config_.pooling));
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

}  // namespace saccade
