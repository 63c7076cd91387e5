#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "agent/model.h"
#include "env/environment.h"
#include "nn/random.h"
#include "nn/tensor.h"

namespace saccade {

/// What is made of the distribution over looks.
enum class Readout {
  training,       // as in training: hard kinds sample, soft kinds take the expectation
  deterministic,  // hard kinds take the mean or the most probable, soft kinds the expectation
  argmax,         // the most probable, of soft kinds too
  sample,         // a sample, of soft kinds too
};

/// How B episodes are to be played.
struct RolloutRequest {
  std::uint64_t first_scene = 0;
  std::uint64_t seed = 0;           // of the policy's noise, with
  std::uint32_t update = 0;         //   the update or pass
  std::uint32_t first_episode = 0;  //   and the number of the first episode in it
  float std = 0.0F;                 // of the Gaussian policy; 0 looks at its mean
  float temperature = 1.0F;         // of the distribution over a grid
  Readout readout = Readout::training;
  Policy policy = nullptr;            // for every glimpse; null: the model's own
  const Tensor<3>* replay = nullptr;  // actions (T, B, A) in place of the model's own
  bool classify_every_step = false;
  int beam = 1;                   // of a decoder: hypotheses that are followed; 1 is greedy
  Tensor<3>* canvases = nullptr;  // (T, B, pixels): the canvas as it is at each look, to be written
};

/// One decision about glimpse t of B episodes.
struct Turn {
  int t = 0;
  std::span<const float> parameters;
  const RolloutRequest& request;
  ConstMatrix targets;              // (B, 2), the digit's centre: for the oracle alone
  std::span<RandomStream> streams;  // (B)
};

/// What REINFORCE knows of the episodes.
struct Credit {
  ConstMatrix advantages;  // (T, B)
  float std = 0.0F;
  float temperature = 1.0F;
  float weight = 1.0F;   // of the REINFORCE term
  float entropy = 0.0F;  // of the entropy bonus
  float scale = 1.0F;    // on gradients: 1 / batch size
};

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
/// the way back. One implementation for each family of attention.glimpse.kind, and one for models
/// that see the whole canvas. Belongs to one lane and holds its memory; allocates nothing after
/// construction.
///
/// Order of calls: begin; for each t decide, read; then, to learn, loss_backward, for each t from
/// the last step_backward (where differentiable()), finish_backward; and then, if asked for,
/// input_backward.
class Look {
 public:
  virtual ~Look() = default;

  /// New scenes are there.
  virtual void begin(std::span<const float> parameters) = 0;
  /// Writes decisions(t) and actions(t) from the state h_t.
  virtual void decide(const Turn& turn) = 0;
  /// Looks as actions(t) say: writes locations(t) and the core's feature(t).
  virtual void read(int t, std::span<const float> parameters) = 0;

  /// The losses of its own. Kinds that learn by REINFORCE write their gradients here.
  virtual LookLoss loss_backward(std::span<float> gradient, const Credit& credit,
                                 std::span<const float> parameters) = 0;
  /// Whether gradient passes from the features through the decisions to the states.
  virtual bool differentiable() const = 0;
  /// From dfeature (B, F) of feature(t) to the decision, and adds to the gradient of h_t.
  virtual void step_backward(int t, Matrix dfeature, std::span<const float> parameters) = 0;
  /// From the gradients of all features (T B, F), which are overwritten: writes those of the
  /// parameters.
  virtual void finish_backward(std::span<float> gradient, Matrix dfeatures,
                               std::span<const float> parameters) = 0;

  /// From there on to what was looked at, with dfeatures as finish_backward left them: writes
  /// dglimpses (T, B, D), of the shape of `glimpses`, and adds to dcanvases (B, pixels), where the
  /// canvas changes the gradients of all steps. A place that was not derived from its state (hard
  /// kinds) is a constant; soft kinds have their full derivative.
  virtual void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix dfeatures,
                              std::span<const float> parameters) = 0;

  /// Entropy in nats of the distribution that placed glimpse t of episode b.
  virtual float entropy(int t, int b, const RolloutRequest& request) const = 0;
  /// Valid until the next call.
  virtual Gaze gaze(int t, int b) = 0;
  /// What was seen (D), for pictures.
  virtual void picture(int t, int b, float* glimpse) const = 0;

  Tensor<3> decisions;  // (T, B, A): what the locator says: means, probabilities or windows
  Tensor<3> actions;    // (T, B, A): what is done: unclamped samples, weights or windows
  Tensor<3> locations;  // (T, B, 2): what the location input of the glimpse network gets
  Tensor<3> glimpses;   // (T, B, D): what it sees, where it sees one glimpse a step
};

/// Looks as the model's configuration says. Keeps references to all three.
std::unique_ptr<Look> make_look(const Model& model, Environment& environment, CoreMemory& core);

}  // namespace saccade
