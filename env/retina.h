#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/log_range.h"
#include "base/setting.h"
#include "nn/tensor.h"

namespace saccade {

/// Keys: retina.*
struct RetinaConfig {
  int patch_size = 12;           // P, pixels; at most the canvas' shorter side
  int scales = 3;                // S, 1-6
  int scale_factor = 2;          // side of scale s: P * scale_factor^s canvas pixels; 1-8
  std::string pooling = "mean";  // a name of retina_poolings()
};

Settings describe(RetinaConfig& config);

/// What a cell of a coarse scale shows of its box: the `mean`, or the `max`, which keeps single
/// pixels of a dark screen in sight.
const std::vector<std::string>& retina_poolings();
/// Whether the pool of a box is its maximum, which has no gradient by the canvas.
bool pools_max(const RetinaConfig& config);

/// The multi-resolution sensor (Mnih et al. 2014, section 3.1). Scale s covers a square of
/// P * f^s canvas pixels around the location and is box-averaged (or pooled otherwise) back to P x
/// P, exactly; beyond the canvas everything is black.
///
/// The place: location (x, y) in [-1, 1] is the canvas point ((x + 1) / 2 cols, (y + 1) / 2 rows),
/// and every square has its corner at the pixel edge nearest to point - side / 2 (first_edge).
class Retina {
 public:
  /// The pixel edge nearest to where a square of `side` pixels around `location` begins, on an axis
  /// of `pixels`. Of two as near it is the later one, also where the rounding of the location says
  /// otherwise: candidates of a grid lie on half pixels.
  static int first_edge(float location, int pixels, double side);

  /// `zoom` (attention.glimpse.zoom): 1, or the range of the zoom that each look chooses: how many
  /// canvas pixels, along a side, a pixel of the finest scale averages. Throws InputError naming
  /// the key when the sizes make no sense for the canvas.
  Retina(const RetinaConfig& config, int canvas_rows, int canvas_cols, int channels,
         const LogRange& zoom = {});

  /// Whether a look chooses its zoom.
  bool zooms() const { return !zoom_.is_point(); }
  /// Numbers of a location: (x, y), or with a zoom (x, y, u).
  int location_size() const { return zooms() ? 3 : 2; }
  /// D = S * channels * P * P, in this order: (scale, channel, row, col).
  int glimpse_size() const { return glimpse_size_; }
  /// Bytes that prepare() needs for one scene; they must be zero before the first scene.
  std::size_t prepared_size() const { return prepared_size_; }

  /// Keeps the canvas as looks read it, with black around.
  /// canvas (channels, rows, cols); prepared (prepared_size()), owned by the caller.
  void prepare(std::span<const std::uint8_t> canvas, std::span<std::byte> prepared) const;

  /// One glimpse (D), pixels in [0, 1], of the canvas that was prepared.
  void look(std::span<const std::byte> prepared, float x, float y, float* glimpse) const;
  /// Memory of look_at_all, which grows in the first call.
  struct Lattices {
    std::vector<float> boxes;
    std::vector<bool> filled;
  };
  /// One glimpse at each of the places (K, 2): writes glimpses (K, D), the same numbers as look().
  /// Places that cover the canvas share their boxes.
  void look_at_all(std::span<const std::byte> prepared, ConstMatrix places, Matrix glimpses,
                   Lattices& lattices) const;
  /// Adds to dcanvas (channels, rows, cols) what the gradient dglimpse (D) of a look at (x, y) says
  /// of the canvas, pixels in [0, 1]: the transpose of look(), which is linear in the canvas.
  /// Throws InputError (retina.pooling) for max, which is not.
  void look_backward(std::span<float> dcanvas, float x, float y,
                     std::span<const float> dglimpse) const;

  /// The same glimpse at the location as it is, between pixels: a square has its corner at point -
  /// side / 2, unrounded. With pixels as unit squares a cell is the integral of the canvas over its
  /// zoom x zoom box with real edges, by zoom^2, and all boxes of a scale are shifted alike: by
  /// fractions (u, v) of a pixel from whole boxes V[i, j], so that a cell is
  ///   (1 - v) ((1 - u) V[i, j] + u V[i, j + 1]) + v ((1 - u) V[i + 1, j] + u V[i + 1, j + 1]),
  /// at the finest scale the bilinear interpolation of pixels (Jaderberg et al. 2015, equation 5),
  /// at coarser ones the same box average, exactly. With max pooling V are maxima.
  ///
  /// slopes (2 D): the derivative of each number of the glimpse by x, then that by y (equation 7),
  /// in location units. A cell is linear in each of u and v: at a pixel edge, where its derivative
  /// jumps, it is the one to the right or below.
  void look_smoothly(std::span<const std::byte> prepared, float x, float y, float* glimpse,
                     float* slopes) const;
  /// The backward pass of look_smoothly (equation 6), as look_backward is that of look.
  void look_smoothly_backward(std::span<float> dcanvas, float x, float y,
                              std::span<const float> dglimpse) const;

  /// A look with a zoom, at location (x, y, u): the finest scale averages z x z canvas pixels, z =
  /// from (to / from)^((1 + u) / 2), scale s of them z f^s a side. Corners are at point - side / 2,
  /// unrounded, and a cell is the integral of the canvas, pixels as unit squares, over its box with
  /// real edges, by the area of the box. The integrals up to a point (Crow 1984, "Summed-area
  /// tables for texture mapping") are bilinear within a pixel, so a cell costs the same at every
  /// zoom.
  ///
  /// slopes (3 D), or null: the derivatives by x, by y and by u. At a pixel edge, where they jump,
  /// they are those to the right or below. Requires zooms().
  void look_zoomed(std::span<const std::byte> prepared, const float* location, float* glimpse,
                   float* slopes) const;
  /// The backward pass of look_zoomed, likewise.
  void look_zoomed_backward(std::span<float> dcanvas, const float* location,
                            std::span<const float> dglimpse) const;

  /// The canvas itself (channels, rows, cols), pixels in [0, 1].
  void view(std::span<const std::byte> prepared, float* canvas) const;

 private:
  // The whole pixel edge at or before a real one, and how far it is from there, in [0, 1].
  struct Corner {
    int edge;
    float fraction;
  };

  void check_zoom() const;
  void sum_areas(std::span<const std::uint8_t> canvas, std::span<std::byte> prepared) const;

  void read_lattices(const std::uint8_t* plane, ConstMatrix places, int zoom, Matrix patches,
                     Lattices& lattices) const;
  Corner corner(float location, int side, int zoom) const;
  float white(int zoom) const;  // the pool of a white box
  std::ptrdiff_t plane_size() const {
    return static_cast<std::ptrdiff_t>(plane_rows_) * plane_cols_;
  }
  template <class Add>
  void each_scale_backward(std::span<float> dcanvas, std::span<const float> dglimpse,
                           const Add& add) const;
  void add_boxes(std::span<float> dcanvas, int first_row, int first_col, int zoom, float weight,
                 const float* dboxes) const;

  RetinaConfig config_;
  LogRange zoom_;
  int rows_, cols_, channels_;
  int margin_ = 0;               // black, around a plane of pixels
  int plane_rows_, plane_cols_;  // canvas size + 2 margin_
  std::vector<int> zooms_;       // (S): side of a box in canvas pixels
  int glimpse_size_;
  std::size_t prepared_size_;
  std::size_t areas_offset_ = 0;  // with a zoom: of the sums of areas, after the planes
};

}  // namespace saccade
