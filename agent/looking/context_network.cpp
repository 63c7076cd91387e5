#include "agent/looking/context_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

std::span<float> row_of(Tensor<2>& tensor, int b) {
  const std::size_t width = tensor.shape()[1];
  return {&tensor(b, 0), width};
}

}  // namespace

ContextNetwork::ContextNetwork(const ModelConfig& model, const ObservationSpec& spec,
                               ParameterLayout& layout)
    : layout_(&layout),
      canvas_(spec.canvas),
      pixels_(spec.pixels),
      size_(model.context_size),
      hidden_(model.context_hidden),
      width_(model.locator_hidden) {
  const int shorter = std::min(canvas_.rows, canvas_.cols);
  if (size_ > shorter)
    throw SettingError(
        {"model.context_size"},
        fmt::format("model.context_size: {} pixels, where the canvas has {} x {}; allowed: up to "
                    "the shorter side ({})",
                    size_, canvas_.rows, canvas_.cols, shorter));
  const int pixels = thumbnail_size();
  weight_ = layout.add("locator.context.weight", pixels, hidden_, he_normal(pixels));
  bias_ = layout.add("locator.context.bias", 1, hidden_, constant(0));
  added_weight_ = layout.add("locator.context.hidden.weight", hidden_, width_,
                             he_normal(model.hidden_size + hidden_));
}

void ContextNetwork::forward(Matrix added, Matrix context, ConstMatrix thumbnails,
                             std::span<const float> parameters) const {
  const auto p = [&](int index) { return layout_->view(parameters, index); };
  linear_relu_forward(context, thumbnails, p(weight_), p(bias_));
  multiply(added, context, p(added_weight_));
}

void ContextNetwork::backward(std::span<float> gradient, Matrix dcontext, ConstMatrix dadded,
                              ConstMatrix context, ConstMatrix thumbnails,
                              std::span<const float> parameters, float beta) const {
  const auto d = [&](int index) { return layout_->view(gradient, index); };
  multiply_transposed_a(d(added_weight_), context, dadded, beta);
  multiply_transposed_b(dcontext, dadded, layout_->view(parameters, added_weight_));
  relu_backward(dcontext, context);
  linear_backward(d(weight_), d(bias_), dcontext, thumbnails, beta);
}

void ContextNetwork::input_backward(Matrix dthumbnails, ConstMatrix dcontext,
                                    std::span<const float> parameters) const {
  multiply_transposed_b(dthumbnails, dcontext, layout_->view(parameters, weight_));
}

Work ContextNetwork::work() const {
  return linear_work(thumbnail_size(), hidden_, Input::constant) + linear_work(hidden_, width_);
}

std::optional<ContextNetwork> make_context_network(const ModelConfig& model,
                                                   const ObservationSpec& spec,
                                                   ParameterLayout& layout) {
  if (!has_context(model)) return {};
  return std::optional<ContextNetwork>(std::in_place, model, spec, layout);
}

std::vector<std::string> contexts() { return {"none", "thumbnail"}; }
bool has_context(const ModelConfig& model) { return model.context != "none"; }

ContextPass::Memory::Memory(const ContextNetwork& network, int episodes)
    : resize(network.make_resize()),
      canvases(zeros<2>(episodes, network.canvas().pixels())),
      thumbnails(zeros<2>(episodes, network.thumbnail_size())),
      dthumbnails(thumbnails),
      context(zeros<2>(episodes, network.context_size())),
      dcontext(context),
      added(zeros<2>(episodes, network.added_size())),
      dadded(added) {}

ContextPass::ContextPass(const std::optional<ContextNetwork>& network, Environment& environment)
    : network_(network), environment_(environment) {
  if (network) memory_.emplace(*network, environment.episodes());
}

void ContextPass::forward(std::span<const float> parameters) {
  if (!memory_) return;
  Memory& m = *memory_;
  environment_.view(matrix(m.canvases));
  for (int b = 0; b < environment_.episodes(); ++b)
    m.resize.forward(row_of(m.thumbnails, b), row_of(m.canvases, b));
  network_->pixels().forward(matrix(m.thumbnails), network_->plane());
  network_->forward(matrix(m.added), matrix(m.context), matrix(m.thumbnails), parameters);
}

void ContextPass::backward(std::span<float> gradient, std::span<const float> parameters,
                           float beta) {
  if (!memory_) return;
  Memory& m = *memory_;
  network_->backward(gradient, matrix(m.dcontext), matrix(m.dadded), matrix(m.context),
                     matrix(m.thumbnails), parameters, beta);
}

void ContextPass::input_backward(Matrix dcanvases, std::span<const float> parameters) {
  if (!memory_) return;
  Memory& m = *memory_;
  network_->input_backward(matrix(m.dthumbnails), matrix(m.dcontext), parameters);
  network_->pixels().backward(matrix(m.dthumbnails), network_->plane());
  // The canvases are no longer needed, so their memory takes the gradient.
  for (int b = 0; b < dcanvases.rows; ++b)
    m.resize.backward(row_of(m.canvases, b), row_of(m.dthumbnails, b));
  add(dcanvases, matrix(m.canvases));
}

}  // namespace saccade
