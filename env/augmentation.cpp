#include "env/augmentation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/check.h"

namespace saccade {
namespace {

constexpr int kPixelsAtOnce = 16;

// Maps a point of the target to a point of the source, relative to their common centre: (u, v) =
// (xx x + xy y, yx x + yy y) + centre.
struct Affine {
  float xx, xy, yx, yy;
};

void copy_strided(std::uint8_t* to, int to_stride, const std::uint8_t* from, int from_stride,
                  int count) {
  if (to_stride == 1 && from_stride == 1) {
    std::copy_n(from, count, to);
  } else {
    for (int i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
  }
}

void pack_row(std::uint32_t* __restrict corners, const std::uint8_t* __restrict upper,
              const std::uint8_t* __restrict lower, int width) {
  for (int col = 0; col < width; ++col)
    corners[col] = upper[col] | std::uint32_t{upper[col + 1]} << 8 |
                   std::uint32_t{lower[col]} << 16 | std::uint32_t{lower[col + 1]} << 24;
}

// Copies one channel of the source into a black frame of at least one pixel.
void frame(Augmentation::Scratch& scratch, const std::uint8_t* source, int channels) {
  for (int row = 0; row < scratch.rows; ++row) {
    std::uint8_t* to = &scratch.framed[(row + 1) * (scratch.width + 1) + 1];
    const std::uint8_t* from = source + row * scratch.cols * channels;
    copy_strided(to, 1, from, channels, scratch.cols);
  }
}

// Mixes each pixel of a row with the extreme of it and its four neighbours; `share` in 256ths.
template <class Extreme>
void move_edges_of(std::uint8_t* __restrict to, const std::uint8_t* __restrict row, int stride,
                   int count, int share, const Extreme& extreme) {
  for (int col = 0; col < count; ++col) {
    const std::uint8_t* at = row + col;
    const int m = extreme(extreme(extreme(at[-1], at[1]), extreme(at[-stride], at[stride])), at[0]);
    to[col] = static_cast<std::uint8_t>(at[0] + (((m - at[0]) * share + 128) >> 8));
  }
}

// Moves the edges of the framed image out by `pixels`, in [-1, 1].
void move_edges(Augmentation::Scratch& scratch, float pixels) {
  const int stride = scratch.width + 1;
  const int share = static_cast<int>(std::abs(pixels) * 256.0F + 0.5F);
  for (int row = 1; row <= scratch.rows; ++row) {
    std::uint8_t* to = &scratch.edges[row * stride + 1];
    const std::uint8_t* from = &scratch.framed[row * stride + 1];
    if (pixels > 0.0F)
      move_edges_of(to, from, stride, scratch.cols, share,
                    [](std::uint8_t a, std::uint8_t b) { return std::max(a, b); });
    else
      move_edges_of(to, from, stride, scratch.cols, share,
                    [](std::uint8_t a, std::uint8_t b) { return std::min(a, b); });
  }
  std::swap(scratch.framed, scratch.edges);
}

// Packs the framed image into the four pixels around each corner, so that interpolating reads one
// number: (rows + 1, width), lowest byte first the upper left, upper right, lower left and lower
// right pixel.
void pack_corners(Augmentation::Scratch& scratch) {
  const int width = scratch.width, stride = width + 1;
  for (int row = 0; row <= scratch.rows; ++row) {
    const std::uint8_t* upper = &scratch.framed[row * stride];
    pack_row(&scratch.corners[row * width], upper, upper + stride, width);
  }
}

constexpr int kKnots = 5;

// A pixel's position between two knots, on an axis of `size` pixels.
struct KnotPosition {
  KnotPosition(int pixel, int size) {
    const float at =
        static_cast<float>((kKnots - 1) * pixel) / static_cast<float>(std::max(size - 1, 1));
    knot = std::min(static_cast<int>(at), kKnots - 2);
    share = at - static_cast<float>(knot);
  }
  int knot;
  float share;
};

void to_bytes(std::uint8_t* __restrict bytes, const int* __restrict numbers, int count) {
  for (int i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(numbers[i]);
}

// Displacements along one axis, interpolated between knots that span the image.
class Field {
 public:
  Field(float bound, RandomStream& stream) {
    for (float& knot : knots_) knot = stream.uniform(-bound, bound);
  }

  // Writes the displacements of one row of pixels, (width).
  void write_row(float* __restrict row_field, int row, const Augmentation::Scratch& scratch) const {
    const KnotPosition at(row, scratch.rows);
    std::array<float, kKnots> knots;  // interpolated to this row
    for (int k = 0; k < kKnots; ++k) {
      const float* upper = knots_.data() + at.knot * kKnots + k;
      knots[k] = upper[0] + at.share * (upper[kKnots] - upper[0]);
    }
    for (int col = 0; col < scratch.width; ++col) {
      const int knot = scratch.knot[col];
      row_field[col] = knots[knot] + scratch.share[col] * (knots[knot + 1] - knots[knot]);
    }
  }

 private:
  std::array<float, kKnots * kKnots> knots_;  // (rows, cols)
};

// Writes the brightness of one row of the target, rounded. (u, v) is the source position of its
// first pixel, in pixels of the frame, and `bend` (2, width) displaces each pixel. Points outside
// the frame are clamped to it. Free of branches and of bytes, so that it vectorises at any width.
void read_row(int* __restrict brightness, const std::uint32_t* __restrict corners,
              const float* __restrict bend, int rows, int cols, int width, float u, float v,
              const Affine& map) {
  const auto last_u = static_cast<float>(cols + 1), last_v = static_cast<float>(rows + 1);
  for (int col = 0; col < width; ++col) {
    const auto x = static_cast<float>(col);
    const float at_u = std::min(std::max(u + map.xx * x + bend[col], 0.0F), last_u);
    const float at_v = std::min(std::max(v + map.yx * x + bend[width + col], 0.0F), last_v);
    const int left = std::min(static_cast<int>(at_u), cols);
    const int top = std::min(static_cast<int>(at_v), rows);
    const float right_share = at_u - static_cast<float>(left);
    const float lower_share = at_v - static_cast<float>(top);
    const std::uint32_t four = corners[top * width + left];
    const auto pixel = [four](int i) {
      return static_cast<float>(static_cast<int>(four >> 8 * i & 255));
    };
    const float upper = pixel(0) + right_share * (pixel(1) - pixel(0));
    const float lower = pixel(2) + right_share * (pixel(3) - pixel(2));
    brightness[col] = static_cast<int>(upper + lower_share * (lower - upper) + 0.5F);
  }
}

}  // namespace

Settings describe(AugmentationConfig& config, int* num_distractors) {
  const Condition distorts = unless(&config.rotation, 0.0) || unless(&config.scale, 0.0) ||
                             unless(&config.shear, 0.0) || unless(&config.shift, 0) ||
                             unless(&config.elastic, 0.0) || unless(&config.stroke, 0.0) ||
                             when(&config.flip);
  return {{"data.augmentation.rotation", &config.rotation, closed(0, 180),
           "Largest rotation of a training digit, in degrees"},
          {"data.augmentation.scale", &config.scale, closed(0, 0.9),
           "Largest change of size of a training digit: a factor within 1 +- this"},
          {"data.augmentation.shear", &config.shear, closed(0, 1),
           "Largest shear of a training digit: x += s y, s within +- this"},
          {"data.augmentation.shift", &config.shift, closed(0, 16),
           "Largest shift of a training digit along x and y, in pixels"},
          {"data.augmentation.elastic", &config.elastic, closed(0, 16),
           "Largest shift of each of 5 x 5 knots of a training digit, in pixels"},
          {"data.augmentation.stroke", &config.stroke, closed(0, 1),
           "Largest shift of the edges of a training digit's strokes, out or in, in pixels"},
          {"data.augmentation.flip", &config.flip, kUnbounded,
           "Whether a training image is mirrored, left to right, with probability 1/2"},
          {"data.augmentation.distractors", &config.distractors, kUnbounded,
           "Whether the training digits that distractors are cut from are distorted, too",
           unless(num_distractors, 0) && distorts}};
}

// Widths are rounded up, so that no pixel is left over from the vectors.
Augmentation::Scratch::Scratch(int image_rows, int image_cols)
    : rows(image_rows),
      cols(image_cols),
      width((image_cols + kPixelsAtOnce) / kPixelsAtOnce * kPixelsAtOnce),
      framed((rows + 2) * (width + 1)),
      edges(framed.size()),
      corners((rows + 1) * width),
      bend(2 * width),
      brightness(width),
      bytes(width) {
  for (int col = 0; col < width; ++col) {
    const KnotPosition at(std::min(col, cols - 1), cols);
    knot.push_back(at.knot);
    share.push_back(at.share);
  }
}

void Augmentation::apply(std::span<std::uint8_t> target, std::span<const std::uint8_t> source,
                         int channels, RandomStream& stream, Scratch& scratch) const {
  const int rows = scratch.rows, cols = scratch.cols;
  SACCADE_CHECK(target.size() == source.size());
  const auto symmetric = [&](double bound) {
    return stream.uniform(-static_cast<float>(bound), static_cast<float>(bound));
  };
  const float angle = symmetric(config_.rotation) * std::numbers::pi_v<float> / 180.0F;
  const float zoom = 1.0F / (1.0F + symmetric(config_.scale));
  const float shear = symmetric(config_.shear);
  const float shift_x = symmetric(config_.shift);
  const float shift_y = symmetric(config_.shift);

  const float along_x = config_.flip && stream.uniform() < 0.5F ? -1.0F : 1.0F;

  const float cosine = zoom * std::cos(angle), sine = zoom * std::sin(angle);
  const Affine map{along_x * cosine, sine + shear * cosine, along_x * -sine, cosine - shear * sine};
  const float centre_x = 0.5F * static_cast<float>(cols - 1);
  const float centre_y = 0.5F * static_cast<float>(rows - 1);
  const float dx = -centre_x - along_x * shift_x;
  std::ranges::fill(scratch.bend, 0.0F);
  std::optional<std::array<Field, 2>> fields;
  if (config_.elastic > 0.0) {
    const auto bound = static_cast<float>(config_.elastic);
    fields = {Field(bound, stream), Field(bound, stream)};
  }
  const float stroke = config_.stroke > 0.0 ? symmetric(config_.stroke) : 0.0F;
  for (int c = 0; c < channels; ++c) {
    frame(scratch, source.data() + c, channels);
    if (stroke != 0.0F) move_edges(scratch, stroke);
    pack_corners(scratch);
    for (int row = 0; row < rows; ++row) {
      const float dy = static_cast<float>(row) - centre_y - shift_y;
      if (fields)
        for (int axis = 0; axis < 2; ++axis)
          (*fields)[axis].write_row(&scratch.bend[axis * scratch.width], row, scratch);
      read_row(scratch.brightness.data(), scratch.corners.data(), scratch.bend.data(), rows, cols,
               scratch.width, map.xx * dx + map.xy * dy + centre_x + 1.0F,
               map.yx * dx + map.yy * dy + centre_y + 1.0F, map);
      to_bytes(scratch.bytes.data(), scratch.brightness.data(), scratch.width);
      copy_strided(target.data() + row * cols * channels + c, channels, scratch.bytes.data(), 1,
                   cols);
    }
  }
}

}  // namespace saccade
