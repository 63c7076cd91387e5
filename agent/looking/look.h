#pragma once

#include <span>

#include "agent/spec/episode.h"
#include "nn/tensor.h"

namespace saccade {

/// The losses of looking, summed over episodes.
struct LookLoss {
  double reinforce = 0;  // - weight sum_t log pi(l_t) A_t - entropy bonus
  double penalty = 0;    // soft kinds: coverage, rows, - entropy bonus
};

/// Where one look went, for metrics and pictures: places in location units with weights that sum to
/// 1, each seen through a patch of the given half sides.
struct Gaze {
  ConstMatrix places;              // (K, 2)
  std::span<const float> weights;  // (K)
  float half_width = 0.0F;
  float half_height = 0.0F;
  float zoom = 1.0F;      // that of the look, which the half sides include
  float exposure = 1.0F;  // visibility of a place with weight w: min(1, w * exposure)
};

/// Where B episodes looked and what they saw there, for metrics and pictures.
class LookRecord {
 public:
  virtual ~LookRecord() = default;

  /// Glimpse t of episode b. Valid until the next call; empty if there is no look.
  virtual Gaze gaze(int /*t*/, int /*b*/) { return {}; }
  /// Writes the glimpse (D), for pictures.
  virtual void picture(int /*t*/, int /*b*/, float* /*glimpse*/) const {}
};

/// Chooses where to look from the core's state, sees what is there and writes the feature that the
/// core reads next, with the backward pass. The workspace of a Looking (looking.h) for the B
/// episodes of one lane; allocates nothing after construction.
///
/// Order of calls: begin; decide, locate and read for each t; then, to learn, loss_backward,
/// step_backward for each t from the last (if the looking is differentiable), finish_backward; and
/// then, if needed, input_backward. The defaults are those of a look without decisions.
class Look : public LookRecord {
 public:
  /// Call when new scenes begin and `exploration` is set, and again when scenes follow their cues
  /// (Environment::end_cue): what it sees of the whole canvas must not have been used before.
  virtual void begin(std::span<const float> parameters) = 0;
  /// Writes decisions(t) and actions(t) from the state h_t.
  virtual void decide(const StepContext&) {}
  /// After decide, in place of locate: looks at `places` (B, L) in [-1, 1] whatever actions(t)
  /// were. Throws std::logic_error for looks that are not points.
  virtual void place(int t, ConstMatrix places);
  /// Writes locations(t), to which actions(t) lead.
  virtual void locate(int /*t*/) {}
  /// Looks there: writes the core's feature(t).
  virtual void read(int t, std::span<const float> parameters) = 0;

  /// Returns the look's own losses. Kinds that learn by REINFORCE write their gradients here.
  virtual LookLoss loss_backward(std::span<float> /*gradient*/, const Credit&,
                                 std::span<const float> /*parameters*/) {
    return {};
  }
  /// From dfeature (B, F) of feature(t) to the decision, and adds to the gradient of h_t, except
  /// for points and windows that are `detached`.
  virtual void step_backward(int /*t*/, Matrix /*dfeature*/,
                             std::span<const float> /*parameters*/) {}
  /// From the gradients of all features (T B, F), which it destroys: overwrites the parameter
  /// gradients.
  virtual void finish_backward(std::span<float> gradient, Matrix dfeatures,
                               std::span<const float> parameters) = 0;

  /// Continues to the pixels, with dfeatures as finish_backward left them: overwrites dglimpses (T,
  /// B, D), of the shape of `glimpses`, and adds to dcanvases (B, pixels), summed over the steps if
  /// the canvas changes. A place that is not differentiated by its state (hard kinds) is a
  /// constant; everything differentiable has its full derivative, with the noise of a sampled place
  /// held constant.
  virtual void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix dfeatures,
                              std::span<const float> parameters) = 0;

  /// Entropy in nats of the policy at glimpse t of episode b. That of a Gaussian follows from its
  /// std, and is the same at glimpses that the agent does not place.
  virtual float entropy(int /*t*/, int /*b*/) const { return 0.0F; }
  /// log pi of the action at glimpse t of episode b (for points, the log density), as REINFORCE
  /// uses it; 0 if nothing was sampled from the network's decision.
  virtual float log_probability(int /*t*/, int /*b*/) const { return 0.0F; }

  Exploration exploration;  // for these episodes; set before begin
  bool detached = false;    // attention.glimpse.detach_state, if the look learns
  Tensor<3> decisions;      // (T, B, A): locator outputs: means, probabilities or windows
  Tensor<3> actions;        // (T, B, A): what is done: unclamped samples (of relative moves: in
                            //   max_step), weights or windows
  Tensor<3> locations;      // (T, B, L): location input of the glimpse network
  Tensor<3> glimpses;       // (T, B, D): glimpses, if there is one per step
};

}  // namespace saccade
