#pragma once

#include "agent/learner.h"
#include "agent/model.h"
#include "env/digits.h"
#include "env/environment.h"
#include "experiments/config.h"

namespace saccade {

/// Everything of an experiment that learning does not change: its digits, its worlds, its model.
class Task {
 public:
  /// Reads the data. Throws InputError for data, scenes or a retina that cannot be.
  explicit Task(const Config& config);
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  const Config config;
  const Digits digits;
  const Retina retina;
  const SceneMaker train_scenes;  // fresh ones, digits shuffled, augmented where that is on
  const SceneMaker valid_scenes;  // fixed by evaluation.seed
  const SceneMaker test_scenes;   // fixed by evaluation.seed
  const Model model;

  /// A class in words: its name; the sum of several digits, or the two of a pair.
  std::string class_name(int label) const;
  /// Canvas pixels under the looks of an episode, each as often as it is looked at: all that the
  /// widest scale covers, of every candidate that is looked at.
  double canvas_pixels_per_episode() const;

  /// Environments of `scenes`, one of the three above.
  EnvironmentFactory environments(const SceneMaker& scenes) const;
};

}  // namespace saccade
