#include "agent/looking/glimpse_network.h"

#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
GlimpseNetwork::GlimpseNetwork(const Sizes& sizes, ParameterLayout& layout)
    : sizes_(sizes), layout_(&layout) {
  const auto [glimpse, what, where, features, location] = sizes;
  what_weight_ = layout.add("glimpse.what.weight", glimpse, what, he_normal(glimpse));
  what_bias_ = layout.add("glimpse.what.bias", 1, what, constant(0));
  where_weight_ = layout.add("glimpse.where.weight", location, where, he_normal(location));
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

void GlimpseNetwork::activation_backward(Matrix djoint, Matrix dfeature, ConstMatrix feature,
                                         ConstMatrix joint,
                                         std::span<const float> parameters) const {
  relu_backward(dfeature, feature);
  multiply_transposed_b(djoint, dfeature, layout_->view(parameters, joint_weight_));
  relu_backward(djoint, joint);
}

void GlimpseNetwork::location_backward(Matrix dlocation, ConstMatrix djoint,
                                       std::span<const float> parameters) const {
  multiply_transposed_b(dlocation, djoint.columns(sizes_.what, sizes_.where),
                        layout_->view(parameters, where_weight_));
}

void GlimpseNetwork::glimpse_backward(Matrix dglimpse, ConstMatrix dwhat,
                                      std::span<const float> parameters) const {
  multiply_transposed_b(dglimpse, dwhat, layout_->view(parameters, what_weight_));
}

void GlimpseNetwork::weight_backward(std::span<float> gradient, ConstMatrix djoint,
                                     ConstMatrix dfeature, ConstMatrix joint, ConstMatrix glimpse,
                                     ConstMatrix location, float beta) const {
  const auto d = [&](int index) { return layout_->view(gradient, index); };
  linear_backward(d(joint_weight_), d(joint_bias_), dfeature, joint, beta);
  linear_backward(d(what_weight_), d(what_bias_), djoint.columns(0, sizes_.what), glimpse, beta);
  linear_backward(d(where_weight_), d(where_bias_), djoint.columns(sizes_.what, sizes_.where),
                  location, beta);
}

GlimpseNetwork::Places::Places(ConstMatrix locations_, const Sizes& sizes)
    : locations(locations_),
      where(zeros<2>(locations.rows, sizes.where)),
      offset(zeros<2>(locations.rows, sizes.features)),
      dwhere(zeros<2>(locations.rows, sizes.where)),
      doffset(zeros<2>(locations.rows, sizes.features)) {}

void GlimpseNetwork::begin(Places& places, std::span<const float> parameters) const {
  const auto p = [&](int index) { return layout_->view(parameters, index); };
  linear_relu_forward(matrix(places.where), places.locations, p(where_weight_), p(where_bias_));
  linear_forward(matrix(places.offset), matrix(places.where),
                 p(joint_weight_).row_range(sizes_.what, sizes_.where), p(joint_bias_));
}

void GlimpseNetwork::forward(Matrix feature, Matrix what, const Places& places, ConstMatrix glimpse,
                             std::span<const float> parameters) const {
  const auto p = [&](int index) { return layout_->view(parameters, index); };
  linear_relu_forward(what, glimpse, p(what_weight_), p(what_bias_));
  multiply(feature, what, p(joint_weight_).row_range(0, sizes_.what));
  for (int first = 0; first < feature.rows; first += places.locations.rows)
    add_relu(feature.row_range(first, places.locations.rows), matrix(places.offset));
}

void GlimpseNetwork::backward(std::span<float> gradient, Matrix dwhat, Matrix dfeature,
                              Places& places, ConstMatrix feature, ConstMatrix what,
                              ConstMatrix glimpse, std::span<const float> parameters,
                              float beta) const {
  const auto d = [&](int index) { return layout_->view(gradient, index); };
  relu_backward(dfeature, feature);
  for (int first = 0; first < feature.rows; first += places.locations.rows)
    add(matrix(places.doffset), dfeature.row_range(first, places.locations.rows));
  multiply_transposed_b(dwhat, dfeature,
                        layout_->view(parameters, joint_weight_).row_range(0, sizes_.what));
  relu_backward(dwhat, what);
  multiply_transposed_a(d(joint_weight_).row_range(0, sizes_.what), what, dfeature, beta);
  linear_backward(d(what_weight_), d(what_bias_), dwhat, glimpse, beta);
}

void GlimpseNetwork::finish_backward(std::span<float> gradient, Places& places,
                                     std::span<const float> parameters) const {
  const auto d = [&](int index) { return layout_->view(gradient, index); };
  const Matrix doffset = matrix(places.doffset), dwhere = matrix(places.dwhere);
  linear_backward(d(joint_weight_).row_range(sizes_.what, sizes_.where), d(joint_bias_), doffset,
                  matrix(places.where));
  multiply_transposed_b(
      dwhere, doffset,
      layout_->view(parameters, joint_weight_).row_range(sizes_.what, sizes_.where));
  relu_backward(dwhere, matrix(places.where));
  linear_backward(d(where_weight_), d(where_bias_), dwhere, places.locations);
}

Work GlimpseNetwork::work(Input glimpse, Input location) const {
  return linear_work(sizes_.glimpse, sizes_.what, glimpse) +
         linear_work(sizes_.location, sizes_.where, location) +
         linear_work(joint_size(), sizes_.features);
}

Work GlimpseNetwork::work_in_place(Input glimpse) const {
  return linear_work(sizes_.glimpse, sizes_.what, glimpse) +
         linear_work(sizes_.what, sizes_.features);
}

}  // namespace saccade
