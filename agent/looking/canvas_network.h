#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

struct CanvasSizes {
  int channels, rows, cols;          // canvas size
  int hidden;                        // mlp: width of the hidden layer
  std::array<int, 2> conv_channels;  // cnn: channels of the two layers
  int kernel_size;                   // cnn: side in pixels
  int features;                      // F

  int canvas_size() const { return channels * rows * cols; }
};

/// Workspace of a network for B canvases, from forward to backward. Used by one thread at a time.
class CanvasMemory {
 public:
  virtual ~CanvasMemory() = default;
};

/// Encodes a whole canvas as one feature: the full-view baselines that Mnih et al. (2014, tables 1
/// and 2) compare with. Stateless; calls allocate nothing after the first.
class CanvasNetwork {
 public:
  virtual ~CanvasNetwork() = default;

  /// Makes the workspace for `episodes` canvases (B) at a time.
  virtual std::unique_ptr<CanvasMemory> make_memory(int episodes) const = 0;

  /// feature (B, F), canvases (B, channels rows cols) in that order, pixels in [0, 1]. `memory`
  /// must come from this network.
  virtual void forward(Matrix feature, CanvasMemory& memory, ConstMatrix canvases,
                       std::span<const float> parameters) const = 0;
  /// After forward with the same arguments. Overwrites this network's gradients, and replaces
  /// dfeature (B, F) by its gradient before the activation.
  virtual void backward(std::span<float> gradient, CanvasMemory& memory, Matrix dfeature,
                        ConstMatrix feature, ConstMatrix canvases,
                        std::span<const float> parameters) const = 0;

  /// After backward: overwrites the gradient of the canvases (B, channels rows cols).
  virtual void input_backward(Matrix dcanvases, CanvasMemory& memory,
                              std::span<const float> parameters) const = 0;

  /// Multiply-adds of one canvas.
  virtual Work work() const = 0;
};

/// `mlp`: g = relu(W_2 relu(W_1 x + b_1) + b_2);
/// `cnn`: two convolutions of stride 2, padded by half a kernel, and a linear layer, each with a
/// relu. Throws InputError listing the valid kinds, or naming the key of an invalid size. `layout`
/// must outlive it.
std::unique_ptr<CanvasNetwork> make_canvas_network(const std::string& kind,
                                                   const CanvasSizes& sizes,
                                                   ParameterLayout& layout);
std::vector<std::string> canvas_network_kinds();

}  // namespace saccade
