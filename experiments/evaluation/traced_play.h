#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "agent/learning/jacobian.h"
#include "agent/model/model.h"
#include "env/environment.h"
#include "nn/parallel.h"
#include "nn/tensor.h"

namespace saccade {

/// Which episodes are traced.
struct TracedPlayRequest {
  int scenes = 1;  // N >= 1, starting at scene 0
  SamplingMode sampling = SamplingMode::deterministic;
  std::uint64_t seed = 0;  // of the policy's noise, together with
  int pass = 0;            // the pass
};

/// N episodes that were played, and the derivatives of functions of their logits by the weights and
/// by the canvases; what is held constant is said in Jacobian. Keeps what the derivatives need, of
/// all episodes. Bit for bit the same for any number of threads.
class TracedPlay {
 public:
  /// Plays the episodes with a copy of `parameters`. Keeps references to `model` and `workers`.
  TracedPlay(const Model& model, std::span<const float> parameters,
             const EnvironmentFactory& environments, const TracedPlayRequest& request,
             Workers& workers);

  int scenes() const { return scenes_; }
  /// S: answers after each look, symbols or actions; C: classes, symbols with the end mark.
  int outputs() const;
  int classes() const;
  /// Writes the logits (N, S, C).
  void logits(std::span<float> to) const;

  /// For the function whose gradient by the logits is dlogits (N, S, C): writes its gradient by the
  /// weights, a block of the layout, and by the canvases (N, channels rows cols), pixels as numbers
  /// in [0, 1]. Any number of times.
  void backward(std::span<float> gradient, std::span<float> dcanvases,
                std::span<const float> dlogits);

 private:
  const Model& model_;
  Workers& workers_;
  const int scenes_, together_;  // N, and the scenes of a part
  const Tensor<1> parameters_;
  std::vector<std::unique_ptr<Jacobian>> parts_;
};

}  // namespace saccade
