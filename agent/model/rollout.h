#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/answering/answer.h"
#include "agent/looking/look.h"
#include "agent/model/model.h"
#include "agent/spec/episode.h"
#include "env/environment.h"
#include "nn/random.h"
#include "nn/tensor.h"

namespace saccade {

/// Plays B episodes with a model in an environment: T times a location, a glimpse and a step of the
/// core, then an answer. Stores everything that backward needs. Used by one thread at a time; run()
/// allocates nothing.
class Rollout {
 public:
  /// Keeps a reference to `model`.
  Rollout(const Model& model, std::unique_ptr<Environment> environment);

  void run(std::span<const float> parameters, const RolloutRequest& request);

  /// The parts of run, for whoever plays step by step: begin; for each t, decide, which writes
  /// look->locations(t), and see, which takes the glimpse and the step of the core. To go back to
  /// an earlier t, decide again with the streams as they were before: what was played before t is
  /// kept. The answer is not part of it: see Answer::answer_after.
  void begin(std::span<const float> parameters, const RolloutRequest& request);
  void decide(int t, std::span<const float> parameters, const RolloutRequest& request);
  void see(int t, std::span<const float> parameters);

  /// After run: writes the baselines b_t (T, B), the critic's values before glimpse t. Requires a
  /// model with a critic.
  void estimate_baselines(Tensor<2>& baselines, CriticMemory& critic,
                          std::span<const float> parameters);

  int episodes() const { return environment->episodes(); }
  /// The number of looks after which episode b was answered, 1 .. T. All T were taken, so that the
  /// episodes of a batch stay together; an evaluation counts only these.
  int stopped_at(int b) const { return answer->stopped_at(b); }
  /// The facts of episode b at the time of glimpse t.
  const SceneFacts& facts(int t, int b) const {
    return moving_.empty() ? environment->facts()[b] : moving_[t * episodes() + b];
  }

  std::unique_ptr<Environment> environment;
  CoreMemory core;                    // features and states
  std::unique_ptr<Look> look;         // locations and glimpses
  std::optional<GateMemory> gate;     // for attention.input
  std::unique_ptr<Answer> answer;     // predictions
  std::vector<RandomStream> streams;  // (B): of the policy's noise

 private:
  StepContext at(int t, std::span<const float> parameters, const RolloutRequest& request) {
    return {t, parameters, request, matrix(targets_), streams};
  }
  void find_targets(int t);

  const Model& model_;
  Tensor<2> targets_;               // (B, 2): centres of the digits
  std::vector<SceneFacts> moving_;  // (T, B): if the environment moves, else empty
};

}  // namespace saccade
