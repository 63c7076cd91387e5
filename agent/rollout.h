#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agent/model.h"
#include "env/environment.h"
#include "nn/random.h"
#include "nn/tensor.h"

namespace saccade {

/// How B episodes are to be played.
struct RolloutRequest {
  std::uint64_t first_scene = 0;
  std::uint64_t seed = 0;           // of the policy's noise, with
  std::uint32_t update = 0;         //   the update or pass
  std::uint32_t first_episode = 0;  //   and the number of the first episode in it
  float std = 0.0F;                 // of the Gaussian policy; 0 looks at its mean
  Policy policy = nullptr;          // for every glimpse; null: the model's own
  bool classify_every_step = false;
};

/// B episodes played by a model in an environment: T times a location, a glimpse, a step of the
/// core, and at the end a class. Holds all that backward needs. Used by one thread at a time;
/// run() allocates nothing.
class Rollout {
 public:
  /// Keeps a reference to `model`.
  Rollout(const Model& model, std::unique_ptr<Environment> environment);

  void run(std::span<const float> parameters, const RolloutRequest& request);

  int episodes() const { return environment->episodes(); }

  std::unique_ptr<Environment> environment;
  Tensor<3> means;             // (T, B, 2): the locator's mu
  Tensor<3> samples;           // (T, B, 2): drawn from the policy, unclamped
  Tensor<3> locations;         // (T, B, 2): clamped to the canvas
  Tensor<3> glimpses;          // (T, B, D)
  Tensor<3> joint;             // (T, B, what + where): inside the glimpse network
  Tensor<3> locator_hidden;    // (T, B, width)
  CoreMemory core;             // features and states
  Tensor<3> logits;            // (T, B, C): the last step, or every step
  Tensor<3> probabilities;     // (T, B, C): the same
  Tensor<2> losses;            // (T, B): cross-entropy, nats: the same
  std::vector<int> labels;     // (B)
  std::vector<int> classes;    // (B): the most probable at the last step
  std::vector<float> rewards;  // (B): the environment's

 private:
  void place_glimpse(int t, std::span<const float> parameters, const RolloutRequest& request);
  void classify(int t, std::span<const float> parameters);

  const Model& model_;
  Policy policy_, first_policy_;
  std::vector<RandomStream> streams_;  // (B)
  Tensor<2> targets_;                  // (B, 2): centres of the digits
};

}  // namespace saccade
