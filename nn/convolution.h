#pragma once

#include "nn/tensor.h"

namespace saccade {

/// A square convolution with a bias and zeros beyond the edges, followed by a relu. The patches
/// under the kernel become the rows of a matrix (Chellapilla et al. 2006), and the layer a linear
/// one on them. An image is one row of a matrix, channels last: (row, col, channel).
///
/// Holds scratch memory for a few images: used by one thread at a time. Calls allocate nothing
/// after the first, and an image's result does not depend on what else is in the batch.
class Convolution {
 public:
  struct Sizes {
    int rows, cols, channels;  // of an input image
    int filters;               // channels of an output image
    int kernel_size;           // side, pixels; at most that of the padded image
    int stride;                // pixels
    int padding;               // zeros at each edge

    int output_rows() const { return (rows + 2 * padding - kernel_size) / stride + 1; }
    int output_cols() const { return (cols + 2 * padding - kernel_size) / stride + 1; }
    int input_size() const { return rows * cols * channels; }
    int positions() const { return output_rows() * output_cols(); }
    int output_size() const { return positions() * filters; }
    int patch_size() const { return kernel_size * kernel_size * channels; }
  };

  explicit Convolution(const Sizes& sizes);

  /// y (B, output_size) = relu(conv(x) + b), x (B, input_size), w (patch_size, filters) with its
  /// rows in the order (row, col, channel), b (1, filters). Not-a-number stays not-a-number.
  void relu_forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b);
  /// Writes dw and db (beta = 0) or adds to what is there (1). dy (B, output_size) is the gradient
  /// before the relu.
  void backward(Matrix dw, Matrix db, ConstMatrix dy, ConstMatrix x, float beta = 0.0F);
  /// Writes dx (B, input_size).
  void input_backward(Matrix dx, ConstMatrix dy, ConstMatrix w);

 private:
  void gather(ConstMatrix x);
  void scatter(Matrix dx);
  // Images whose outputs lie side by side in memory share a product.
  int group_of(ConstMatrix y) const { return y.stride == y.cols ? group_ : 1; }
  // The patches of `images` images, and those images' outputs from image `first` on.
  Matrix patches(int images) { return matrix(patches_).row_range(0, images * sizes_.positions()); }
  template <class AnyMatrix>
  AnyMatrix positions(AnyMatrix y, int first, int images) const {
    return {y.row(first), images * sizes_.positions(), sizes_.filters, sizes_.filters};
  }

  Sizes sizes_;
  int group_;          // images that share a product
  Tensor<3> padded_;   // (rows + 2 padding, cols + 2 padding, channels), zero at the edges
  Tensor<3> dpadded_;  // the same shape
  Tensor<2> patches_;  // (group positions, patch_size), or their gradients
};

/// (B, channels, rows, cols) to (B, rows, cols, channels), and back.
void put_channels_last(Matrix to, ConstMatrix from, int channels);
void put_channels_first(Matrix to, ConstMatrix from, int channels);

}  // namespace saccade
