#pragma once

#include <optional>

#include "tests/agent/played.h"

// The gradient of a lane against the slopes of its own losses, by finite differences. What the
// numbers themselves must be, PyTorch says (test_reference_episodes.cpp).
namespace saccade {

/// How far `expected` is from the slope of loss(distance) at 0, where the loss is `centre`. A kink
/// (of a relu, at a pixel's edge) closer than a step spoils the difference on its side only. So the
/// slope is the mean of both differences or one of them, as it is or extrapolated from the step
/// before: the closest to `expected`. Halves the step until that is within `tolerance` or rounding
/// errors are as large.
template <class Loss>
double slope_error(Loss&& loss, double centre, double expected, double tolerance) {
  double error = INFINITY, left = NAN, right = NAN;
  for (double step = 4e-3; step > 5e-5 && error > tolerance; step /= 2.0) {
    const double wide_left = left, wide_right = right;
    left = (centre - loss(-step)) / step;
    right = (loss(step) - centre) / step;
    for (const double slope :
         {(left + right) / 2.0, left, right, 2.0 * left - wide_left, 2.0 * right - wide_right})
      if (std::abs(slope - expected) < error) error = std::abs(slope - expected);
  }
  return error;
}

/// Compares a gradient with the slope of loss(), a function of `numbers`, in a random direction, by
/// central differences, which it returns.
template <class Loss>
double check_random_slope(std::span<float> numbers, std::span<const float> gradient, Loss&& loss) {
  constexpr float kStep = 2e-4F;
  const std::vector<float> centre(numbers.begin(), numbers.end());
  RandomStream stream(4, Purpose::initial_weights, 0, 0);
  std::vector<float> direction(numbers.size());
  double expected = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < direction.size(); ++i) {
    direction[i] = stream.normal();
    expected += static_cast<double>(gradient[i]) * direction[i];
    squares += static_cast<double>(gradient[i]) * gradient[i];
  }
  const auto loss_at = [&](float distance) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = centre[i] + distance * direction[i];
    return loss();
  };
  const double slope = (loss_at(kStep) - loss_at(-kStep)) / (2.0 * kStep);
  std::ranges::copy(centre, numbers.begin());
  CHECK(squares > 0.0);
  CHECK(expected == doctest::Approx(slope).epsilon(0.005).scale(std::sqrt(squares)));
  return slope;
}

/// Compares the gradient of each parameter for which wanted(name) with the slope of loss(sums),
/// along the gradient and in a random direction. `replayed`, if given, are the actions of every
/// run.
template <class LossOf, class Wanted>
void check_slopes_of(Played& played, const Tensor<3>* replayed, LossOf&& loss, Wanted&& wanted) {
  const Tensor<1> gradient = played.gradient;
  std::uint32_t number = 0;
  for (const Parameter& p : played.model.layout().parameters()) {
    ++number;
    if (!wanted(p.name)) continue;
    CAPTURE(p.name);
    const std::span<float> weights = values_of(flat(played.parameters), p);
    const std::span<const float> fast = values_of(flat(gradient), p);
    const std::vector<float> centre(weights.begin(), weights.end());
    std::vector<double> direction(fast.begin(), fast.end());
    const double norm = std::sqrt(std::inner_product(fast.begin(), fast.end(), fast.begin(), 0.0));
    for (const bool along : {true, false}) {
      if (along && norm == 0.0) continue;
      CAPTURE(along);
      RandomStream stream(9, Purpose::initial_weights, 0, number);
      if (!along) std::ranges::generate(direction, [&] { return stream.normal(); });
      const double length =
          std::sqrt(std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0));
      for (double& d : direction) d /= length;
      const double expected =
          std::inner_product(fast.begin(), fast.end(), direction.begin(), 0.0) * kBatch;
      const auto loss_at = [&](double distance) {
        for (std::size_t i = 0; i < weights.size(); ++i)
          weights[i] = static_cast<float>(centre[i] + distance * direction[i]);
        return loss(played.run(replayed));
      };
      const double tolerance = 0.01 * kBatch * norm + 2e-3;
      const double error = slope_error(loss_at, loss(played.sums), expected, tolerance);
      std::ranges::copy(centre, weights.begin());
      CAPTURE(expected);
      CHECK(error <= tolerance);
    }
  }
}

/// The losses of a lane reach some parts as functions of the parameters and others with parts of
/// them held constant, as the comment above Lane says. So each is checked by itself:
/// - the classifier's loss and the penalties, with the sampled actions held constant, except for
///   points that are learned through what is seen there; and REINFORCE of actions;
/// - REINFORCE of looks as a function of the locator, that of a sampled stop as one of its head,
/// and
///   the baseline's loss as one of the baseline.
inline void check_slopes(const AgentConfig& given, const ObservationSpec& spec = kTinySpec,
                         const EnvironmentFactory& environments = tiny_environment) {
  const bool acts = spec.answer == AnswerKind::actions;
  AgentConfig config = given;
  config.glimpse.detach_state = false;
  config.reinforce.weight = config.reinforce.entropy = config.reinforce.baseline_weight = 0.0;
  // A learned baseline follows the states, which an advantage may not be seen to do.
  if (acts) set_credit(config, "constant", "correct");
  {
    Played played(config, spec, environments);
    const LookTraits& look = played.model.look();
    const Tensor<3> actions =
        look.looks && !look.differentiable ? played.lane.rollout().look->actions : Tensor<3>();
    check_slopes_of(
        played, actions.size() > 0 ? &actions : nullptr,
        [](const LossSums& sums) { return sums.classifier + sums.penalty + sums.reinforce; },
        [](const std::string&) { return true; });
  }
  Played played(given, spec, environments);
  if (!played.model.baseline || config.reinforce.estimator != "score") return;
  const Tensor<3> actions = played.lane.rollout().look->actions;
  if (!played.model.look().differentiable)
    check_slopes_of(
        played, &actions, [](const LossSums& sums) { return sums.reinforce; },
        [](const std::string& name) { return name.starts_with("locator."); });
  if (played.model.answer().samples_stops)
    check_slopes_of(
        played, &actions, [](const LossSums& sums) { return sums.reinforce; },
        [](const std::string& name) { return name.starts_with("stop."); });
  check_slopes_of(
      played, &actions, [](const LossSums& sums) { return sums.baseline; },
      [](const std::string& name) { return name.starts_with("baseline."); });
}

}  // namespace saccade
