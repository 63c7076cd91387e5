#pragma once

#include <span>

#include "agent/spec/pixel_scale.h"
#include "nn/convolution.h"
#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// A glimpse: (scale, channel, row, col), of squares of `side` pixels.
struct GlimpseShape {
  int size;  // D
  int channels, side;
  PixelScale pixels = {};  // how networks read them

  int plane() const { return side * side; }
  int scale_size() const { return channels * plane(); }
  int scales() const { return size / scale_size(); }
};

/// A small convolution on each scale of a glimpse (model.glimpse_network: conv), the same on all:
/// y_s = relu(w * rho_s + b), which the glimpse network reads in place of the pixels. Without
/// padding: beyond its squares a glimpse is not black but unseen.
class GlimpseFilters {
 public:
  struct Sizes {
    int filters, kernel_size, stride;
  };

  /// What it keeps of R glimpses. Used by one thread at a time.
  struct Memory {
    Convolution convolution;
    Tensor<2> images, dimages;  // (R S, pixels), channels last: where there are several; else empty
    Tensor<2> y, dy;            // (R, size): the outputs, and their gradients
  };

  /// Parameters `glimpse.filters.weight` and `.bias`. Throws InputError naming model.glimpse_kernel
  /// for one that is larger than the glimpse. `layout` must outlive it.
  GlimpseFilters(const GlimpseShape& shape, const Sizes& sizes, ParameterLayout& layout);

  /// Of a glimpse's outputs: (scale, row, col, filter).
  int size() const { return shape_.scales() * convolution_.output_size(); }
  Memory make_memory(int glimpses) const;

  // Matrices lie side by side in memory.

  /// Writes rows `first` and on of y from as many glimpses (N, D).
  void forward(Memory& memory, int first, ConstMatrix glimpses,
               std::span<const float> parameters) const;
  /// Rows `first` and on of dy, before the activation (relu_backward), to the gradients of as many
  /// glimpses, dglimpses (N, D), written.
  void glimpse_backward(Matrix dglimpses, Memory& memory, int first,
                        std::span<const float> parameters) const;
  /// All of dy, before the activation, to the gradients of the filters, written (beta = 0) or added
  /// to what is there (1). glimpses (R, D)
  void weight_backward(std::span<float> gradient, Memory& memory, ConstMatrix glimpses,
                       float beta) const;

  /// Multiply-adds of one glimpse.
  Work work(Input glimpse) const;

 private:
  // Scale for scale: rows `first` and on of a (N, S width) matrix.
  template <class AnyMatrix>
  AnyMatrix scales(AnyMatrix m, int first, int glimpses) const;

  const ParameterLayout* layout_;
  GlimpseShape shape_;
  Convolution::Sizes convolution_;
  int weight_, bias_;
};

}  // namespace saccade
