#include "attention/gaussian_filters.h"

#include <algorithm>
#include <cmath>

#include "nn/gemm.h"
#include "nn/layers.h"
#include "nn/rows.h"

namespace saccade {
namespace {

enum WindowColumn { kCentreX, kCentreY, kLogVariance, kLogDelta, kLogGamma };

constexpr float kLargestLog = 30.0F;

float bounded_exp(float x) { return std::exp(std::clamp(x, -kLargestLog, kLargestLog)); }
float is_bounded(float x) { return std::abs(x) <= kLargestLog ? 1.0F : 0.0F; }

// Returns the pixel nearest to a filter's centre, as a float, because a centre may be far outside
// or NaN.
float nearest_pixel(float centre, int size) {
  return std::clamp(std::nearbyint(centre), 0.0F, static_cast<float>(size - 1));
}

// For pixel a, with d = a - nearest,
//   u = ((a - mu)^2 - (nearest - mu)^2) / (2 sigma^2) = d (d + 2 (nearest - mu)) / (2 sigma^2),
// which is never negative, and exact where the difference of squares would cancel.
float exponent(float d, float twice_offset, float half_inverse_variance) {
  return d * (d + twice_offset) * half_inverse_variance;
}

}  // namespace

FilterMemory GaussianFilters::make_memory(int steps, int episodes) const {
  const auto [rows, cols, channels, n] = sizes_;
  return {.filters_x = zeros<3>(steps, episodes, n * cols),
          .filters_y = zeros<3>(steps, episodes, n * rows),
          .bands = zeros<3>(steps, episodes, channels * n * cols),
          .dfilters_x = zeros<2>(n, cols),
          .dfilters_y = zeros<2>(n, rows),
          .dbands = zeros<2>(channels * n, cols),
          .places = zeros<2>(2, std::max(rows, cols))};
}

void GaussianFilters::forward(Matrix glimpses, FilterMemory& memory, int t, ConstMatrix canvases,
                              ConstMatrix windows) const {
  const auto [rows, cols, channels, n] = sizes_;
  SACCADE_CHECK(glimpses.cols == glimpse_size() && canvases.cols == channels * rows * cols &&
                windows.cols == kWindow && windows.rows == glimpses.rows);
  for (int b = 0; b < glimpses.rows; ++b) {
    const float* window = windows.row(b);
    const Matrix f_x{step(memory.filters_x, t).row(b), n, cols, cols};
    const Matrix f_y{step(memory.filters_y, t).row(b), n, rows, rows};
    const Matrix bands{step(memory.bands, t).row(b), channels * n, cols, cols};
    filters_forward(f_x, axis(window, kCentreX));
    filters_forward(f_y, axis(window, kCentreY));
    const ConstMatrix canvas{canvases.row(b), channels * rows, cols, cols};
    for (int c = 0; c < channels; ++c)
      multiply(bands.row_range(c * n, n), f_y, canvas.row_range(c * rows, rows));
    multiply_transposed_b({glimpses.row(b), channels * n, n, n}, bands, f_x);
    const float gamma = bounded_exp(window[kLogGamma]);
    for (int i = 0; i < glimpses.cols; ++i) glimpses(b, i) *= gamma;
  }
}

void GaussianFilters::backward(Matrix dwindows, FilterMemory& memory, int t, ConstMatrix dglimpses,
                               ConstMatrix canvases, ConstMatrix windows) const {
  const auto [rows, cols, channels, n] = sizes_;
  const Matrix df_x = matrix(memory.dfilters_x), df_y = matrix(memory.dfilters_y);
  const Matrix dbands = matrix(memory.dbands), places = matrix(memory.places);
  for (int b = 0; b < dglimpses.rows; ++b) {
    const float* window = windows.row(b);
    const ConstMatrix f_x{step(memory.filters_x, t).row(b), n, cols, cols};
    const ConstMatrix f_y{step(memory.filters_y, t).row(b), n, rows, rows};
    const ConstMatrix bands{step(memory.bands, t).row(b), channels * n, cols, cols};
    const ConstMatrix canvas{canvases.row(b), channels * rows, cols, cols};
    const ConstMatrix dglimpse{dglimpses.row(b), channels * n, n, n};
    multiply_transposed_a(df_x, dglimpse, bands);
    multiply(dbands, dglimpse, f_x);
    for (int c = 0; c < channels; ++c)
      multiply_transposed_b(df_y, dbands.row_range(c * n, n), canvas.row_range(c * rows, rows),
                            c == 0 ? 0.0F : 1.0F);

    // These gradients are still to be multiplied by gamma.
    const float gamma = bounded_exp(window[kLogGamma]);
    const float product = dot(df_x.data, f_x.data, n * cols);
    const AxisGradient x = filters_backward(df_x, f_x, axis(window, kCentreX), places);
    const AxisGradient y = filters_backward(df_y, f_y, axis(window, kCentreY), places);
    float* dwindow = dwindows.row(b);
    dwindow[kCentreX] += gamma * x.centre * 0.5F * static_cast<float>(cols + 1);
    dwindow[kCentreY] += gamma * y.centre * 0.5F * static_cast<float>(rows + 1);
    dwindow[kLogVariance] +=
        gamma * (x.log_variance + y.log_variance) * is_bounded(window[kLogVariance]);
    dwindow[kLogDelta] += gamma * (x.log_delta + y.log_delta) * is_bounded(window[kLogDelta]);
    dwindow[kLogGamma] += gamma * product * is_bounded(window[kLogGamma]);
  }
}

// dX = gamma F_Y' dglimpse F_X
void GaussianFilters::canvas_backward(Matrix dcanvases, FilterMemory& memory, int t,
                                      ConstMatrix dglimpses, ConstMatrix windows) const {
  const auto [rows, cols, channels, n] = sizes_;
  const Matrix dbands = matrix(memory.dbands);
  for (int b = 0; b < dglimpses.rows; ++b) {
    const ConstMatrix f_x{step(memory.filters_x, t).row(b), n, cols, cols};
    const ConstMatrix f_y{step(memory.filters_y, t).row(b), n, rows, rows};
    multiply(dbands, {dglimpses.row(b), channels * n, n, n}, f_x);
    const float gamma = bounded_exp(windows(b, kLogGamma));
    for (int i = 0; i < channels * n; ++i)
      for (int a = 0; a < cols; ++a) dbands(i, a) *= gamma;
    const Matrix dcanvas{dcanvases.row(b), channels * rows, cols, cols};
    for (int c = 0; c < channels; ++c)
      multiply_transposed_a(dcanvas.row_range(c * rows, rows), f_y, dbands.row_range(c * n, n),
                            1.0F);
  }
}

float GaussianFilters::initial_log_variance() const {
  return 2.0F * std::log(0.5F * std::max(stride(), 1.0F));
}

Work GaussianFilters::work(int steps) const {
  const auto [rows, cols, channels, n] = sizes_;
  const std::int64_t bands = std::int64_t{n} * rows * cols, glimpse = std::int64_t{n} * n * cols;
  return Work{bands + glimpse, bands + 2 * glimpse} * (std::int64_t{channels} * steps);
}

GaussianFilters::Axis GaussianFilters::axis(const float* window, int which) const {
  const int size = which == kCentreX ? sizes_.cols : sizes_.rows;
  return {.centre = 0.5F * static_cast<float>(size + 1) * (window[which] + 1.0F) - 1.0F,
          .delta = stride() * bounded_exp(window[kLogDelta]),
          .inverse_variance = bounded_exp(-window[kLogVariance])};
}

GaussianFilters::Extent GaussianFilters::extent(const float* window) const {
  const Axis x = axis(window, kCentreX), y = axis(window, kCentreY);
  const auto location = [](float centre, int size) {
    return 2.0F * (centre + 0.5F) / static_cast<float>(size) - 1.0F;
  };
  const float side = x.delta * static_cast<float>(sizes_.glimpse);
  return {location(x.centre, sizes_.cols), location(y.centre, sizes_.rows),
          side / static_cast<float>(sizes_.cols), side / static_cast<float>(sizes_.rows)};
}

std::array<float, 2> GaussianFilters::location_per_centre() const {
  const auto scale = [](int size) {
    return static_cast<float>(size + 1) / static_cast<float>(size);
  };
  return {scale(sizes_.cols), scale(sizes_.rows)};
}

// The stride for delta~ = 1.
float GaussianFilters::stride() const {
  const int longer = std::max(sizes_.rows, sizes_.cols);
  return static_cast<float>(longer - 1) / static_cast<float>(std::max(sizes_.glimpse - 1, 1));
}

float GaussianFilters::filter_centre(const Axis& axis, int i) const {
  return axis.centre +
         (static_cast<float>(i) - 0.5F * static_cast<float>(sizes_.glimpse - 1)) * axis.delta;
}

void GaussianFilters::filters_forward(Matrix f, const Axis& axis) const {
  for (int i = 0; i < f.rows; ++i) {
    const float centre = filter_centre(axis, i), nearest = nearest_pixel(centre, f.cols);
    const float twice_offset = 2.0F * (nearest - centre), scale = 0.5F * axis.inverse_variance;
    float* row = f.row(i);
    for (int a = 0; a < f.cols; ++a)
      row[a] = -exponent(static_cast<float>(a) - nearest, twice_offset, scale);
  }
  exp(f.data, f.rows * f.cols);
  for (int i = 0; i < f.rows; ++i) {
    float* row = f.row(i);
    const float scale = 1.0F / sum(row, f.cols);
    for (int a = 0; a < f.cols; ++a) row[a] *= scale;
  }
}

// Overwrites df (N, size). With z the gradient of the exponents -u:
//   d centre_i = sum of z (a - mu_i) / sigma^2, d log sigma^2 = sum of z u,
// where z sums to zero, so that a may be counted from any pixel.
GaussianFilters::AxisGradient GaussianFilters::filters_backward(Matrix df, ConstMatrix f,
                                                                const Axis& axis,
                                                                Matrix places) const {
  AxisGradient gradient;
  float* __restrict d = places.row(0);
  float* __restrict u = places.row(1);
  for (int i = 0; i < f.rows; ++i) {
    const float centre = filter_centre(axis, i), nearest = nearest_pixel(centre, f.cols);
    const float twice_offset = 2.0F * (nearest - centre), scale = 0.5F * axis.inverse_variance;
    const float* __restrict f_row = f.row(i);
    float* __restrict z = df.row(i);
    const float mean = dot(f_row, z, f.cols);
    for (int a = 0; a < f.cols; ++a) {
      z[a] = f_row[a] * (z[a] - mean);
      d[a] = static_cast<float>(a) - nearest;
      u[a] = exponent(d[a], twice_offset, scale);
    }
    const float dcentre = axis.inverse_variance * dot(z, d, f.cols);
    gradient.centre += dcentre;
    gradient.log_delta += dcentre * (centre - axis.centre);
    gradient.log_variance += dot(z, u, f.cols);
  }
  return gradient;
}

}  // namespace saccade
