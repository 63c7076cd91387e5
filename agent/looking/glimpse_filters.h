#pragma once

#include <span>

#include "agent/spec/pixel_scale.h"
#include "nn/convolution.h"
#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// The shape of a glimpse: (scale, channel, row, col), with squares of `side` pixels.
struct GlimpseShape {
  int size;  // D
  int channels, side;
  PixelScale pixels = {};  // how networks scale them

  int plane() const { return side * side; }
  int scale_size() const { return channels * plane(); }
  int scales() const { return size / scale_size(); }
};

/// A small convolution on each scale of a glimpse (model.glimpse_network: conv), with weights
/// shared by all scales: y_s = relu(w * rho_s + b), which the glimpse network reads instead of the
/// pixels. No padding, because the area beyond a glimpse is unseen rather than black.
class GlimpseFilters {
 public:
  struct Sizes {
    int filters, kernel_size, stride;
  };

  /// Workspace for R glimpses, of which N go backward together. Used by one thread at a time.
  struct Memory {
    Convolution convolution;
    Tensor<2> images, dimages;  // (R S, pixels), channels last; empty for one channel
    Tensor<2> y;                // outputs, (R, size)
    Tensor<2> dy;               // and the gradients of N of them, (N, size)
  };

  /// Parameters `glimpse.filters.weight` and `.bias`. Throws InputError naming model.glimpse_kernel
  /// if the kernel is larger than the glimpse. `layout` must outlive it.
  GlimpseFilters(const GlimpseShape& shape, const Sizes& sizes, ParameterLayout& layout);

  /// Size of a glimpse's outputs: (scale, row, col, filter).
  int size() const { return shape_.scales() * convolution_.output_size(); }
  Memory make_memory(int glimpses, int backward_glimpses) const;

  // All matrices are contiguous in memory.

  /// Writes rows `first` and on of y from N glimpses (N, D).
  void forward(Memory& memory, int first, ConstMatrix glimpses,
               std::span<const float> parameters) const;
  /// Turns dy (M, size), before the activation (relu_backward), into the gradients of M glimpses:
  /// overwrites dglimpses (M, D).
  void glimpse_backward(Matrix dglimpses, Memory& memory, Matrix dy,
                        std::span<const float> parameters) const;
  /// Turns dy (M, size), before the activation, into the gradients of the filters: overwrites them
  /// (beta = 0) or adds to them (beta = 1). glimpses (M, D) were rows `first` and on.
  void weight_backward(std::span<float> gradient, Memory& memory, Matrix dy, int first,
                       ConstMatrix glimpses, float beta) const;

  /// Multiply-adds of one glimpse.
  Work work(Input glimpse) const;

 private:
  // Rows `first` and on of a (N, S width) matrix, with one row per scale.
  template <class AnyMatrix>
  AnyMatrix scales(AnyMatrix m, int first, int glimpses) const;

  const ParameterLayout* layout_;
  GlimpseShape shape_;
  Convolution::Sizes convolution_;
  int weight_, bias_;
};

}  // namespace saccade
