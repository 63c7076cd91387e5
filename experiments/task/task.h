#pragma once

#include <utility>

#include "agent/learning/learner.h"
#include "agent/model/model.h"
#include "experiments/task/world.h"

namespace saccade {

/// The parts of an experiment that learning does not change: its world and the model that lives
/// there.
class Task : public World {
 public:
  /// `data` as for World. Throws InputError as World does, and for a model that does not fit it.
  template <class... Data>
  explicit Task(const Config& config, Data&&... data)
      : World(config, std::forward<Data>(data)...), model(config.agent, spec) {}

  const Model model;
};

}  // namespace saccade
