#pragma once

#include <memory>
#include <span>
#include <vector>

#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "env/environment.h"
#include "nn/tensor.h"

namespace saccade {

/// A trained agent whose beliefs another one learns from (training.teachers).
struct Teacher {
  const Model& model;
  std::span<const float> weights;   // one block of the model's layout
  EnvironmentFactory environments;  // the learner's scenes, as the teacher sees them
};

/// What teachers believe of the scenes of a lane: the targets of knowledge distillation from an
/// ensemble (Hinton, Vinyals and Dean 2015, at temperature 1). Used by one thread at a time.
class Teaching {
 public:
  Teaching() = default;  // without teachers
  /// Keeps references to the teachers' models and weights. Throws SettingError for a teacher whose
  /// answers are not those of `learner`, or if these are not one class.
  Teaching(std::span<const Teacher> teachers, const Model& learner, int episodes, int rollouts);

  /// Plays the scenes of `request` in a deterministic pass of each teacher. Returns (B, C), the
  /// mean of the class probabilities with which they answer; empty without teachers. Valid until
  /// the next call. Allocates nothing.
  ConstMatrix beliefs(const RolloutRequest& request);

 private:
  std::vector<std::span<const float>> weights_;
  std::vector<std::unique_ptr<Rollout>> rollouts_;
  Tensor<2> beliefs_;
};

}  // namespace saccade
