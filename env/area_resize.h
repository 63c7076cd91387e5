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

  /// A range of pixels along one axis.
  struct Range {
    int first, count;
  };

 private:
  int channels_, rows_, cols_, to_rows_, to_cols_;
  Tensor<2> row_shares_;           // (to_rows, rows): rows sum to 1
  Tensor<2> col_shares_;           // (to_cols, cols)
  std::vector<Range> row_ranges_;  // (to_rows): rows with a non-zero share
  std::vector<Range> col_ranges_;  // (to_cols)
  Tensor<2> half_;                 // (to_rows, cols): one channel
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
