#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "agent/learning/learner.h"
#include "agent/model/model.h"
#include "env/digits.h"
#include "env/environment.h"
#include "env/task_kinds.h"
#include "experiments/config/config.h"
#include "experiments/task/shared_digits.h"

namespace saccade {

/// Classes, symbols or actions of a task: a test keeps the confusion of each with each.
inline constexpr std::size_t kMaxClasses = 2000;

/// Everything of an experiment that learning does not change: its digits, its worlds, its model.
class Task {
 public:
  /// Reads the data. Throws InputError for data, scenes or a retina that cannot be, and for
  /// more than kMaxClasses.
  explicit Task(const Config& config);
  /// The same with the digits that others have, too; `shared` may be null.
  Task(const Config& config, SharedDigits* shared);
  /// The same with digits that are there already.
  Task(const Config& config, std::shared_ptr<const Digits> digits);
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  const Config config;
  const TaskKind& kind;

 private:
  const std::shared_ptr<const Digits> shared_digits_;

 public:
  const Digits& digits;                // none where scenes have no digits
  const std::optional<Retina> retina;  // where there is something to look at
  const Model model;

  /// A class, symbol or action in words: the name of a digit; the sum of several, or the two of a
  /// pair; a word; an action.
  std::string class_name(int label) const;
  /// What an agent said, in words.
  std::string spoken(std::span<const int> labels) const;
  /// Environments of training (fresh scenes, digits shuffled and augmented where that is on), of
  /// validation or of test (fixed by evaluation.seed and evaluation.scenes).
  EnvironmentFactory environments(Split split) const;
  /// The validation or test scenes of another evaluation: its seed draws them, and which digits
  /// they show where they are fewer than the digits (see TaskKind::make).
  EnvironmentFactory environments(Split split, const EvaluationConfig& evaluation) const;
  /// Scenes of a test: so many draws of evaluation.scenes, of which the first are those of a single
  /// draw; no scene twice, where the digits are all there is to one.
  int test_scenes(const EvaluationConfig& evaluation) const;

 private:
  EnvironmentFactory factory(Split split, std::uint64_t seed, int scenes) const;
};

}  // namespace saccade
