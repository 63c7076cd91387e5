#include "env/retina.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/check.h"
#include "base/error.h"
#include "env/boxes.h"

namespace saccade {
namespace {

constexpr int kMaxCanvasSide = kMaxRowOfBoxes - 2 * kMaxBoxSide;

int modulo(int a, int n) { return (a % n + n) % n; }

// Boxes begin .. end - 1 of a glimpse's row or column overlap the canvas; all others are black.
struct Visible {
  int begin, end;
};

// `first` is the start of the first box, on a canvas that ends at `plane_end`.
Visible visible(int first, int zoom, int plane_end, int patch) {
  const auto steps = [zoom](int distance) { return (distance + zoom - 1) / zoom; };
  const int begin = std::clamp(steps(-first), 0, patch);
  return {begin, std::clamp(steps(plane_end - first), begin, patch)};
}

// Writes the visible boxes of a patch, times `scale`; `pixels` is the corner of the glimpse's first
// box.
template <class Pooling, class Zoom>
void read_patch(float* glimpse, int patch, const std::uint8_t* pixels, int stride, Visible rows,
                Visible cols, Zoom zoom, float scale) {
  for (int i = rows.begin; i < rows.end; ++i)
    read_boxes<Pooling>(glimpse + static_cast<std::ptrdiff_t>(i) * patch + cols.begin,
                        pixels + static_cast<std::ptrdiff_t>(i) * zoom * stride + cols.begin * zoom,
                        stride, cols.end - cols.begin, zoom, scale);
}

// Interpolation of a scale: (u, v) is the fraction of the way to the next column and row.
struct Between {
  float u, v;
  float scale, x_scale, y_scale;  // factors of a value and of its slopes
};

// The same, interpolated between four boxes, with slopes.
template <class Pooling, class Zoom>
void read_patch_between(float* __restrict glimpse, float* __restrict by_x, float* __restrict by_y,
                        int patch, const std::uint8_t* pixels, int stride, Visible rows,
                        Visible cols, Zoom zoom, const Between& at) {
  float up_left[kMaxRowOfBoxes], up_right[kMaxRowOfBoxes];
  float down_left[kMaxRowOfBoxes], down_right[kMaxRowOfBoxes];
  const int count = cols.end - cols.begin;
  for (int i = rows.begin; i < rows.end; ++i) {
    const std::uint8_t* from =
        pixels + static_cast<std::ptrdiff_t>(i) * zoom * stride + cols.begin * zoom;
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(i) * patch + cols.begin;
    read_boxes<Pooling>(up_left, from, stride, count, zoom, 1.0F);
    read_boxes<Pooling>(up_right, from + 1, stride, count, zoom, 1.0F);
    read_boxes<Pooling>(down_left, from + stride, stride, count, zoom, 1.0F);
    read_boxes<Pooling>(down_right, from + stride + 1, stride, count, zoom, 1.0F);
    for (int j = 0; j < count; ++j) {
      const float left = up_left[j], right = up_right[j];
      const float left_down = down_left[j] - left, right_down = down_right[j] - right;
      const float from_x = left + at.v * left_down, to_x = right + at.v * right_down;
      glimpse[first + j] = at.scale * (from_x + at.u * (to_x - from_x));
      by_x[first + j] = at.x_scale * (to_x - from_x);
      by_y[first + j] = at.y_scale * (left_down + at.u * (right_down - left_down));
    }
  }
}

// Rows of a patch are short: a copy of a fixed number of floats is one instruction, where one of
// any number would be a call. The last copy overlaps the one before.
void copy_floats(float* to, const float* from, int count) {
  constexpr int kAtOnce = 8;
  if (count < kAtOnce) {
    for (int i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  for (int i = 0; i + kAtOnce <= count; i += kAtOnce) std::copy_n(from + i, kAtOnce, to + i);
  std::copy_n(from + count - kAtOnce, kAtOnce, to + count - kAtOnce);
}

template <int value>
constexpr std::integral_constant<int, value> kConstant{};

// Calls read(pooling, zoom); common zooms are compile-time constants.
template <class Read>
void with_zoom(bool max, int zoom, const Read& read) {
  if (max) return read(Max(), zoom);
  switch (zoom) {
    case 1:
      return read(Mean(), kConstant<1>);
    case 2:
      return read(Mean(), kConstant<2>);
    case 4:
      return read(Mean(), kConstant<4>);
    case 8:
      return read(Mean(), kConstant<8>);
    default:
      return read(Mean(), zoom);
  }
}

}  // namespace

const std::vector<std::string>& retina_poolings() {
  static const std::vector<std::string> names = {"mean", "max"};
  return names;
}

bool pools_max(const RetinaConfig& config) { return config.pooling == "max"; }

Settings describe(RetinaConfig& config) {
  const Condition coarse = unless(&config.scales, 1);
  return {{"retina.patch_size", &config.patch_size, closed(1, 512),
           "Side of a glimpse at every scale, in pixels"},
          {"retina.scales", &config.scales, closed(1, 6), "Number of scales of a glimpse"},
          {"retina.scale_factor", &config.scale_factor, closed(1, 8),
           "Factor from the width of a scale to that of the next", coarse},
          {"retina.pooling", &config.pooling, retina_poolings(),
           "Value of a pixel of the coarse scales: the mean or the maximum of its box", coarse}};
}

Retina::Retina(const RetinaConfig& config, int canvas_rows, int canvas_cols, int channels,
               const LogRange& zoom)
    : config_(config), zoom_(zoom), rows_(canvas_rows), cols_(canvas_cols), channels_(channels) {
  const int patch = config.patch_size, scales = config.scales, factor = config.scale_factor;
  if (std::min(rows_, cols_) < 1 || std::max(rows_, cols_) > kMaxCanvasSide)
    throw SettingError({"scene.canvas"},
                       fmt::format("scene.canvas: {} x {} pixels; allowed: 1 to {} a side", rows_,
                                   cols_, kMaxCanvasSide));
  if (patch < 1 || patch > std::min(rows_, cols_))
    throw SettingError({"retina.patch_size"},
                       fmt::format("retina.patch_size: {} pixels on a canvas of {} x {}; allowed: "
                                   "1 to the shorter side ({})",
                                   patch, rows_, cols_, std::min(rows_, cols_)));
  if (std::ranges::find(retina_poolings(), config.pooling) == retina_poolings().end())
    throw SettingError({"retina.pooling"},
                       fmt::format("retina.pooling: '{}'; allowed: mean, max", config.pooling));
  if (scales < 1 || factor < 1)
    throw SettingError(
        {"retina.scales", "retina.scale_factor"},
        fmt::format("retina.scales: {} with retina.scale_factor: {}; allowed: 1 and more", scales,
                    factor));

  if (zooms()) check_zoom();
  int box = 1;
  for (int s = 0; s < scales; ++s, box *= factor) {
    const int finer_side = patch * box / factor;
    if (box > kMaxBoxSide || (s > 0 && finer_side >= 2 * std::max(rows_, cols_)))
      throw SettingError(
          {"retina.scales", "retina.scale_factor"},
          fmt::format(
              "retina.scales: scale {} would average {} x {} pixels and cover {} of a canvas of {} "
              "x "
              "{}; allowed: boxes of at most {} pixels a side, and no scale beyond one that covers "
              "twice the longer side (fewer retina.scales or a smaller retina.scale_factor)",
              s + 1, box, box, patch * box, rows_, cols_, kMaxBoxSide));
    zooms_.push_back(box);
  }
  margin_ = zooms_.back();
  plane_rows_ = rows_ + 2 * margin_;
  plane_cols_ = cols_ + 2 * margin_;
  prepared_size_ = static_cast<std::size_t>(channels_) * plane_rows_ * plane_cols_;
  if (zooms()) {
    // Sums of the areas up to each corner of a pixel, at aligned addresses in an array of scenes.
    constexpr std::size_t kAlignment = 16;
    const auto aligned = [](std::size_t n) {
      return (n + kAlignment - 1) / kAlignment * kAlignment;
    };
    areas_offset_ = aligned(prepared_size_);
    prepared_size_ = areas_offset_ + aligned(sizeof(std::int32_t) * channels_ * (rows_ + 1) *
                                             static_cast<std::size_t>(cols_ + 1));
  }
  glimpse_size_ = scales * channels_ * patch * patch;
}

// Prepares one plane of pixels per channel, with a black margin wide enough for every box that
// overlaps the canvas and for one more at the right and below.
void Retina::prepare(std::span<const std::uint8_t> canvas, std::span<std::byte> prepared) const {
  SACCADE_CHECK(canvas.size() == static_cast<std::size_t>(rows_) * cols_ * channels_);
  SACCADE_CHECK(prepared.size() == prepared_size_);
  auto* plane = reinterpret_cast<std::uint8_t*>(prepared.data());
  const std::uint8_t* pixels = canvas.data();
  for (int c = 0; c < channels_; ++c, plane += plane_size())
    for (int row = 0; row < rows_; ++row, pixels += cols_)
      std::copy_n(pixels, cols_, plane + (row + margin_) * plane_cols_ + margin_);
  if (zooms()) sum_areas(canvas, prepared);
}

void Retina::view(std::span<const std::byte> prepared, float* canvas) const {
  const auto* plane = reinterpret_cast<const std::uint8_t*>(prepared.data());
  for (int c = 0; c < channels_; ++c, plane += plane_size())
    for (int row = 0; row < rows_; ++row, canvas += cols_) {
      const std::uint8_t* from = plane + (row + margin_) * plane_cols_ + margin_;
      for (int col = 0; col < cols_; ++col)
        canvas[col] = static_cast<float>(from[col]) * (1.0F / 255.0F);
    }
}

// Returns the canvas row or column where a square around a location begins.
int Retina::first_edge(float location, int pixels, double side) {
  const double point = 0.5 * (static_cast<double>(location) + 1.0) * pixels;
  const double rounding = pixels * 0x1p-23;
  return static_cast<int>(std::floor(point - 0.5 * side + 0.5 + rounding));
}

float Retina::white(int zoom) const {
  return pools_max(config_) ? 255.0F : 255.0F * static_cast<float>(zoom * zoom);
}

void Retina::look(std::span<const std::byte> prepared, float x, float y, float* glimpse) const {
  const int patch = config_.patch_size;
  for (const int zoom : zooms_) {
    // Row and column of the glimpse's first box in the plane.
    const int first_row = first_edge(y, rows_, patch * zoom) + margin_;
    const int first_col = first_edge(x, cols_, patch * zoom) + margin_;
    const Visible rows = visible(first_row, zoom, rows_ + margin_, patch);
    const Visible cols = visible(first_col, zoom, cols_ + margin_, patch);
    const bool whole = rows.end - rows.begin == patch && cols.end - cols.begin == patch;
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(prepared.data()) +
                         static_cast<std::ptrdiff_t>(first_row) * plane_cols_ + first_col;
    for (int c = 0; c < channels_; ++c, glimpse += patch * patch, pixels += plane_size()) {
      if (!whole) std::fill_n(glimpse, patch * patch, 0.0F);
      with_zoom(pools_max(config_), zoom, [&]<class Pooling>(Pooling, auto by) {
        read_patch<Pooling>(glimpse, patch, pixels, plane_cols_, rows, cols, by,
                            1.0F / white(zoom));
      });
    }
  }
}

// Patches whose first rows and columns are the same modulo the zoom take their boxes from one
// lattice over the canvas.
void Retina::look_at_all(std::span<const std::byte> prepared, ConstMatrix places, Matrix glimpses,
                         Lattices& lattices) const {
  SACCADE_CHECK(glimpses.rows == places.rows && glimpses.cols == glimpse_size_);
  const int patch = config_.patch_size;
  if (std::int64_t{places.rows} * patch * patch < std::int64_t{rows_} * cols_) {
    for (int k = 0; k < places.rows; ++k)
      look(prepared, places(k, 0), places(k, 1), glimpses.row(k));
    return;
  }
  int offset = 0;
  for (const int zoom : zooms_) {
    const auto* plane = reinterpret_cast<const std::uint8_t*>(prepared.data());
    for (int c = 0; c < channels_; ++c, plane += plane_size()) {
      read_lattices(plane, places, zoom, glimpses.columns(offset, patch * patch), lattices);
      offset += patch * patch;
    }
  }
}

// For one scale of one channel: writes the patches (K, P P).
void Retina::read_lattices(const std::uint8_t* plane, ConstMatrix places, int zoom, Matrix patches,
                           Lattices& lattices) const {
  const int patch = config_.patch_size;
  const auto boxes_from = [zoom](int phase, int end) { return (end - phase + zoom - 1) / zoom; };
  const std::size_t largest =
      static_cast<std::size_t>(boxes_from(0, rows_ + margin_)) * boxes_from(0, cols_ + margin_);
  lattices.boxes.resize(std::max(lattices.boxes.size(), zoom * zoom * largest));
  lattices.filled.assign(zoom * zoom, false);
  for (int k = 0; k < places.rows; ++k) {
    const int first_row = first_edge(places(k, 1), rows_, patch * zoom) + margin_;
    const int first_col = first_edge(places(k, 0), cols_, patch * zoom) + margin_;
    const int row_phase = modulo(first_row, zoom), col_phase = modulo(first_col, zoom);
    const int lattice_rows = boxes_from(row_phase, rows_ + margin_);
    const int lattice_cols = boxes_from(col_phase, cols_ + margin_);
    const int phase = row_phase * zoom + col_phase;
    float* lattice = &lattices.boxes[phase * largest];
    if (!lattices.filled[phase])
      with_zoom(pools_max(config_), zoom, [&]<class Pooling>(Pooling, auto by) {
        read_patch<Pooling>(
            lattice, lattice_cols,
            plane + static_cast<std::ptrdiff_t>(row_phase) * plane_cols_ + col_phase, plane_cols_,
            {0, lattice_rows}, {0, lattice_cols}, by, 1.0F / white(zoom));
      });
    lattices.filled[phase] = true;
    const Visible rows = visible(first_row, zoom, rows_ + margin_, patch);
    const Visible cols = visible(first_col, zoom, cols_ + margin_, patch);
    float* __restrict to = patches.row(k);
    if (rows.end - rows.begin < patch || cols.end - cols.begin < patch)
      std::fill_n(to, patch * patch, 0.0F);
    const float* __restrict from = lattice + (first_col - col_phase) / zoom;
    for (int i = rows.begin; i < rows.end; ++i) {
      const float* row =
          from + static_cast<std::ptrdiff_t>((first_row - row_phase) / zoom + i) * lattice_cols;
      copy_floats(to + i * patch + cols.begin, row + cols.begin, cols.end - cols.begin);
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
  const int patch = config_.patch_size, size = patch * patch;
  float *by_x = slopes, *by_y = slopes + glimpse_size_;
  for (const int zoom : zooms_) {
    const Corner down = corner(y, rows_, zoom), right = corner(x, cols_, zoom);
    const float scale = 1.0F / white(zoom);
    const Between between{.u = right.fraction,
                          .v = down.fraction,
                          .scale = scale,  // a location unit is half a side, in pixels
                          .x_scale = 0.5F * static_cast<float>(cols_) * scale,
                          .y_scale = 0.5F * static_cast<float>(rows_) * scale};
    const int first_row = down.edge + margin_, first_col = right.edge + margin_;
    const Visible rows = visible(first_row, zoom, rows_ + margin_, patch);
    const Visible cols = visible(first_col, zoom, cols_ + margin_, patch);
    const bool whole = rows.end - rows.begin == patch && cols.end - cols.begin == patch;
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(prepared.data()) +
                         static_cast<std::ptrdiff_t>(first_row) * plane_cols_ + first_col;
    for (int c = 0; c < channels_; ++c, pixels += plane_size()) {
      if (!whole)
        for (float* numbers : {glimpse, by_x, by_y}) std::fill_n(numbers, size, 0.0F);
      with_zoom(pools_max(config_), zoom, [&]<class Pooling>(Pooling, auto by) {
        read_patch_between<Pooling>(glimpse, by_x, by_y, patch, pixels, plane_cols_, rows, cols, by,
                                    between);
      });
      for (float** numbers : {&glimpse, &by_x, &by_y}) *numbers += size;
    }
  }
}

}  // namespace saccade
