#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "env/catch.h"
#include "env/glimpse_environment.h"
#include "env/search.h"
#include "env/vector_environment.h"
#include "nn/random.h"
#include "tests/env/digit_fixtures.h"

namespace saccade {

/// Makes environments of one kind of scene, with digits of noise.
class NoiseWorlds {
 public:
  explicit NoiseWorlds(const std::string& kind) : digits_(noise_digits(13, 8, 8, 1, 10)) {
    scene_.kind = kind;
    scene_.distractor_size = 4;
    scene_.canvas = {20, 24};
    if (kind == "bag")
      scene_ = {.kind = kind, .canvas = {20, 30}, .num_digits = 5, .min_digits = 1};
    if (kind == "search") {
      digits_ = noise_digits(13, 8, 8, 1, 5);
      scene_ = {.kind = kind, .canvas = {20, 30}, .num_digits = 5, .min_digits = 1};
    }
    if (kind == "transcribe")
      scene_ = {.kind = kind,
                .canvas = {12, 40},
                .num_digits = 3,
                .min_digits = 1,
                .num_distractors = 1,
                .distractor_size = 4};
    settle(scene_);
  }

  EnvironmentFactory factory() const {
    return [this](int episodes, int rollouts) -> std::unique_ptr<Environment> {
      const Retina retina({5, 2, 2}, scene_.canvas[0], scene_.canvas[1], 1);
      if (scene_.kind == "catch")
        return std::make_unique<CatchEnvironment>(scene_.canvas, retina, Split::train, 1, episodes,
                                                  rollouts);
      if (scene_.kind == "search")
        return std::make_unique<SearchEnvironment>(scene_, AugmentationConfig{}, digits_,
                                                   DigitOrder::shuffled, retina, 1, episodes,
                                                   rollouts);
      const SceneMaker scenes(scene_, {}, digits_, DigitOrder::shuffled, 1);
      return std::make_unique<GlimpseEnvironment>(scenes, retina, episodes, rollouts);
    };
  }
  int num_boxes() const { return scene_.kind == "catch" ? 1 : scene_.num_digits; }

 private:
  SceneConfig scene_;
  Dataset digits_;
};

/// The arrays that N environments write into, and their actions.
struct VectorArrays {
  explicit VectorArrays(const VectorEnvironment& environments)
      : count(environments.size()),
        glimpses(zeros<2>(count, environments.glimpse_size())),
        places(zeros<2>(count, 2)),
        steps(count),
        labels(count * environments.answer_size()),
        boxes(count * environments.rules().num_boxes * 4),
        on_target(count),
        rewards(count),
        terminated(count),
        locations(zeros<2>(count, 2)),
        answers(count * environments.answer_size()),
        halts(count) {}

  VectorObservation seen() {
    return {matrix(glimpses), matrix(places), steps, labels, boxes, on_target};
  }
  VectorActions actions() const { return {matrix(locations), answers, halts}; }

  void reset(VectorEnvironment& environments, std::int64_t seed) {
    std::vector<std::int64_t> seeds(count);
    for (int i = 0; i < count; ++i) seeds[i] = seed + i;
    environments.reset(seeds, std::vector<std::uint8_t>(count, 1), seen());
  }
  // Random actions of environment i at its step, independent of the others.
  void act(int i, int first, int step, int classes) {
    const int size = static_cast<int>(answers.size()) / count;
    RandomStream stream(11, Purpose::policy_noise, step, first + i);
    for (int axis = 0; axis < 2; ++axis) locations(i, axis) = stream.uniform(-1.0F, 1.0F);
    for (int a = 0; a < size; ++a) answers[i * size + a] = stream.below(classes);
    halts[i] = static_cast<std::uint8_t>(stream.below(4) == 0);
  }
  void step(VectorEnvironment& environments, int step) {
    for (int i = 0; i < count; ++i) act(i, 0, step, environments.num_classes());
    environments.step(actions(), seen(), rewards, terminated);
  }
  // Everything that environment i returned.
  std::vector<double> row(int i) const {
    std::vector<double> all;
    const auto add = [&](const auto& numbers) {
      const std::size_t width = numbers.size() / count;
      all.insert(all.end(), numbers.begin() + i * width, numbers.begin() + (i + 1) * width);
    };
    add(glimpses), add(places), add(steps), add(labels), add(boxes), add(on_target);
    return all;
  }
  std::vector<double> everything() const {
    std::vector<double> all;
    for (int i = 0; i < count; ++i) {
      const std::vector<double> one = row(i);
      all.insert(all.end(), one.begin(), one.end());
      all.push_back(rewards[i]);
      all.push_back(terminated[i]);
    }
    return all;
  }

  int count;
  Tensor<2> glimpses, places;
  std::vector<std::int64_t> steps, labels, boxes;
  std::vector<std::uint8_t> on_target;
  std::vector<double> rewards;
  std::vector<std::uint8_t> terminated;
  Tensor<2> locations;
  std::vector<std::int64_t> answers;
  std::vector<std::uint8_t> halts;
};

}  // namespace saccade
