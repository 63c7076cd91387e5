#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/learning/teaching.h"
#include "experiments/task/task.h"

namespace saccade {

/// The trained agents that training.teachers names, and the scenes of the training as they see
/// them.
class Teachers {
 public:
  /// Shares the digits of `learner` and the scenes or the world of its program, and they outlive
  /// this. Throws InputError, naming the setting, for an agent that is not there, or that cannot
  /// look at these scenes.
  explicit Teachers(const Task& learner);

  std::vector<Teacher> all() const;
  /// Tells their weights apart from others: a checksum each, as JSON. Empty without teachers.
  std::string note() const;

 private:
  struct One {
    One(const std::string& name, const Task& learner);

    std::unique_ptr<const Task> task;
    Tensor<1> weights;
  };
  std::vector<One> all_;
};

}  // namespace saccade
