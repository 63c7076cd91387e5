// Advantage estimators by hand, and REINFORCE without bias: where the exact gradient is
// known, the mean of many sampled gradients must equal it.
#include "agent/credit/advantage.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "agent/learning/learner.h"
#include "base/error.h"
#include "base/name_table.h"
#include "tests/agent/support.h"
#include "tests/agent/target_task.h"
#include "tests/check_contains.h"
#include "tests/support.h"

namespace saccade {
namespace {

TEST_CASE("advantages by hand") {
  Tensor<2> returns = {{1.0F, 0.0F, 0.5F, 0.25F}, {1.0F, 0.0F, 0.5F, 0.25F}};
  Tensor<2> baselines = {{0.5F, 0.25F, 0.5F, -1.0F}, {0.0F, 1.0F, 0.75F, 0.25F}};
  std::vector<double> average_returns = {0.25, 0.25};
  const auto advantages = [&](const std::string& name, int rollouts) {
    Tensor<2> result = zeros<2>(2, 4);
    find_advantage(name).estimate(matrix(result), {.returns = matrix(returns),
                                                   .baselines = matrix(baselines),
                                                   .rollouts = rollouts,
                                                   .constant = 0.5F,
                                                   .average_returns = average_returns});
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

  returns = {{1.0F, 0.0F, 0.5F, 0.25F}, {0.5F, 1.0F, 0.0F, 0.0F}};  // different for each action
  average_returns = {0.5, 0.25};
  CHECK(advantages("ema", 1) ==
        Tensor<2>{{0.5F, -0.5F, 0.0F, -0.25F}, {0.25F, 0.75F, -0.25F, -0.25F}});
  CHECK(advantages("constant", 1) ==
        Tensor<2>{{0.5F, -0.5F, 0.0F, -0.25F}, {0.0F, 0.5F, -0.5F, -0.5F}});
  CHECK(advantages("learned", 1) ==
        Tensor<2>{{0.5F, -0.25F, 0.0F, 1.25F}, {0.5F, 0.0F, -0.75F, -0.25F}});
  CHECK(advantages("leave_one_out", 2) ==
        Tensor<2>{{1.0F, -1.0F, 0.25F, -0.25F}, {-0.5F, 0.5F, 0.0F, 0.0F}});

  CHECK(message_of<InputError>([] { find_advantage("critic"); }) ==
        fmt::format("unknown reinforce.advantage 'critic'; allowed: {}",
                    join(advantage_estimators())));
}

TEST_CASE("generalised advantages by hand") {
  const Tensor<2> step_rewards = {{0.5F, 0.0F}, {0.0F, 1.0F}, {-0.25F, 0.0F}};  // (T, B)
  const Tensor<2> b = {{0.25F, 0.5F}, {0.5F, 0.25F}, {1.0F, 0.0F}};
  Tensor<2> result = zeros<2>(3, 2), returns = zeros<2>(3, 2);
  const auto estimate = [&](float discount, float trace) {
    find_advantage("gae").estimate(matrix(result), {.returns = {},
                                                    .baselines = matrix(b),
                                                    .step_rewards = matrix(step_rewards),
                                                    .discount = discount,
                                                    .trace = trace});
  };
  estimate(0.5F, 0.0F);  // only the temporal differences
  CHECK(result == Tensor<2>{{0.5F, -0.375F}, {0.0F, 0.75F}, {-1.25F, 0.0F}});
  estimate(0.5F, 0.5F);
  CHECK(result == Tensor<2>{{0.421875F, -0.1875F}, {-0.3125F, 0.75F}, {-1.25F, 0.0F}});
  estimate(0.5F, 1.0F);  // the returns minus the baseline
  discounted_returns(matrix(returns), matrix(step_rewards), 0.5F);
  CHECK(result == returns - b);
}

TEST_CASE("only some advantages have a trace") {
  const auto trace = [](const char* advantage, bool acts) {
    const Trace all =
        trace_of({.advantage = advantage, .reward = "gain", .trace = 0.5, .discount = 0.25}, acts);
    return std::array{all.of_returns, all.discount, all.of_advantage};
  };
  CHECK(trace("learned", false) == std::array{0.5F, 1.0F, 0.5F});
  CHECK(trace("gae", false) == std::array{1.0F, 1.0F, 0.5F});
  CHECK(trace("gae", true) == std::array{0.25F, 0.25F, 0.5F});
}

// ---- Exact expected gradient by enumerating every pair of looks ----

// The expected gradient of the locator of an agent that takes two looks at one scene, over all
// choices of its policy.
std::vector<float> expected_gradient(AgentConfig config, const std::string& advantage,
                                     const std::string& reward, double trace) {
  const int places = config.glimpse.grid.cells[0] * config.glimpse.grid.cells[1];
  const int pairs = places * places;
  config.reinforce.advantage = advantage;
  config.reinforce.reward = reward;
  config.reinforce.trace = trace;
  config.reinforce.rollouts = pairs;
  const Model model(config, kTinySpec);
  Tensor<1> parameters = zeros<1>(model.layout().size());
  randomize(flat(parameters), model.layout(), 0.7F, 9);
  Tensor<3> actions = zeros<3>(2, pairs, places);
  for (int b = 0; b < pairs; ++b) {
    actions(0, b, b / places) = 1.0F;
    actions(1, b, b % places) = 1.0F;
  }
  Rollout rollout(model, tiny_environment(pairs, pairs));
  rollout.run(flat(parameters), {.replay = &actions});
  Tensor<2> step_rewards = zeros<2>(2, pairs), returns = step_rewards, baselines = step_rewards,
            advantages = step_rewards;
  const Trace decay = trace_of(config.reinforce, false);
  rollout.answer->step_rewards(matrix(step_rewards));
  discounted_returns(matrix(returns), matrix(step_rewards), decay.of_returns);
  CriticMemory critic = model.baseline->make_memory(2, pairs);
  rollout.estimate_baselines(baselines, critic, flat(parameters));
  const std::vector<double> average_returns = {0.4, 0.3};
  find_advantage(advantage).estimate(matrix(advantages), {.returns = matrix(returns),
                                                          .baselines = matrix(baselines),
                                                          .constant = 0.3F,
                                                          .average_returns = average_returns,
                                                          .step_rewards = matrix(step_rewards),
                                                          .trace = decay.of_advantage});
  for (int b = 0; b < pairs; ++b) {
    const float chance =
        rollout.look->decisions(0, b, b / places) * rollout.look->decisions(1, b, b % places);
    for (int t = 0; t < 2; ++t) advantages(t, b) *= chance;
  }
  Tensor<1> gradient = zeros<1>(model.layout().size());
  rollout.look->loss_backward(flat(gradient), {.advantages = matrix(advantages)}, flat(parameters));
  std::vector<float> locator;
  for (const Parameter& p : model.layout().parameters())
    if (p.name.starts_with("locator."))
      std::ranges::copy(values_of(flat(gradient), p), std::back_inserter(locator));
  return locator;
}

TEST_CASE("gain with trace 1 has the expected gradient of probability, whatever the baseline") {
  AgentConfig config = tiny_config();
  config.glimpse.kind = "hard_categorical";
  config.glimpse.first = "learned";
  config.glimpse.num_glimpses = 2;
  for (const std::string moves : {"absolute", "relative"}) {
    CAPTURE(moves);
    config.glimpse.moves = moves;
    if (moves == "relative") config.glimpse.grid.cells = {3, 3};
    const std::vector<float> exact = expected_gradient(config, "none", "probability", 1.0);
    for (const std::string& advantage : advantage_estimators()) {
      if (find_advantage(advantage).min_rollouts > 1) continue;  // needs the other rollouts
      CAPTURE(advantage);
      CHECK(relative_error(expected_gradient(config, advantage, "probability", 1.0), exact) < 1e-3);
      CHECK(relative_error(expected_gradient(config, advantage, "gain", 1.0), exact) < 1e-3);
      CHECK(relative_error(expected_gradient(config, advantage, "gain", 0.5), exact) > 3e-2);
    }
  }
}

// ---- A policy with one action whose expected reward is known ----

using Gradient = std::array<double, 3>;  // with respect to theta_x, theta_y, log(std)

// Gradient of the expected reward P(x >= left) P(top <= y <= bottom).
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

// The mean over the episodes of one update of reward * d log pi(place).
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
    Tensor<1> gradient = zeros<1>(model.layout().size());
    const std::span<const float> first =
        values_of(flat(std::as_const(gradient)), find_parameter(model.layout(), "locator.first"));
    const std::span<const float> log_std =
        values_of(flat(std::as_const(gradient)), find_parameter(model.layout(), "locator.log_std"));

    Average ours, unclamped, clamped;
    std::vector<double> average_returns = {0.0};  // of earlier updates, for `ema`
    for (std::uint32_t update = 0; update < kUpdates; ++update) {
      const LossSums sums = lane.run(flat(gradient), flat(parameters),
                                     {.seed = 3, .update = update}, average_returns, kBatch);
      average_returns[0] = 0.9 * average_returns[0] + 0.1 * sums.reward / kBatch;
      ours.add({-first[0], -first[1], -log_std[0]});  // the loss is the negative reward
      unclamped.add(gradient_at(lane.rollout().look->actions, lane.rollout()));
      clamped.add(gradient_at(lane.rollout().look->locations, lane.rollout()));
    }
    CHECK(ours.deviation(exact) < 4.0);
    CHECK(unclamped.deviation(exact) < 4.0);
    // The test can fail: using the log-probability of the clamped place is a known mistake, and
    // subtracting a mean that includes the episode's own reward shrinks the gradient.
    CHECK(clamped.deviation(exact) > 8.0);
    Gradient shrunk = exact;
    for (double& g : shrunk) g *= 1.0 - 1.0 / config.reinforce.rollouts;
    CHECK(ours.deviation(shrunk) > 8.0);
  }
}

}  // namespace
}  // namespace saccade
