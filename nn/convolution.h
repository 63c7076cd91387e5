#pragma once

#include <vector>

#include "nn/tensor.h"

namespace saccade {

/// A square convolution with bias, zero padding and a relu. The patches under the kernel become the
/// rows of a matrix (Chellapilla et al. 2006), so that the layer is a linear one on them; patches
/// too small for a matrix product are convolved directly. An image is one row of a matrix, channels
/// last: (row, col, channel).
///
/// Holds scratch memory for a few images, so only one thread may use it at a time. Calls allocate
/// nothing after the first. What forward writes for an image does not depend on the rest of the
/// batch; what input_backward writes does so up to rounding only, because a few images may share a
/// product.
class Convolution {
 public:
  struct Sizes {
    int rows, cols, channels;     // of an input image
    int filters;                  // channels of an output image
    int kernel_size;              // side in pixels; at most the side of the padded image
    int stride;                   // pixels
    int padding;                  // zeros at each edge
    bool share_products = false;  // backward sums the weight gradients of a few images in one
                                  // product: faster for small images, other rounding

    int output_rows() const { return (rows + 2 * padding - kernel_size) / stride + 1; }
    int output_cols() const { return (cols + 2 * padding - kernel_size) / stride + 1; }
    int input_size() const { return rows * cols * channels; }
    int positions() const { return output_rows() * output_cols(); }
    int output_size() const { return positions() * filters; }
    int patch_size() const { return kernel_size * kernel_size * channels; }
  };

  explicit Convolution(const Sizes& sizes);

  /// y (B, output_size) = conv(x) + b, without the relu; otherwise as below.
  void forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b);
  /// y (B, output_size) = relu(conv(x) + b), x (B, input_size), w (patch_size, filters) with its
  /// rows in the order (row, col, channel), b (1, filters). NaN stays NaN.
  void relu_forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b);
  /// Overwrites dw and db (beta = 0) or adds to them (beta = 1). dy (B, output_size) is the
  /// gradient before the relu.
  void backward(Matrix dw, Matrix db, ConstMatrix dy, ConstMatrix x, float beta = 0.0F);
  /// Overwrites dx (B, input_size).
  void input_backward(Matrix dx, ConstMatrix dy, ConstMatrix w);

 private:
  void gather(const float* x, float* patches);
  void scatter(float* dx, float* dpatches);
  double flop(int images) const;
  // Images that share a product, given their outputs: adjacent ones.
  int group(ConstMatrix outputs) const { return outputs.stride == outputs.cols ? group_ : 1; }
  template <class Linear>
  void image_by_image(Matrix y, ConstMatrix x, const Linear& linear);
  void direct_forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b);
  void direct_backward(Matrix dw, Matrix db, ConstMatrix dy, ConstMatrix x, float beta);

  Sizes sizes_;
  bool direct_;               // convolve without gathering patches
  std::vector<int> corners_;  // (positions): patch offsets in an image; direct_ only
  int group_;                 // number of images whose gradients share a product
  Tensor<3> padded_;          // (rows + 2 padding, cols + 2 padding, channels), zero at the edges
  Tensor<3> dpadded_;         // the same shape
  Tensor<2> patches_;         // (group positions, patch_size), or their gradients
  Tensor<2> weights_;         // (patch_size, a vector of filters), or their gradients; direct_ only
  Tensor<2> outputs_;         // (positions, a vector of filters): gradients; direct_ only
};

/// (B, channels, rows, cols) to (B, rows, cols, channels), and back.
void put_channels_last(Matrix to, ConstMatrix from, int channels);
void put_channels_first(Matrix to, ConstMatrix from, int channels);

}  // namespace saccade
