#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "agent/learning/learner.h"
#include "tests/agent/naive.h"
#include "tests/agent/support.h"

namespace saccade {

#ifdef SACCADE_THIN_TESTS
constexpr bool kThin = true;  // under sanitizers, which are slow
#else
constexpr bool kThin = false;
#endif
constexpr int kEpisodes = 12;
constexpr int kBatch = 24;  // twice the lane size
constexpr std::uint64_t kFirstScene = 3;

// A different value for each step.
inline std::vector<double> average_returns(int steps) {
  std::vector<double> averages;
  for (int t = 0; t < steps; ++t) averages.push_back(0.35 - 0.04 * t);
  return averages;
}

/// A tiny agent with every loss term of REINFORCE switched on.
inline AgentConfig busy_config(const std::string& core) {
  AgentConfig config = tiny_config(core);
  config.reinforce = {.rollouts = 2,
                      .advantage = "learned",
                      .reward = "probability",
                      .weight = 0.7,
                      .entropy = 0.05,
                      .baseline_weight = 0.6,
                      .constant = 0.2};
  config.training.classifier_weight = 0.9;
  config.training.step_loss = 0.4;
  return config;
}

/// A lane of an agent with random weights that has run once.
struct Played {
  explicit Played(const AgentConfig& config, const ObservationSpec& spec = kTinySpec,
                  const EnvironmentFactory& environments = tiny_environment)
      : model(config, spec),
        parameters(zeros<1>(model.layout().size())),
        lane(model, environments(kEpisodes, config.reinforce.rollouts)) {
    randomize(flat(parameters), model.layout(), 0.4F, 5);
    std = model.looking->exploration_at(0.0, flat(parameters)).std;
    sums = lane.run(flat(parameters),
                    {.first_scene = kFirstScene,
                     .seed = 11,
                     .update = 2,
                     .progress = 0.0,
                     .classify_every_step = config.training.step_loss > 0.0},
                    average_returns(model.num_glimpses()), kBatch);
  }

  Model model;
  Tensor<1> parameters;
  Lane lane;
  float std;
  LossSums sums;
};

/// The derivative of loss() with respect to `number`, by central differences. There may be a kink
/// nearby (of a relu, or at a pixel's edge): tries ever smaller steps and returns the result
/// closest to `fast`.
template <class Loss>
double difference(double& number, double fast, Loss&& loss) {
  const double centre = number;
  double best = INFINITY;
  for (double step = 1e-5; step > 1e-8; step /= 8.0) {
    number = centre + step;
    const double above = loss();
    number = centre - step;
    const double slope = (above - loss()) / (2.0 * step);
    number = centre;
    if (std::abs(slope - fast) < std::abs(best - fast)) best = slope;
    if (std::abs(best - fast) < 1e-5 * std::abs(fast) + 1e-7) break;
  }
  return best;
}

/// Compares the lane's gradient with central differences of loss(), the naive sum over the lane's
/// episodes as a function of `p`, at a dozen elements of each parameter (three with kThin, all of
/// which may be behind an inactive relu). Where reached(name) is false the gradient must be zero.
template <class Loss, class Reached>
void check_gradient(const Played& played, naive::Parameters& p, Loss&& loss, Reached&& reached) {
  constexpr std::size_t kSamples = kThin ? 3 : 12;
  for (const Parameter& parameter : played.model.layout().parameters()) {
    CAPTURE(parameter.name);
    const std::span<const float> fast = values_of(flat(played.lane.gradient), parameter);
    std::vector<double> expected, actual;
    std::size_t stride = (parameter.size() + kSamples - 1) / kSamples;
    while (std::gcd(stride, parameter.cols) > 1) ++stride;  // visits all columns
    for (std::size_t i = 0; i < parameter.size(); i += stride) {
      double& number = p.at(parameter.name).values[i];
      expected.push_back(difference(number, kBatch * fast[i], loss) / kBatch);
      actual.push_back(fast[i]);
    }
    const double largest =
        std::abs(std::ranges::max(expected, {}, [](double d) { return std::abs(d); }));
    CAPTURE(largest);
    if (reached(parameter.name)) {
      if (!kThin) CHECK(largest > 1e-6);
      // The losses, and the floats in their sums, are near 30: errors of 3e-8 are rounding.
      CHECK(relative_error(actual, expected) * largest < 1e-4 * std::max(largest, 3e-4));
    } else {
      CHECK(largest == 0.0);
      CHECK(std::ranges::all_of(fast, [](float g) { return g == 0.0F; }));
    }
  }
}

/// The parts of the model, as prefixes of parameter names, that received any gradient.
inline std::set<std::string> reached_parts(const Played& played) {
  std::set<std::string> parts;
  for (const Parameter& p : played.model.layout().parameters()) {
    const std::span<const float> gradient = values_of(flat(played.lane.gradient), p);
    if (std::ranges::all_of(gradient, [](float g) { return g == 0.0F; })) continue;
    const bool whole_name = p.name == "locator.first" || p.name == "locator.log_std";
    parts.insert(whole_name ? p.name : p.name.substr(0, p.name.find('.')));
  }
  return parts;
}

}  // namespace saccade
