#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/learning/jacobian.h"
#include "agent/model/model.h"
#include "env/environment.h"
#include "env/retina.h"
#include "experiments/files/npz.h"
#include "nn/parallel.h"

namespace saccade {

/// Returns the reads, symbols or actions whose logits are differentiated: the one of `step`,
/// counted from 1; by default the last read or action, or every symbol of a sequence. Throws
/// InputError naming `name` for a step that does not exist.
std::vector<int> followed_outputs(const Model& model, const std::optional<int>& step,
                                  const std::string& name);

/// Throws InputError (retina.pooling) if the model sees through max pooling, which does not record
/// which pixel of a box was the largest.
void require_traceable(const Model& model, const RetinaConfig& retina);

/// The sequential Jacobians (agent/learning/jacobian.h) of N scenes by O outputs, as named arrays:
///   canvas_jacobian (N, O, channels rows cols), glimpse_jacobian (N, O, T, D) if there are
///   single glimpses, feature_jacobian (N, O, T, F), logits (N, O), and chosen (N, O): the class,
///   symbol or action of the logit; -1 after an end mark, where everything else is 0
class SaliencyArrays {
 public:
  SaliencyArrays(const Jacobian& jacobian, int scenes, int outputs);

  /// Records output o of episode b of the Jacobian as that of scene n. Thread-safe for different
  /// scenes.
  void record(const Jacobian& jacobian, int b, int n, int o, int chosen, float logit);

  /// What was recorded of output o of scene n.
  int chosen(int n, int o) const;
  float logit(int n, int o) const { return row(logits_, n, o)[0]; }
  std::span<const float> canvas(int n, int o) const { return row(canvas_, n, o); }
  /// (T, D) by the glimpses; if there are none, (T, F) by the features.
  std::span<const float> looks(int n, int o) const {
    return row(glimpse_.size() > 0 ? glimpse_ : feature_, n, o);
  }

  /// Returns the arrays. This object must not be used afterwards.
  std::vector<NpzArray> take();

 private:
  NpzArray make(const char* name, std::vector<std::size_t> shape) const;
  std::span<const float> row(const NpzArray& array, int n, int o) const;
  float* row(NpzArray& array, int n, int o) const;

  std::size_t n_, outputs_;
  NpzArray canvas_, glimpse_, feature_, logits_, chosen_;
};

/// Called when scenes first .. first + count - 1 are recorded, which were the first episodes of
/// `rollout`.
using SaliencyRecorded =
    std::function<void(const SaliencyArrays& arrays, Rollout& rollout, int first, int count)>;

constexpr int kTracedAtATime = 8;  // scenes that are played together

/// Returns the arrays of scenes 0 .. `scenes` - 1, played as in the single deterministic pass of an
/// evaluation. `canvases`: as in RolloutRequest, (T, kTracedAtATime, pixels).
std::vector<NpzArray> saliency_arrays(const Model& model, std::span<const float> parameters,
                                      const EnvironmentFactory& environments, int scenes,
                                      std::uint64_t seed, const std::vector<int>& outputs,
                                      Tensor<3>* canvases = nullptr,
                                      const SaliencyRecorded& recorded = nullptr);
/// The same bits by several threads.
std::vector<NpzArray> saliency_arrays(const Model& model, std::span<const float> parameters,
                                      const EnvironmentFactory& environments, int scenes,
                                      std::uint64_t seed, const std::vector<int>& outputs,
                                      Workers& workers);

}  // namespace saccade
