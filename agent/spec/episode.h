#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "attention/policy.h"
#include "nn/random.h"
#include "nn/tensor.h"

namespace saccade {

/// What is made of the distribution over looks.
enum class SamplingMode {
  training,       // as in training: hard kinds sample, soft kinds take the expectation
  deterministic,  // hard kinds take the mean or the most probable, soft kinds the expectation
  argmax,         // the most probable, of soft kinds too
  sample,         // a sample, of soft kinds too
};

/// How widely an agent looks about at a moment of its training.
struct Exploration {
  float std = 0.0F;          // of a Gaussian policy, in half canvases; 0 looks at its mean
  float pattern = 0.0F;      // of soft_point, the same; its looks are about the mean all the same
  float zoom_std = 0.0F;     // of its zoom, in half ranges of the logarithm
  float temperature = 1.0F;  // of a distribution over candidates

  /// What attention.glimpse.spread of a point multiplies.
  float width() const { return std > 0.0F ? std : pattern; }
};

constexpr int kEveryStep = std::numeric_limits<int>::max();

/// How B episodes are to be played.
struct RolloutRequest {
  std::uint64_t first_scene = 0;
  std::uint64_t seed = 0;                    // of the policy's noise, with
  std::uint32_t update = 0;                  //   the update or pass
  std::uint32_t first_episode = 0;           //   and the number of the first episode in it
  double progress = 1.0;                     // of the training, in [0, 1]: places its exploration
  const Exploration* exploration = nullptr;  // in place of that of `progress`
  SamplingMode sampling = SamplingMode::training;
  Policy policy = nullptr;               // for every glimpse; null: the model's own
  const Tensor<3>* replay = nullptr;     // actions (T, B, A) in place of the model's own, or
  const Tensor<3>* locations = nullptr;  // (T, B, L) where points look in place of their own,
  int replay_steps = kEveryStep;         //   both those of the first so many steps
  const Tensor<2>* stops = nullptr;      // (T, B): 1 to stop after a look, 0 to go on, in place of
                                         //   what a sampled stop would draw
  bool classify_every_step = false;
  int beam = 1;                   // of a decoder: hypotheses that are followed; 1 is greedy
  Tensor<3>* canvases = nullptr;  // (T, B, pixels): the canvas as it is at each look, to be written

  /// Scenes `first`, `first` + 1, .. of an evaluation, in pass `pass`: a scene's noise is the same
  /// whatever it is played with.
  static RolloutRequest of_scenes(int first, std::uint64_t seed, int pass = 0) {
    return {.first_scene = static_cast<std::uint64_t>(first),
            .seed = seed,
            .update = static_cast<std::uint32_t>(pass),
            .first_episode = static_cast<std::uint32_t>(first)};
  }
};

/// One decision about glimpse t of B episodes.
struct StepContext {
  int t = 0;
  std::span<const float> parameters;
  const RolloutRequest& request;
  ConstMatrix targets;              // (B, 2), the digit's centre: for the oracle alone
  std::span<RandomStream> streams;  // (B)
};

/// The probability of coming to look t of episode b. `reach` (T, B) has them; without data, the
/// agent takes all looks, and it is 1.
inline float reach_at(ConstMatrix reach, int t, int b) {
  return reach.data == nullptr ? 1.0F : reach(t, b);
}

/// What REINFORCE knows of the episodes.
struct Credit {
  ConstMatrix advantages;  // (T, B)
  ConstMatrix stops = {};  // (T, B): advantages of the decisions after the looks, of a sampled stop
  ConstMatrix reach = {};  // (T, B): as reach_at() reads it
  float weight = 1.0F;     // of the REINFORCE term
  float entropy = 0.0F;    // of the entropy bonus
  float scale = 1.0F;      // on gradients: 1 / batch size

  /// The weight of the bonus for the entropy of look t of episode b.
  float entropy_at(int t, int b) const { return entropy * reach_at(reach, t, b); }
};

}  // namespace saccade
