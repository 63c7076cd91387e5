#include "env/augmentation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/check.h"

namespace saccade {
namespace {

// Maps a point of the target to a point of the source, relative to their common centre: (u, v) =
// (xx x + xy y, yx x + yy y) + centre.
struct Affine {
  float xx, xy, yx, yy;
};

// Copies one channel of the source as floats into a black frame of one pixel.
void frame(float* framed, const std::uint8_t* source, int rows, int cols, int channels) {
  std::fill_n(framed, (rows + 2) * (cols + 2), 0.0F);
  for (int row = 0; row < rows; ++row)
    for (int col = 0; col < cols; ++col)
      framed[(row + 1) * (cols + 2) + col + 1] = source[(row * cols + col) * channels];
}

// Displacements along one axis, interpolated between knots that span the image.
class Field {
 public:
  static constexpr int kKnots = 5;

  Field(float bound, RandomStream& stream) {
    for (float& knot : knots_) knot = stream.uniform(-bound, bound);
  }

  // Writes the displacements of one row of pixels, (cols).
  void write_row(float* __restrict row_field, int row, int rows, int cols) const {
    const Between between(row, rows);
    std::array<float, kKnots> knots;  // interpolated to this row
    for (int k = 0; k < kKnots; ++k) {
      const float* upper = knots_.data() + between.knot * kKnots + k;
      knots[k] = upper[0] + between.share * (upper[kKnots] - upper[0]);
    }
    for (int col = 0; col < cols; ++col) {
      const Between at(col, cols);
      row_field[col] = knots[at.knot] + at.share * (knots[at.knot + 1] - knots[at.knot]);
    }
  }

 private:
  // A pixel's position between two knots, on an axis of `size` pixels.
  struct Between {
    Between(int pixel, int size) {
      const float at =
          static_cast<float>((kKnots - 1) * pixel) / static_cast<float>(std::max(size - 1, 1));
      knot = std::min(static_cast<int>(at), kKnots - 2);
      share = at - static_cast<float>(knot);
    }
    int knot;
    float share;
  };

  std::array<float, kKnots * kKnots> knots_;  // (rows, cols)
};

// Writes one row of the target. (u, v) is the source position of its first pixel, in pixels of the
// frame, and `bend` (2, cols) displaces each pixel. Points outside the frame are clamped to it.
// Free of branches, so that it vectorises.
void read_row(std::uint8_t* __restrict target, int channels, const float* __restrict framed,
              int rows, int cols, float u, float v, const Affine& map,
              const float* __restrict bend) {
  const int stride = cols + 2;
  const auto last_u = static_cast<float>(cols + 1), last_v = static_cast<float>(rows + 1);
  for (int col = 0; col < cols; ++col) {
    const auto x = static_cast<float>(col);
    const float at_u = std::min(std::max(u + map.xx * x + bend[col], 0.0F), last_u);
    const float at_v = std::min(std::max(v + map.yx * x + bend[cols + col], 0.0F), last_v);
    const int left = std::min(static_cast<int>(at_u), cols);
    const int top = std::min(static_cast<int>(at_v), rows);
    const float right_share = at_u - static_cast<float>(left);
    const float lower_share = at_v - static_cast<float>(top);
    const float* corner = framed + top * stride + left;
    const float upper = corner[0] + right_share * (corner[1] - corner[0]);
    const float lower = corner[stride] + right_share * (corner[stride + 1] - corner[stride]);
    target[col * channels] =
        static_cast<std::uint8_t>(static_cast<int>(upper + lower_share * (lower - upper) + 0.5F));
  }
}

}  // namespace

Settings describe(AugmentationConfig& config) {
  return {{"data.augmentation.rotation", &config.rotation, closed(0, 180),
           "Largest rotation of a training digit, in degrees"},
          {"data.augmentation.scale", &config.scale, closed(0, 0.9),
           "Largest change of size of a training digit: a factor within 1 +- this"},
          {"data.augmentation.shear", &config.shear, closed(0, 1),
           "Largest shear of a training digit: x += s y, s within +- this"},
          {"data.augmentation.shift", &config.shift, closed(0, 16),
           "Largest shift of a training digit along x and y, in pixels"},
          {"data.augmentation.elastic", &config.elastic, closed(0, 16),
           "Largest shift of each of 5 x 5 knots of a training digit, in pixels"}};
}

void Augmentation::apply(std::span<std::uint8_t> target, std::span<const std::uint8_t> source,
                         int rows, int cols, int channels, RandomStream& stream,
                         std::span<float> scratch) const {
  SACCADE_CHECK(target.size() == source.size() && scratch.size() == scratch_size(rows, cols));
  const auto symmetric = [&](double bound) {
    return stream.uniform(-static_cast<float>(bound), static_cast<float>(bound));
  };
  const float angle = symmetric(config_.rotation) * std::numbers::pi_v<float> / 180.0F;
  const float zoom = 1.0F / (1.0F + symmetric(config_.scale));
  const float shear = symmetric(config_.shear);
  const float shift_x = symmetric(config_.shift);
  const float shift_y = symmetric(config_.shift);

  const float cosine = zoom * std::cos(angle), sine = zoom * std::sin(angle);
  const Affine map{cosine, sine + shear * cosine, -sine, cosine - shear * sine};
  const float centre_x = 0.5F * static_cast<float>(cols - 1);
  const float centre_y = 0.5F * static_cast<float>(rows - 1);
  const float dx = -centre_x - shift_x;
  float* bend = scratch.data() + (rows + 2) * (cols + 2);
  std::fill_n(bend, 2 * cols, 0.0F);
  std::optional<std::array<Field, 2>> fields;
  if (config_.elastic > 0.0) {
    const auto bound = static_cast<float>(config_.elastic);
    fields = {Field(bound, stream), Field(bound, stream)};
  }
  for (int c = 0; c < channels; ++c) {
    frame(scratch.data(), source.data() + c, rows, cols, channels);
    for (int row = 0; row < rows; ++row) {
      const float dy = static_cast<float>(row) - centre_y - shift_y;
      if (fields)
        for (int axis = 0; axis < 2; ++axis)
          (*fields)[axis].write_row(bend + axis * cols, row, rows, cols);
      read_row(target.data() + row * cols * channels + c, channels, scratch.data(), rows, cols,
               map.xx * dx + map.xy * dy + centre_x + 1.0F,
               map.yx * dx + map.yy * dy + centre_y + 1.0F, map, bend);
    }
  }
}

}  // namespace saccade
