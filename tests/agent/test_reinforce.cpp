// Advantage estimators and rewards by hand, and REINFORCE without bias: where the exact gradient is
// known, the mean of many sampled ones must be it.
#include "agent/learning/reinforce.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "agent/learning/learner.h"
#include "nn/error.h"
#include "tests/agent/support.h"

namespace saccade {
namespace {

TEST_CASE("advantages by hand") {
  Tensor<2> returns = {{1.0F, 0.0F, 0.5F, 0.25F}, {1.0F, 0.0F, 0.5F, 0.25F}};
  Tensor<2> baselines = {{0.5F, 0.25F, 0.5F, -1.0F}, {0.0F, 1.0F, 0.75F, 0.25F}};
  const auto advantages = [&](const std::string& name, int rollouts) {
    Tensor<2> result = zeros<2>(2, 4);
    find_advantage(name)(matrix(result), {.returns = matrix(returns),
                                          .baselines = matrix(baselines),
                                          .rollouts = rollouts,
                                          .constant = 0.5F,
                                          .average_reward = 0.25F});
    return result;
  };
  const auto both = [](std::array<float, 4> row) {  // the same for both actions
    return Tensor<2>{{row[0], row[1], row[2], row[3]}, {row[0], row[1], row[2], row[3]}};
  };
  CHECK(advantages("none", 1) == both({1.0F, 0.0F, 0.5F, 0.25F}));
  CHECK(advantages("constant", 1) == both({0.5F, -0.5F, 0.0F, -0.25F}));
  CHECK(advantages("ema", 1) == both({0.75F, -0.25F, 0.25F, 0.0F}));
  CHECK(advantages("learned", 1) ==
        Tensor<2>{{0.5F, -0.25F, 0.0F, 1.25F}, {1.0F, -1.0F, -0.25F, 0.0F}});
  CHECK(advantages("leave_one_out", 2) == both({1.0F, -1.0F, 0.25F, -0.25F}));
  CHECK(relative_error(advantages("leave_one_out", 4),
                       both({0.75F, -7.0F / 12.0F, 1.0F / 12.0F, -0.25F})) < 1e-6);

  returns = {{1.0F, 0.0F, 0.5F, 0.25F}, {0.5F, 1.0F, 0.0F, 0.0F}};  // of each action its own
  CHECK(advantages("constant", 1) ==
        Tensor<2>{{0.5F, -0.5F, 0.0F, -0.25F}, {0.0F, 0.5F, -0.5F, -0.5F}});
  CHECK(advantages("learned", 1) ==
        Tensor<2>{{0.5F, -0.25F, 0.0F, 1.25F}, {0.5F, 0.0F, -0.75F, -0.25F}});
  CHECK(advantages("leave_one_out", 2) ==
        Tensor<2>{{1.0F, -1.0F, 0.25F, -0.25F}, {-0.5F, 0.5F, 0.0F, 0.0F}});

  CHECK_THROWS_WITH_AS(
      find_advantage("critic"),
      "unknown reinforce.advantage 'critic'; allowed: none, constant, ema, learned, leave_one_out",
      InputError);
}

TEST_CASE("rewards by hand") {
  const std::vector<float> correct = {0.0F, 1.0F};
  const std::vector<int> labels = {2, 0};
  const Tensor<2> probabilities = {{0.2F, 0.5F, 0.3F}, {0.9F, 0.1F, 0.0F}};
  std::vector<float> rewards(2);
  find_reward("correct")(rewards, correct, matrix(probabilities), labels);
  CHECK(rewards == correct);
  find_reward("probability")(rewards, correct, matrix(probabilities), labels);
  CHECK(rewards == std::vector{0.3F, 0.9F});
  CHECK_THROWS_WITH_AS(find_reward("score"),
                       "unknown reinforce.reward 'score'; allowed: correct, probability",
                       InputError);
}

// ---- A policy with one action whose expected reward is known ----

// The target reaches over the canvas' edge, where samples are clamped.
constexpr float kLeft = 0.6F, kTop = -0.3F, kBottom = 0.9F;  // x >= kLeft, kTop <= y <= kBottom
constexpr float kStd = 0.4F;
constexpr std::array<float, 2> kTheta = {0.9F, 0.3F};  // mu = tanh(theta)

// Shows 1 on the target, else 0. Every episode is of class 1.
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

// One glimpse at a learned place; says class 1 if and only if it sees the target.
AgentConfig one_action_config() {
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

Tensor<1> one_action_parameters(const ParameterLayout& layout) {
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

using Gradient = std::array<double, 3>;  // by theta_x, theta_y, log(std)

// Of the expected reward P(x >= left) P(top <= y <= bottom).
Gradient exact_gradient() {
  const auto density = [](double z) {
    return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
  };
  const auto below = [](double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); };
  const double mu_x = std::tanh(static_cast<double>(kTheta[0]));
  const double mu_y = std::tanh(static_cast<double>(kTheta[1]));
  const double left = (kLeft - mu_x) / kStd;
  const double top = (kTop - mu_y) / kStd, bottom = (kBottom - mu_y) / kStd;
  const double p_x = 1.0 - below(left), p_y = below(bottom) - below(top);
  return {density(left) / kStd * p_y * (1.0 - mu_x * mu_x),
          p_x * (density(top) - density(bottom)) / kStd * (1.0 - mu_y * mu_y),
          density(left) * left * p_y + p_x * (density(top) * top - density(bottom) * bottom)};
}

// Mean and standard error of independent gradients.
struct Average {
  void add(const Gradient& g) {
    ++count;
    for (int i = 0; i < 3; ++i) {
      sum[i] += g[i];
      squares[i] += g[i] * g[i];
    }
  }
  /// The largest deviation from `exact`, in standard errors.
  double deviation(const Gradient& exact) const {
    double worst = 0.0;
    for (int i = 0; i < 3; ++i) {
      const double mean = sum[i] / count;
      const double error = std::sqrt((squares[i] / count - mean * mean) / (count - 1));
      worst = std::max(worst, std::abs(mean - exact[i]) / error);
    }
    return worst;
  }

  double count = 0;
  Gradient sum{}, squares{};
};

// The mean over the episodes of reward * d log pi(place) of one update.
Gradient gradient_at(const Tensor<3>& places, const Rollout& rollout) {
  Gradient g{};
  for (int b = 0; b < rollout.episodes(); ++b) {
    std::array<float, 2> dmean{};
    const float* mean = &rollout.look->decisions(0, b, 0);
    const float scale = rollout.answer->rewards[b] / static_cast<float>(rollout.episodes());
    g[2] += gaussian_log_probability_backward(dmean.data(), &places(0, b, 0), mean, kStd, scale);
    for (int axis = 0; axis < 2; ++axis) g[axis] += dmean[axis] * (1.0F - mean[axis] * mean[axis]);
  }
  return g;
}

TEST_CASE("the mean of many REINFORCE gradients is the gradient of the expected reward") {
  constexpr int kBatch = 200;
  constexpr std::uint32_t kUpdates = 1000;
  const Gradient exact = exact_gradient();
  for (const std::string& estimator : advantage_estimators()) {
    CAPTURE(estimator);
    AgentConfig config = one_action_config();
    config.reinforce.advantage = estimator;
    const Model model(config, {.glimpse_size = 1, .num_classes = 2});
    const Tensor<1> parameters = one_action_parameters(model.layout());
    Lane lane(model, std::make_unique<TargetEnvironment>(kBatch));
    const std::span<const float> first = values_of(flat(std::as_const(lane.gradient)),
                                                   find_parameter(model.layout(), "locator.first"));
    const std::span<const float> log_std = values_of(
        flat(std::as_const(lane.gradient)), find_parameter(model.layout(), "locator.log_std"));

    Average ours, unclamped, clamped;
    double average_reward = 0.0;  // of earlier updates, for `ema`
    for (std::uint32_t update = 0; update < kUpdates; ++update) {
      const LossSums sums = lane.run(flat(parameters), {.seed = 3, .update = update, .std = kStd},
                                     static_cast<float>(average_reward), kBatch);
      average_reward = 0.9 * average_reward + 0.1 * sums.reward / kBatch;
      ours.add({-first[0], -first[1], -log_std[0]});  // the loss is minus the reward
      unclamped.add(gradient_at(lane.rollout().look->actions, lane.rollout()));
      clamped.add(gradient_at(lane.rollout().look->locations, lane.rollout()));
    }
    CHECK(ours.deviation(exact) < 4.0);
    CHECK(unclamped.deviation(exact) < 4.0);
    // The test can tell wrong from right: the log-probability of the clamped place is a known
    // mistake, and to subtract a mean that holds the episode's own reward shrinks the gradient.
    CHECK(clamped.deviation(exact) > 8.0);
    Gradient shrunk = exact;
    for (double& g : shrunk) g *= 1.0 - 1.0 / config.reinforce.rollouts;
    CHECK(ours.deviation(shrunk) > 8.0);
  }
}

}  // namespace
}  // namespace saccade
