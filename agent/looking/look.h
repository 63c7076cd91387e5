#pragma once

#include <span>

#include "agent/spec/episode.h"
#include "nn/tensor.h"

namespace saccade {

/// Sums over episodes of the losses that looking has of its own.
struct LookLoss {
  double reinforce = 0;  // - weight sum_t log pi(l_t) A_t - entropy bonus
  double penalty = 0;    // of soft kinds: coverage, rows, - entropy bonus
};

/// Where one look went, for metrics and pictures: places in location units, with weights that sum
/// to 1, each seen through a patch of the given half sides.
struct Gaze {
  ConstMatrix places;              // (K, 2)
  std::span<const float> weights;  // (K)
  float half_width = 0.0F;
  float half_height = 0.0F;
  float exposure = 1.0F;  // how much of a place of weight w is seen: min(1, w * exposure)
};

/// Between the core's state and the feature it reads next: where to look, what is seen there, and
/// the way back. What a Looking (looking.h) keeps of the B episodes of one lane; allocates nothing
/// after construction.
///
/// Order of calls: begin; for each t decide, read; then, to learn, loss_backward, for each t from
/// the last step_backward (where the looking is differentiable), finish_backward; and then, if
/// asked for, input_backward. The defaults are those of a look without decisions.
class Look {
 public:
  virtual ~Look() = default;

  /// New scenes are there, to be looked at as `exploration` says.
  virtual void begin(std::span<const float> parameters) = 0;
  /// Writes decisions(t) and actions(t) from the state h_t.
  virtual void decide(const Turn&) {}
  /// Looks as actions(t) say: writes locations(t) and the core's feature(t).
  virtual void read(int t, std::span<const float> parameters) = 0;

  /// The losses of its own. Kinds that learn by REINFORCE write their gradients here.
  virtual LookLoss loss_backward(std::span<float> /*gradient*/, const Credit&,
                                 std::span<const float> /*parameters*/) {
    return {};
  }
  /// From dfeature (B, F) of feature(t) to the decision, and adds to the gradient of h_t, but where
  /// points and windows are `detached`.
  virtual void step_backward(int /*t*/, Matrix /*dfeature*/,
                             std::span<const float> /*parameters*/) {}
  /// From the gradients of all features (T B, F), which are overwritten: writes those of the
  /// parameters.
  virtual void finish_backward(std::span<float> gradient, Matrix dfeatures,
                               std::span<const float> parameters) = 0;

  /// From there on to what was looked at, with dfeatures as finish_backward left them: writes
  /// dglimpses (T, B, D), of the shape of `glimpses`, and adds to dcanvases (B, pixels), where the
  /// canvas changes the gradients of all steps. A place that was not derived from its state (hard
  /// kinds) is a constant; what is differentiable has its full derivative, of a place that was
  /// drawn with its noise as it was.
  virtual void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix dfeatures,
                              std::span<const float> parameters) = 0;

  /// Entropy in nats of the distribution that placed glimpse t of episode b.
  virtual float entropy(int /*t*/, int /*b*/) const { return 0.0F; }
  /// log pi of what was done at glimpse t of episode b, of points the density, as REINFORCE has it;
  /// 0 where nothing was drawn from what the network decided.
  virtual float log_probability(int /*t*/, int /*b*/) const { return 0.0F; }
  /// Valid until the next call; nowhere in particular where nothing is looked at.
  virtual Gaze gaze(int /*t*/, int /*b*/) { return {}; }
  /// What was seen (D), for pictures.
  virtual void picture(int /*t*/, int /*b*/, float* /*glimpse*/) const {}

  Exploration exploration;  // of these episodes: written before begin
  bool detached = false;    // attention.glimpse.detach_state of one that learns
  Tensor<3> decisions;      // (T, B, A): what the locator says: means, probabilities or windows
  Tensor<3> actions;        // (T, B, A): what is done: unclamped samples, weights or windows
  Tensor<3> locations;      // (T, B, 2): what the location input of the glimpse network gets
  Tensor<3> glimpses;       // (T, B, D): what it sees, where it sees one glimpse a step
};

}  // namespace saccade
