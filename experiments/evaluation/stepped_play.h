#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "env/environment.h"
#include "nn/parallel.h"
#include "nn/random.h"
#include "nn/tensor.h"

namespace saccade {

/// Which episodes are stepped through.
struct SteppedPlayRequest {
  int scenes = 1;  // N >= 1, starting at scene 0
  SamplingMode sampling = SamplingMode::deterministic;
  std::uint64_t seed = 0;  // of the policy's noise, in pass 0
};

/// N episodes that are played look by look, each look once. Nobody judges them, and an agent that
/// may stop takes all T looks. Bit for bit the looks of play() with the same environments, for any
/// number of threads.
class SteppedPlay {
 public:
  /// Plays with a copy of `parameters`. Keeps references to `model` and `workers`. The environments
  /// must neither move nor have cues.
  SteppedPlay(const Model& model, std::span<const float> parameters,
              const EnvironmentFactory& environments, const SteppedPlayRequest& request,
              Workers& workers);

  int scenes() const { return scenes_; }
  /// The looks taken, 0 .. T.
  int looks() const { return looks_; }
  /// Whether `parameters` are those it plays with.
  bool plays(std::span<const float> parameters) const;

  /// Goes back to when `looks` <= looks() were taken.
  void rewind(int looks);
  /// Takes the next look; at most T. At `places` (N, L) in [-1, 1], or where the agent chooses if
  /// they have no data. Throws std::logic_error for places of agents that do not look at points.
  void step(ConstMatrix places = {});

  /// L, where look t < looks() was, and where it would be for t = looks() < T: writes (N, L).
  int location_size() const;
  void locations(int t, std::span<float> to) const;
  /// D, the pixels of a picture of a look, 0 for agents that do not look; after a step: writes
  /// those of the last look, (N, D).
  int picture_size() const;
  void pictures(std::span<float> to) const;
  /// S and C: one class, one action, or the symbols of a sequence; after a step: writes their
  /// probabilities if the last look was the only one left, (N, S, C).
  int outputs() const;
  int classes() const;
  void probabilities(std::span<float> to) const;

 private:
  /// A number of scenes that are played together, as in play().
  struct Part {
    Part(const Model& model, std::unique_ptr<Environment> environment, int steps);

    Rollout rollout;
    RolloutRequest request;
    std::vector<std::vector<RandomStream>> streams;  // (T, B): before the decision of each look
    Tensor<2> places;                                // (B, L)
  };

  void decide(Part& part);
  /// Calls write(part, b, n) for every scene n, which is episode b of that part.
  template <class Write>
  void each_scene(const Write& write) const;

  const Model& model_;
  Workers& workers_;
  const int scenes_;
  Tensor<1> parameters_;
  int looks_ = 0;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace saccade
