#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/spec/config.h"
#include "agent/spec/observation_spec.h"
#include "env/area_resize.h"
#include "env/environment.h"
#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// Gives the locator, and only it, an overview of the whole canvas: c = relu(x W + b), where x is
/// the canvas shrunk to `size` x `size` pixels (AreaResize). This is the context network of Ba et
/// al. (2015, section 3.1), whose c initialises the state of a second recurrent layer above the
/// classified one; our agents have one recurrent layer, so the locator reads [h_t | c] instead of
/// h_t, with h_0 = 0. Core, glimpse network, classifier and baseline never read c.
///
/// The locator's hidden layer reads [h | c]. The contribution of c, c U, is computed here once per
/// episode.
class ContextNetwork {
 public:
  /// Parameters `locator.context.weight` (channels size size, Hc), `locator.context.bias`, and U,
  /// `locator.context.hidden.weight` (Hc, width of the locator's hidden layer). Throws InputError
  /// naming model.context_size if the canvas is smaller.
  ContextNetwork(const ModelConfig& model, const ObservationSpec& spec, ParameterLayout& layout);

  /// added (B, width) = c U, context (B, Hc) = c, thumbnails (B, channels size size)
  void forward(Matrix added, Matrix context, ConstMatrix thumbnails,
               std::span<const float> parameters) const;
  /// Overwrites the network's gradients (beta = 0) or adds to them (beta = 1), and overwrites
  /// dcontext (B, Hc), before its activation.
  void backward(std::span<float> gradient, Matrix dcontext, ConstMatrix dadded, ConstMatrix context,
                ConstMatrix thumbnails, std::span<const float> parameters, float beta = 0.0F) const;
  /// Overwrites dthumbnails (B, channels size size).
  void input_backward(Matrix dthumbnails, ConstMatrix dcontext,
                      std::span<const float> parameters) const;

  AreaResize make_resize() const {
    return {canvas_.channels, canvas_.rows, canvas_.cols, size_, size_};
  }
  CanvasSize canvas() const { return canvas_; }
  /// How it scales the pixels of a thumbnail.
  const PixelScale& pixels() const { return pixels_; }
  int plane() const { return size_ * size_; }  // pixels of one channel
  int thumbnail_size() const { return canvas_.channels * plane(); }
  int context_size() const { return hidden_; }  // Hc
  int added_size() const { return width_; }
  /// Multiply-adds per episode. Shrinking the canvas counts none.
  Work work() const;

 private:
  const ParameterLayout* layout_;
  CanvasSize canvas_;
  PixelScale pixels_;
  int size_, hidden_, width_;
  int weight_, bias_, added_weight_;
};

/// Makes the network that model.context asks for; nullopt for `none`. `layout` must outlive it.
std::optional<ContextNetwork> make_context_network(const ModelConfig& model,
                                                   const ObservationSpec& spec,
                                                   ParameterLayout& layout);

/// `none`, `thumbnail`.
std::vector<std::string> contexts();
/// Whether model.context is another than `none`.
bool has_context(const ModelConfig& model);

/// Runs a context network once per episode, for the B episodes of an environment, and its backward
/// pass. Without a network it does nothing, and added() and dadded() have no data.
class ContextPass {
 public:
  /// Keeps references to both.
  ContextPass(const std::optional<ContextNetwork>& network, Environment& environment);

  /// Call when new scenes begin: writes added().
  void forward(std::span<const float> parameters);
  /// The input of Locator::forward and the output of Locator::context_backward: (B, width).
  ConstMatrix added() const { return memory_ ? matrix(memory_->added) : ConstMatrix(); }
  Matrix dadded() { return memory_ ? matrix(memory_->dadded) : Matrix(); }
  /// Backward pass from dadded() to the parameters (beta as in ContextNetwork::backward).
  void backward(std::span<float> gradient, std::span<const float> parameters, float beta = 0.0F);
  /// Then from there to the canvas: adds to dcanvases (B, pixels).
  void input_backward(Matrix dcanvases, std::span<const float> parameters);

 private:
  struct Memory {
    Memory(const ContextNetwork& network, int episodes);

    AreaResize resize;
    Tensor<2> canvases;                 // (B, channels rows cols)
    Tensor<2> thumbnails, dthumbnails;  // (B, channels size size), scaled
    Tensor<2> context, dcontext;        // (B, Hc)
    Tensor<2> added, dadded;            // (B, width)
  };

  const std::optional<ContextNetwork>& network_;
  Environment& environment_;
  std::optional<Memory> memory_;
};

}  // namespace saccade
