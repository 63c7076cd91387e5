#include "agent/glimpse_network.h"

#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {

GlimpseNetwork::GlimpseNetwork(const Sizes& sizes, ParameterLayout& layout)
    : sizes_(sizes), layout_(&layout) {
  const auto [glimpse, what, where, features] = sizes;
  what_weight_ = layout.add("glimpse.what.weight", glimpse, what, he_normal(glimpse));
  what_bias_ = layout.add("glimpse.what.bias", 1, what, constant(0));
  where_weight_ = layout.add("glimpse.where.weight", 2, where, he_normal(2));
  where_bias_ = layout.add("glimpse.where.bias", 1, where, constant(0));
  joint_weight_ =
      layout.add("glimpse.joint.weight", what + where, features, he_normal(what + where));
  joint_bias_ = layout.add("glimpse.joint.bias", 1, features, constant(0));
}

void GlimpseNetwork::forward(Matrix feature, Matrix joint, ConstMatrix glimpse,
                             ConstMatrix location, std::span<const float> parameters) const {
  const auto p = [&](int index) { return layout_->view(parameters, index); };
  linear_relu_forward(joint.columns(0, sizes_.what), glimpse, p(what_weight_), p(what_bias_));
  linear_relu_forward(joint.columns(sizes_.what, sizes_.where), location, p(where_weight_),
                      p(where_bias_));
  linear_relu_forward(feature, joint, p(joint_weight_), p(joint_bias_));
}

void GlimpseNetwork::backward(std::span<float> gradient, Matrix djoint, Matrix dfeature,
                              ConstMatrix feature, ConstMatrix joint, ConstMatrix glimpse,
                              ConstMatrix location, std::span<const float> parameters) const {
  const auto d = [&](int index) { return layout_->view(gradient, index); };
  relu_backward(dfeature, feature);
  linear_backward(d(joint_weight_), d(joint_bias_), dfeature, joint);
  multiply_transposed_b(djoint, dfeature, layout_->view(parameters, joint_weight_));
  relu_backward(djoint, joint);
  linear_backward(d(what_weight_), d(what_bias_), djoint.columns(0, sizes_.what), glimpse);
  linear_backward(d(where_weight_), d(where_bias_), djoint.columns(sizes_.what, sizes_.where),
                  location);
}

Work GlimpseNetwork::work() const {
  return linear_work(sizes_.glimpse, sizes_.what, false) + linear_work(2, sizes_.where, false) +
         linear_work(joint_size(), sizes_.features, true);
}

}  // namespace saccade
