#pragma once

#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// Workspace of reads in B episodes at T steps, N x N pixels from each channel.
struct FilterMemory {
  Tensor<3> filters_x;  // (T, B, N cols): F_X, row by row
  Tensor<3> filters_y;  // (T, B, N rows): F_Y
  Tensor<3> bands;      // (T, B, channels N cols): F_Y X
  // For one episode, in backward:
  Tensor<2> dfilters_x;  // (N, cols)
  Tensor<2> dfilters_y;  // (N, rows)
  Tensor<2> dbands;      // (channels N, cols)
  Tensor<2> places;      // (2, max(rows, cols))
};

/// The read of DRAW (Gregor et al. 2015, section 3.2, equations 21 to 27): a grid of N x N Gaussian
/// filters, whose position and scale are given by five numbers, reads the glimpse gamma F_Y X F_X'
/// from each channel X of the canvas. The five numbers are a row of `windows`, as a linear layer
/// outputs them:
///   (g~_X, g~_Y, log sigma^2, log delta~, log gamma)
/// with the grid's centre g_X = (cols + 1) / 2 (g~_X + 1) in pixels counted from 1 (g_Y likewise),
/// the stride delta = (max(rows, cols) - 1) / (N - 1) delta~ in pixels, the filters' centres
/// mu_i = g + (i - N / 2 + 0.5) delta for i = 0 .. N - 1, and sigma^2 in squared pixels. Every row
/// of F_X and F_Y sums to one, even if the window lies far outside. N = 1 is one filter at g;
/// max(rows, cols) - 1 counts as its stride.
///
/// Pixel 1 covers the canvas points from 0 to 1, so g_X is the point g_X - 0.5. A location x in
/// [-1, 1] is the point (x + 1) / 2 cols, so here x = g~_X (cols + 1) / cols.
///
/// The three logarithms are clamped to [-30, 30] and have no gradient outside that range.
class GaussianFilters {
 public:
  static constexpr int kWindow = 5;  // numbers of a window

  struct Sizes {
    int rows, cols, channels;  // of the canvas
    int glimpse;               // N, >= 1
  };
  explicit GaussianFilters(const Sizes& sizes) : sizes_(sizes) {}

  /// channels N N
  int glimpse_size() const { return sizes_.channels * sizes_.glimpse * sizes_.glimpse; }
  /// The only call that allocates.
  FilterMemory make_memory(int steps, int episodes) const;

  /// Step t: writes glimpses (B, channels N N) of canvases (B, channels rows cols) as given by
  /// windows (B, 5). Images are stored as (channel, row, column).
  void forward(Matrix glimpses, FilterMemory& memory, int t, ConstMatrix canvases,
               ConstMatrix windows) const;
  /// After forward of step t: adds the gradient of the windows to dwindows (B, 5).
  void backward(Matrix dwindows, FilterMemory& memory, int t, ConstMatrix dglimpses,
                ConstMatrix canvases, ConstMatrix windows) const;

  /// After forward of step t: adds the gradient of the canvases to dcanvases (B, channels rows
  /// cols).
  void canvas_backward(Matrix dcanvases, FilterMemory& memory, int t, ConstMatrix dglimpses,
                       ConstMatrix windows) const;

  /// The square that the N x N filters cover: its centre and half its sides, in location units.
  struct Extent {
    float x, y, half_width, half_height;
  };
  Extent extent(const float* window) const;

  /// Factors that turn a window's centre, in units of (size + 1) / 2 pixels (Gregor et al. 2015,
  /// equations 19 and 20), into a location, in units of size / 2, along x and y.
  std::array<float, 2> location_per_centre() const;

  /// Initial window: as wide as the longer side of the canvas, which N = 1 takes as its stride, ...
  static float initial_log_delta() { return 0.0F; }
  /// ... with a sigma of half a stride, and of at least half a pixel.
  float initial_log_variance() const;

  /// Multiply-adds of an episode of T reads.
  Work work(int steps) const;

 private:
  /// A window's parameters along one axis; delta and inverse_variance are common to both axes.
  struct Axis {
    float centre, delta, inverse_variance;  // centre: in pixels counted from 0
  };
  struct AxisGradient {
    float centre = 0.0F, log_delta = 0.0F, log_variance = 0.0F;
  };
  Axis axis(const float* window, int which) const;
  float stride() const;
  float filter_centre(const Axis& axis, int i) const;
  void filters_forward(Matrix f, const Axis& axis) const;
  AxisGradient filters_backward(Matrix df, ConstMatrix f, const Axis& axis, Matrix places) const;

  Sizes sizes_;
};

}  // namespace saccade
