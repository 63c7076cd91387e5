// A policy with one action whose expected reward is known.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "env/environment.h"
#include "tests/agent/support.h"

namespace saccade {

// The target extends beyond the canvas edge, where samples are clamped.
inline constexpr float kLeft = 0.6F, kTop = -0.3F,
                       kBottom = 0.9F;  // x >= kLeft, kTop <= y <= kBottom
inline constexpr float kStd = 0.4F;
inline constexpr std::array<float, 2> kTheta = {0.9F, 0.3F};  // mu = tanh(theta)

// Shows 1 on the target, otherwise 0. Every episode has class 1.
class TargetEnvironment final : public Environment {
 public:
  explicit TargetEnvironment(int episodes) : facts_(episodes) {
    for (SceneFacts& facts : facts_) facts.label = 1;
  }
  int episodes() const override { return static_cast<int>(facts_.size()); }
  int glimpse_size() const override { return 1; }
  int num_classes() const override { return 2; }
  std::span<const SceneFacts> facts() const override { return facts_; }

 private:
  void begin(std::uint64_t) override {}
  void observe(ConstMatrix locations, Matrix glimpses) override {
    for (int b = 0; b < locations.rows; ++b) {
      const float x = locations(b, 0), y = locations(b, 1);
      glimpses(b, 0) = x >= kLeft && y >= kTop && y <= kBottom ? 1.0F : 0.0F;
    }
  }

  std::vector<SceneFacts> facts_;
};

// One glimpse at a learned place; predicts class 1 if and only if it sees the target.
inline AgentConfig one_action_config() {
  AgentConfig config;
  config.model = {.core = "rnn",
                  .hidden_size = 1,
                  .glimpse_hidden = 1,
                  .location_hidden = 1,
                  .feature_size = 1,
                  .locator_hidden = 1};
  config.glimpse = {.num_glimpses = 1, .first = "learned", .learn_std = true};
  config.reinforce.rollouts = 4;
  return config;
}

inline Tensor<1> one_action_parameters(const ParameterLayout& layout) {
  Tensor<1> block = zeros<1>(layout.size());
  const auto set = [&](const std::string& name, const std::vector<float>& values) {
    std::ranges::copy(values, values_of(flat(block), find_parameter(layout, name)).begin());
  };
  set("glimpse.what.weight", {1.0F});
  set("glimpse.joint.weight", {1.0F, 0.0F});
  set("core.weight", {1.0F, 0.0F});
  set("classifier.weight", {-1.0F, 1.0F});
  set("classifier.bias", {0.5F, -0.5F});
  set("baseline.bias", {0.3F});
  set("locator.first", {kTheta[0], kTheta[1]});
  set("locator.log_std", {std::log(kStd)});
  return block;
}

}  // namespace saccade
