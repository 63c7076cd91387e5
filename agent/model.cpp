#include "agent/model.h"

#include <algorithm>
#include <cmath>

#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {

LinearHead::LinearHead(const std::string& name, int inputs, int outputs, const Initial& initial,
                       ParameterLayout& layout)
    : layout_(&layout),
      weight_(layout.add(name + ".weight", inputs, outputs, initial)),
      bias_(layout.add(name + ".bias", 1, outputs, constant(0))) {}

void LinearHead::forward(Matrix y, ConstMatrix h, std::span<const float> parameters) const {
  linear_forward(y, h, layout_->view(parameters, weight_), layout_->view(parameters, bias_));
}

void LinearHead::backward(std::span<float> gradient, ConstMatrix dy, ConstMatrix h) const {
  linear_backward(layout_->view(gradient, weight_), layout_->view(gradient, bias_), dy, h);
}

void LinearHead::state_backward(Matrix dh, ConstMatrix dy,
                                std::span<const float> parameters) const {
  multiply_transposed_b(dh, dy, layout_->view(parameters, weight_), 1.0F);
}

Locator::Locator(int inputs, int hidden, ParameterLayout& layout)
    : layout_(&layout),
      inputs_(inputs),
      width_(hidden),
      hidden_weight_(layout.add("locator.hidden.weight", inputs, hidden, he_normal(inputs))),
      hidden_bias_(layout.add("locator.hidden.bias", 1, hidden, constant(0))),
      mean_weight_(layout.add("locator.mean.weight", hidden, 2, normal(0.01F))),
      mean_bias_(layout.add("locator.mean.bias", 1, 2, constant(0))) {}

void Locator::forward(Matrix mean, Matrix hidden, ConstMatrix state,
                      std::span<const float> parameters) const {
  const auto p = [&](int index) { return layout_->view(parameters, index); };
  linear_relu_forward(hidden, state, p(hidden_weight_), p(hidden_bias_));
  linear_forward(mean, hidden, p(mean_weight_), p(mean_bias_));
  for (int r = 0; r < mean.rows; ++r)
    for (int axis = 0; axis < 2; ++axis) mean(r, axis) = std::tanh(mean(r, axis));
}

void Locator::backward(std::span<float> gradient, Matrix dhidden, Matrix dmean, ConstMatrix mean,
                       ConstMatrix hidden, ConstMatrix state,
                       std::span<const float> parameters) const {
  const auto d = [&](int index) { return layout_->view(gradient, index); };
  for (int r = 0; r < mean.rows; ++r)
    for (int axis = 0; axis < 2; ++axis) dmean(r, axis) *= 1.0F - mean(r, axis) * mean(r, axis);
  linear_backward(d(mean_weight_), d(mean_bias_), dmean, hidden);
  multiply_transposed_b(dhidden, dmean, layout_->view(parameters, mean_weight_));
  relu_backward(dhidden, hidden);
  linear_backward(d(hidden_weight_), d(hidden_bias_), dhidden, state);
}

Work Locator::work() const {
  return linear_work(inputs_, width_, false) + linear_work(width_, 2, true);
}

Model::Model(const AgentConfig& config, int glimpse_size, int num_classes)
    : config_(config),
      glimpse_size_(glimpse_size),
      num_classes_(num_classes),
      glimpse_network({.glimpse = glimpse_size,
                       .what = config.model.glimpse_hidden,
                       .where = config.model.location_hidden,
                       .features = config.model.feature_size},
                      layout_),
      core(make_core(config.model.core, config.model.feature_size, config.model.hidden_size,
                     layout_)),
      locator(config.model.hidden_size, config.model.locator_hidden, layout_),
      classifier("classifier", config.model.hidden_size, num_classes,
                 uniform_fan_in(config.model.hidden_size), layout_),
      baseline("baseline", config.model.hidden_size, 1, constant(0), layout_),
      first_location(
          config.glimpse.first == "learned" ? layout_.add("locator.first", 1, 2, constant(0)) : -1),
      log_std(config.glimpse.learn_std
                  ? layout_.add("locator.log_std", 1, 1,
                                constant(std::log(static_cast<float>(config.glimpse.std.from))))
                  : -1) {}

int Model::first_action() const {
  if (!policy_learns(config_.glimpse.kind)) return num_glimpses();
  return first_location >= 0 ? 0 : 1;
}

void Model::first_mean(float* mean, std::span<const float> parameters) const {
  const ConstMatrix first = layout_.view(parameters, first_location);
  for (int axis = 0; axis < 2; ++axis) mean[axis] = std::tanh(first(0, axis));
}

float Model::location_std(double progress, std::span<const float> parameters) const {
  if (log_std >= 0) return std::exp(*layout_.view(parameters, log_std).data);
  return static_cast<float>(config_.glimpse.std.at(progress));
}

Work Model::work() const {
  const int steps = num_glimpses();
  const int hidden = config_.model.hidden_size;
  const int classified = config_.training.step_loss > 0.0 ? steps : 1;
  const int placed = steps - std::max(first_action(), 1);  // the first has no state to read
  const bool has_baseline = config_.reinforce.advantage == "learned";
  return glimpse_network.work() * steps + core->work(steps) + locator.work() * placed +
         linear_work(hidden, num_classes_, true) * classified +
         linear_work(hidden, 1, false) * (has_baseline ? placed : 0);
}

double Model::gflop_per_episode() const {
  const Work total = work();
  return 2e-9 * static_cast<double>(total.forward + total.backward);
}

}  // namespace saccade
