// Looks with a zoom: boxes with real edges, from sums of areas.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/error.h"
#include "env/retina.h"

namespace saccade {
namespace {

constexpr int kMaxEdges = 2048 + 1;  // of the boxes of a patch, along an axis of a canvas

// The edges of boxes, on an axis of the canvas.
struct BoxEdges {
  std::array<int, kMaxEdges> pixel;           // that it is in; the nearest one beyond the canvas
  std::array<double, kMaxEdges> fraction;     // of that pixel which is before it
  std::array<double, kMaxEdges> inside;       // 1 on the canvas, 0 beyond: no slope there
  std::array<double, kMaxEdges> from_centre;  // distance from the glimpse's centre, in boxes
};

// The edges of `patch` boxes of a side of `box` pixels around a location, on an axis of `pixels`.
void find_edges(BoxEdges& edges, float location, int pixels, int patch, double box) {
  const double point = 0.5 * (static_cast<double>(location) + 1.0) * pixels;
  for (int k = 0; k <= patch; ++k) {
    const double from_centre = k - 0.5 * patch, at = point + from_centre * box;
    const int pixel = static_cast<int>(std::clamp(at, 0.0, pixels - 1.0));
    edges.pixel[k] = pixel;
    edges.fraction[k] = std::clamp(at - pixel, 0.0, 1.0);
    edges.inside[k] = at >= 0.0 && at < pixels ? 1.0 : 0.0;
    edges.from_centre[k] = from_centre;
  }
}

// The integral of the canvas, in [0, 255], above and to the left of the corners of a row of boxes,
// and its derivatives by x and y.
struct CornerRow {
  std::array<double, kMaxEdges> sum, by_x, by_y;
};

// For the row of corners on edge i of `down`.
template <bool sloped>
void integrate(CornerRow& row, const std::int32_t* areas, int stride, const BoxEdges& down, int i,
               const BoxEdges& right, int patch) {
  const std::int32_t* above = areas + static_cast<std::ptrdiff_t>(down.pixel[i]) * stride;
  const std::int32_t* below = above + stride;
  const double v = down.fraction[i];
  for (int k = 0; k <= patch; ++k) {
    const int pixel = right.pixel[k];
    const double u = right.fraction[k], step = below[pixel] - above[pixel];
    const double across = above[pixel + 1] - above[pixel];
    const double across_below = below[pixel + 1] - below[pixel];
    const double slope = across + v * (across_below - across);
    row.sum[k] = above[pixel] + v * step + u * slope;
    if constexpr (sloped) {
      row.by_x[k] = right.inside[k] * slope;
      row.by_y[k] = down.inside[i] * (step + u * (across_below - across));
    }
  }
}

// Factors of the slopes of one scale.
struct SlopeUnits {
  double x, y, u;  // pixels per unit of location; d log side / d u
};

// The boxes between two rows of corners: cells k of a row, and their slopes, `size` apart.
template <bool sloped>
void read_row(float* cells, float* slopes, std::ptrdiff_t size, const CornerRow& upper,
              const CornerRow& lower, const BoxEdges& down, int i, const BoxEdges& right, int patch,
              double box, const SlopeUnits& units) {
  const double scale = 1.0 / (255.0 * box * box);
  for (int k = 0; k < patch; ++k) {
    const double sum = (lower.sum[k + 1] - lower.sum[k]) - (upper.sum[k + 1] - upper.sum[k]);
    const double value = std::abs(scale * sum);  // a black box may be -1e-16
    cells[k] = static_cast<float>(value);
    if constexpr (sloped) {
      const double at_right = lower.by_x[k + 1] - upper.by_x[k + 1];
      const double at_left = lower.by_x[k] - upper.by_x[k];
      const double at_bottom = lower.by_y[k + 1] - lower.by_y[k];
      const double at_top = upper.by_y[k + 1] - upper.by_y[k];
      slopes[k] = static_cast<float>(scale * units.x * (at_right - at_left));
      slopes[size + k] = static_cast<float>(scale * units.y * (at_bottom - at_top));
      // By log side: the edges move apart, and the area grows.
      const double apart = at_right * right.from_centre[k + 1] - at_left * right.from_centre[k] +
                           at_bottom * down.from_centre[i + 1] - at_top * down.from_centre[i];
      slopes[2 * size + k] = static_cast<float>(units.u * (scale * box * apart - 2.0 * value));
    }
  }
}

template <bool sloped>
void read_zoomed(float* glimpse, float* slopes, std::ptrdiff_t size, const std::int32_t* areas,
                 int stride, const BoxEdges& down, const BoxEdges& right, int patch, double box,
                 const SlopeUnits& units) {
  CornerRow corners[2];
  integrate<sloped>(corners[0], areas, stride, down, 0, right, patch);
  for (int i = 0; i < patch; ++i) {
    const CornerRow& upper = corners[i % 2];
    CornerRow& lower = corners[(i + 1) % 2];
    integrate<sloped>(lower, areas, stride, down, i + 1, right, patch);
    read_row<sloped>(glimpse + i * patch, slopes + (sloped ? i * patch : 0), size, upper, lower,
                     down, i, right, patch, box, units);
  }
}

// Running sums of several rows do not wait for each other.
constexpr int kRowsAtOnce = 4;

// The areas of the `count` rows of corners below `above`, from as many rows of pixels.
template <int count>
void sum_rows(std::int32_t* __restrict above, const std::uint8_t* __restrict pixels, int cols) {
  std::int32_t sums[count] = {};
  for (int col = 0; col < cols; ++col) {
    std::int32_t area = above[col + 1];
    for (int row = 0; row < count; ++row) {
      sums[row] += pixels[row * cols + col];
      area += sums[row];
      above[(row + 1) * (cols + 1) + col + 1] = area;
    }
  }
}

}  // namespace

void Retina::check_zoom() const {
  const char* key = "attention.glimpse.zoom";
  if (!(zoom_.from >= 1.0) || zoom_.to < zoom_.from)
    throw SettingError({key}, fmt::format("{}: {} to {} pixels of the canvas in one of a glimpse; "
                                          "allowed: 1 and more, and no less at the end",
                                          key, zoom_.from, zoom_.to));
  const int patch = config_.patch_size, longer = std::max(rows_, cols_);
  if (patch * zoom_.to > longer)
    throw SettingError(
        {key, "retina.patch_size"},
        fmt::format("{}: a retina.patch_size of {} pixels would cover {} x {} of a canvas of {} x "
                    "{}; allowed: to at most {:.4g}, its longer side",
                    key, patch, patch * zoom_.to, patch * zoom_.to, rows_, cols_,
                    std::floor(1e3 * longer / patch) / 1e3));
  if (pools_max(config_))
    throw SettingError(
        {key, "retina.pooling"},
        fmt::format("{}: {} to {} averages areas, which retina.pooling: {} does not; "
                    "allowed: mean",
                    key, zoom_.from, zoom_.to, config_.pooling));
}

// areas (channels, rows + 1, cols + 1): the sum of the pixels above and to the left of each corner,
// at most 255 * 2048^2 < 2^31. The first row and column stay 0.
void Retina::sum_areas(std::span<const std::uint8_t> canvas, std::span<std::byte> prepared) const {
  auto* above = reinterpret_cast<std::int32_t*>(prepared.data() + areas_offset_);
  const std::uint8_t* pixels = canvas.data();
  const int stride = cols_ + 1;
  for (int c = 0; c < channels_; ++c, above += stride) {
    int row = 0;
    for (; row + kRowsAtOnce <= rows_; row += kRowsAtOnce) {
      sum_rows<kRowsAtOnce>(above, pixels, cols_);
      above += kRowsAtOnce * stride;
      pixels += kRowsAtOnce * cols_;
    }
    for (; row < rows_; ++row, above += stride, pixels += cols_) sum_rows<1>(above, pixels, cols_);
  }
}

void Retina::look_zoomed(std::span<const std::byte> prepared, const float* location, float* glimpse,
                         float* slopes) const {
  SACCADE_CHECK(zooms());
  const int patch = config_.patch_size, stride = cols_ + 1;
  const double zoom = zoom_.at(location[2]);
  const SlopeUnits units{.x = 0.5 * cols_, .y = 0.5 * rows_, .u = zoom_.log_slope()};
  BoxEdges down, right;
  for (const int factor : zooms_) {
    const double box = zoom * factor;
    find_edges(down, location[1], rows_, patch, box);
    find_edges(right, location[0], cols_, patch, box);
    const auto* areas = reinterpret_cast<const std::int32_t*>(prepared.data() + areas_offset_);
    for (int c = 0; c < channels_; ++c) {
      if (slopes == nullptr) {
        read_zoomed<false>(glimpse, nullptr, 0, areas, stride, down, right, patch, box, units);
      } else {
        read_zoomed<true>(glimpse, slopes, glimpse_size_, areas, stride, down, right, patch, box,
                          units);
        slopes += patch * patch;
      }
      glimpse += patch * patch;
      areas += static_cast<std::ptrdiff_t>(rows_ + 1) * stride;
    }
  }
}

}  // namespace saccade
