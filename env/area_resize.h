#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/tensor.h"

namespace saccade {

/// Resizes images to rows x cols. Along an axis that shrinks, by area averaging: a pixel is the
/// mean of the area it covers, with partial pixels weighted by their share, which preserves the
/// mean. Along one that grows, by linear interpolation between the centres of pixels.
class AreaResize {
 public:
  /// From (channels, rows, cols) to (channels, to_rows, to_cols).
  AreaResize(int channels, int rows, int cols, int to_rows, int to_cols);

  /// small (channels * to_rows * to_cols), canvas (channels * rows * cols)
  void forward(std::span<float> small, std::span<const float> canvas);
  /// Writes dcanvas from dsmall.
  void backward(std::span<float> dcanvas, std::span<const float> dsmall);

  /// For each new pixel along an axis, the adjacent pixels that it consists of and their shares,
  /// which sum to 1. Takes memory for the sum of the two sizes, not their product.
  class Shares {
   public:
    struct Range {
      int first, count;    // pixels
      const float* share;  // (count): of each
    };
    Range of(int pixel) const {
      const Place& place = ranges_[pixel];
      return {place.first, place.count, all_.data() + place.begin};
    }

    /// Adds a share of the next new pixel; end_range() ends that pixel.
    void add(int pixel, float share);
    void end_range();

   private:
    struct Place {
      int first = 0, count = 0;
      std::size_t begin = 0;  // in all_
    };
    std::vector<Place> ranges_;  // of each new pixel
    std::vector<float> all_;
    Place range_;  // of the new pixel that add() is called for
  };

 private:
  int channels_, rows_, cols_, to_rows_, to_cols_;
  Shares row_shares_, col_shares_;
  Tensor<1> half_;  // (cols): a row that is resized along one axis only
};

/// The same for images of bytes with interleaved channels, rounded.
class ByteResize {
 public:
  /// From (rows, cols, channels) to (to_rows, to_cols, channels).
  ByteResize(int channels, int rows, int cols, int to_rows, int to_cols);

  /// Returns the resized image, which is valid until the next call.
  std::span<const std::uint8_t> forward(std::span<const std::uint8_t> image);

 private:
  int channels_;
  AreaResize area_;
  std::vector<float> from_, to_;  // (channels, rows, cols)
  std::vector<std::uint8_t> bytes_;
};

}  // namespace saccade
