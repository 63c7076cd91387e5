#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agent/credit/advantage.h"
#include "agent/credit/reward.h"
#include "agent/model/model.h"
#include "agent/spec/config.h"
#include "env/glimpse_environment.h"
#include "nn/parameters.h"

namespace saccade {

constexpr int kTinyGlimpse = 18;  // D: 2 scales of 3 x 3
constexpr int kTinyClasses = 3;
constexpr ObservationSpec kTinySpec{.glimpse_size = kTinyGlimpse,
                                    .num_classes = kTinyClasses,
                                    .canvas = {1, 12, 12},
                                    .patch_size = 3};

/// An agent so small that an update takes microseconds. All sizes differ, so that swapped sizes are
/// detected.
inline AgentConfig tiny_config(const std::string& core = "rnn") {
  AgentConfig config;
  config.model = {.core = core,
                  .hidden_size = 5,
                  .heads = 5,
                  .depth = 2,
                  .glimpse_filters = 2,
                  .glimpse_kernel = 2,
                  .glimpse_stride = 1,
                  .glimpse_stages = 2,
                  .glimpse_blocks = 1,
                  .glimpse_hidden = 7,
                  .location_hidden = 4,
                  .feature_size = 8,
                  .locator_hidden = 6,
                  .context_size = 4,
                  .context_hidden = 10};
  config.glimpse.num_glimpses = 3;
  config.glimpse.std = {0.3, 0.3, 1.0};
  config.glimpse.grid = {.cells = {3, 2}, .stride = 4};
  config.glimpse.filters = 4;
  config.training.episodes = 3200;
  config.training.batch_size = 32;
  config.training.lane_size = 4;
  config.training.optimizer.learning_rate = 0.01;
  return config;
}

/// The rewards of an answer, and not of the beliefs after all looks.
inline std::vector<std::string> judged_rewards() {
  std::vector<std::string> names = reward_kinds();
  std::erase_if(names, [](const std::string& name) { return find_reward(name).reads_beliefs(); });
  return names;
}

/// Sets the agent's advantage, with a trace if it supports one.
inline void set_credit(AgentConfig& config, const std::string& advantage,
                       const std::string& reward) {
  config.reinforce.advantage = advantage;
  config.reinforce.reward = reward;
  const bool traces = find_advantage(advantage).traces || find_reward(reward).by_step;
  config.reinforce.trace = traces ? 0.6 : 1.0;
}

/// The default sizes, except for the glimpses.
inline AgentConfig full_size_config(const std::string& core) {
  AgentConfig config;
  config.model.core = core;
  config.training.episodes = 256 * 100;
  return config;
}

/// Twelve 6x6 digits of three classes: stripes whose slope is the class, each shifted from the
/// previous.
inline const Dataset& tiny_digits() {
  static const Dataset digits = [] {
    constexpr int kCount = 12, kSide = 6;
    Dataset set;
    set.images = xt::xtensor<std::uint8_t, 4>::from_shape({kCount, kSide, kSide, 1});
    set.labels = xt::xtensor<int, 1>::from_shape({kCount});
    set.classes = kTinyClasses;
    for (int n = 0; n < kCount; ++n) {
      set.labels(n) = n % kTinyClasses;
      for (int y = 0; y < kSide; ++y)
        for (int x = 0; x < kSide; ++x)
          set.images(n, y, x, 0) =
              static_cast<std::uint8_t>((n + y * (1 + n % kTinyClasses) + x) % 4 * 80);
    }
    return set;
  }();
  return digits;
}

/// These digits on a cluttered 12x12 canvas.
inline std::unique_ptr<Environment> tiny_environment(int episodes, int rollouts) {
  const SceneConfig scene{
      .kind = "cluttered", .canvas = {12, 12}, .num_distractors = 2, .distractor_size = 3};
  const SceneMaker scenes(scene, {}, tiny_digits(), DigitOrder::shuffled, 7);
  const Retina retina({.patch_size = 3, .scales = 2}, 12, 12, 1);
  return std::make_unique<GlimpseEnvironment>(scenes, retina, episodes, rollouts);
}

/// A zoom on these scenes, and the scenes seen with it.
constexpr LogRange kTinyZoom = {1.0, 2.5};

inline std::unique_ptr<Environment> zoomed_environment(int episodes, int rollouts) {
  const SceneConfig scene{
      .kind = "cluttered", .canvas = {12, 12}, .num_distractors = 2, .distractor_size = 3};
  const SceneMaker scenes(scene, {}, tiny_digits(), DigitOrder::shuffled, 7);
  const Retina retina({.patch_size = 3, .scales = 2}, 12, 12, 1, kTinyZoom);
  return std::make_unique<GlimpseEnvironment>(scenes, retina, episodes, rollouts);
}

/// Fills every parameter with N(0, deviation^2), including those initialised to zero.
inline void randomize(std::span<float> block, const ParameterLayout& layout, float deviation,
                      std::uint32_t seed) {
  for (int index = 0; index < static_cast<int>(layout.parameters().size()); ++index) {
    RandomStream stream(seed, Purpose::initial_weights, 0, static_cast<std::uint32_t>(index));
    const Parameter& p = layout.parameters()[index];
    for (float& value : block.subspan(p.offset, p.size())) value = deviation * stream.normal();
  }
}

/// The elements of one parameter within a block.
template <class T>
std::span<T> values_of(std::span<T> block, const Parameter& parameter) {
  return block.subspan(parameter.offset, parameter.size());
}

/// Returns the parameter with this name; throws std::out_of_range if there is none.
inline const Parameter& find_parameter(const ParameterLayout& layout, const std::string& name) {
  for (const Parameter& p : layout.parameters())
    if (p.name == name) return p;
  throw std::out_of_range("no parameter " + name);
}

/// The elements of a matrix, row by row.
inline std::vector<float> values_of(ConstMatrix m) {
  std::vector<float> values;
  for (int r = 0; r < m.rows; ++r) values.insert(values.end(), m.row(r), m.row(r) + m.cols);
  return values;
}

/// The largest |actual - expected| relative to the largest |expected|; infinite if the counts
/// differ or a number is not finite.
template <class Actual, class Expected>
double relative_error(const Actual& actual, const Expected& expected) {
  if (std::size(actual) != std::size(expected)) return INFINITY;
  double difference = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < std::size(actual); ++i) {
    const double a = actual[i], e = expected[i];
    if (!std::isfinite(a) || !std::isfinite(e)) return INFINITY;
    difference = std::max(difference, std::abs(a - e));
    largest = std::max(largest, std::abs(e));
  }
  return difference == 0.0 ? 0.0 : difference / largest;
}

}  // namespace saccade
