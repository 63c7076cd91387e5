#pragma once

#include <memory>
#include <span>

#include "agent/spec/config.h"
#include "agent/spec/pixel_scale.h"
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

/// Convolutions whose output the glimpse network reads instead of the pixels. Their parameters are
/// `glimpse.filters.<..>`. Stateless; calls allocate nothing after the first.
class GlimpseFilters {
 public:
  /// Workspace for R glimpses, of which N go backward together: the gradients of glimpse r are in
  /// row r modulo N. Used by one thread at a time.
  class Memory {
   public:
    Memory(int glimpses, int backward_glimpses, int size)
        : y(zeros<2>(glimpses, size)), dy(zeros<2>(backward_glimpses, size)) {}
    virtual ~Memory() = default;

    /// The gradients of `count` glimpses, `first` and on, of a tensor with N rows.
    static Matrix gradients(Tensor<2>& tensor, int first, int count) {
      const Matrix all = matrix(tensor);
      return all.row_range(first % all.rows, count);
    }

    Tensor<2> y;   // outputs, (R, size), after a relu
    Tensor<2> dy;  // and their gradients, (N, size)
  };

  virtual ~GlimpseFilters() = default;

  /// Size of a glimpse's outputs.
  virtual int size() const = 0;
  virtual std::unique_ptr<Memory> make_memory(int glimpses, int backward_glimpses) const = 0;

  // All matrices are contiguous in memory, and `memory` must come from these filters.

  /// Writes rows `first` and on of y from M glimpses (M, D).
  virtual void forward(Memory& memory, int first, ConstMatrix glimpses,
                       std::span<const float> parameters) const = 0;
  /// Prepares the next two for `count` glimpses, `first` and on, whose dy is that of the outputs.
  /// Replaces dy by the gradient before the activation.
  virtual void backward(Memory& memory, int first, int count,
                        std::span<const float> parameters) const = 0;
  /// Overwrites the gradients of the pixels, dglimpses (M, D), of glimpses `first` and on.
  virtual void glimpse_backward(Matrix dglimpses, Memory& memory, int first,
                                std::span<const float> parameters) const = 0;
  /// Overwrites the gradients of the filters (beta = 0) or adds to them (beta = 1). glimpses (M, D)
  /// were rows `first` and on.
  virtual void weight_backward(std::span<float> gradient, Memory& memory, int first,
                               ConstMatrix glimpses, float beta) const = 0;

  /// Multiply-adds of one glimpse.
  virtual Work work(Input glimpse) const = 0;
};

/// model.glimpse_network: conv. A small convolution on each scale of a glimpse, with weights shared
/// by all scales: y_s = relu(w * rho_s + b), (scale, row, col, filter). No padding, because the
/// area beyond a glimpse is unseen rather than black. Parameters `weight` and `bias`. Throws
/// InputError naming model.glimpse_kernel if the kernel is larger than the glimpse. `layout` must
/// outlive the filters.
std::unique_ptr<GlimpseFilters> make_conv_filters(const ModelConfig& model,
                                                  const GlimpseShape& shape,
                                                  ParameterLayout& layout);

/// model.glimpse_network: residual. A residual network (He et al. 2016) of 3 x 3 convolutions,
/// which reads the scales of a glimpse as channels of one picture, in `glimpse_stages` stages.
/// Outputs: (row, col, filter) of the last. Padded with zeros, which keeps small glimpses their
/// size. A stage begins with y = relu(w * x + b), from the second on with stride 2 and twice the
/// filters, and has `glimpse_blocks` blocks y = relu(x + w_2 * relu(w_1 * x + b_1) + b_2). No
/// normalisation: w_2 starts at zero, so that a block begins as the identity (Fixup, Zhang et al.
/// 2019; SkipInit, De and Smith 2020). Parameters `stage<s>.enter`, `stage<s>.block<k>.first` and
/// `.second`, each with `.weight` and `.bias`. `layout` must outlive the filters.
std::unique_ptr<GlimpseFilters> make_residual_filters(const ModelConfig& model,
                                                      const GlimpseShape& shape,
                                                      ParameterLayout& layout);

}  // namespace saccade
