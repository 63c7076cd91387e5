#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/spec/observation_spec.h"
#include "env/digits.h"
#include "env/environment.h"
#include "env/task_kinds.h"
#include "experiments/config/config.h"
#include "experiments/task/shared_digits.h"

namespace saccade {

/// Most classes, symbols or actions of a task: a test keeps the confusion between all pairs.
inline constexpr std::size_t kMaxClasses = 2000;

/// What an experiment shows an agent and asks of it: its dataset and environments, without a
/// network.
class World {
 public:
  /// Reads the data. Throws InputError for invalid data, scenes or retina, and for more than
  /// kMaxClasses.
  explicit World(const Config& config);
  /// The same with a shared dataset; `shared` may be null. Environments show the scenes or the
  /// world of `sources` if those of the task are given by a program.
  World(const Config& config, SharedDatasets* shared, const SceneSources& sources = {});
  /// The same with a dataset that is already loaded.
  World(const Config& config, std::shared_ptr<const Digits> digits,
        const SceneSources& sources = {});
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const Config config;
  const TaskKind& kind;

 private:
  const std::shared_ptr<const Digits> shared_digits_;
  const SceneSources sources_;

 public:
  const Digits& digits;                // empty if scenes have no digits
  const std::optional<Retina> retina;  // empty if there is nothing to look at
  const ObservationSpec spec;

  /// Returns the text of a class, symbol or action: the name of a digit; the sum of several, or the
  /// two of a pair; a word; an action.
  std::string class_name(int label) const;
  /// Returns those of all, (C).
  std::vector<std::string> class_names() const;
  /// Returns an agent's answer as text.
  std::string spoken(std::span<const int> labels) const;
  /// Environments for training (fresh scenes; digits shuffled, and augmented if enabled), for
  /// validation or for test (fixed by evaluation.seed and evaluation.scenes).
  EnvironmentFactory environments(Split split) const;
  /// The validation or test scenes of another evaluation: its seed draws the scenes, and which
  /// digits they show if there are fewer scenes than digits (see TaskKind::make).
  EnvironmentFactory environments(Split split, const EvaluationConfig& evaluation) const;
  /// Number of test scenes: that many draws of evaluation.scenes, beginning with those of a single
  /// draw; no scene is repeated if a scene consists of nothing but its digits.
  int test_scenes(const EvaluationConfig& evaluation) const;

 private:
  EnvironmentFactory factory(Split split, std::uint64_t seed, int scenes) const;
};

}  // namespace saccade
