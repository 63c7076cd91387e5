#pragma once

#include <vector>

#include "nn/tensor.h"

namespace saccade {

/// A square convolution with a bias and zeros beyond the edges, followed by a relu. The patches
/// under the kernel become the rows of a matrix (Chellapilla et al. 2006), and the layer a linear
/// one on them; patches too thin for a product stay where they are. An image is one row of a
/// matrix, channels last: (row, col, channel).
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
  void gather(const float* x);
  void scatter(float* dx, float* dpatches);
  double flop(int images) const;
  void direct_forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b);
  void direct_backward(Matrix dw, Matrix db, ConstMatrix dy, ConstMatrix x, float beta);

  Sizes sizes_;
  bool direct_;               // without gathering patches
  std::vector<int> corners_;  // (positions): where patches begin in an image; of direct_
  int group_;                 // images whose gradients share a product
  Tensor<3> padded_;          // (rows + 2 padding, cols + 2 padding, channels), zero at the edges
  Tensor<3> dpadded_;         // the same shape
  Tensor<2> patches_;         // (group positions, patch_size), or their gradients
  Tensor<2> weights_;         // (patch_size, a batch of filters), or their gradients; of direct_
  Tensor<2> outputs_;         // (positions, a batch of filters): gradients; of direct_
};

/// (B, channels, rows, cols) to (B, rows, cols, channels), and back.
void put_channels_last(Matrix to, ConstMatrix from, int channels);
void put_channels_first(Matrix to, ConstMatrix from, int channels);

}  // namespace saccade
