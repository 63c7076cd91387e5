#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/learning/jacobian.h"
#include "agent/model/model.h"
#include "env/environment.h"
#include "env/retina.h"
#include "experiments/files/npz.h"

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

  /// Records output o of episode b of the Jacobian as that of scene n.
  void record(const Jacobian& jacobian, int b, int n, int o, int chosen, float logit);
  /// Returns the arrays. This object must not be used afterwards.
  std::vector<NpzArray> take();

 private:
  NpzArray make(const char* name, std::vector<std::size_t> shape) const;
  float* row(NpzArray& array, std::size_t at) const;

  std::size_t n_, outputs_;
  NpzArray canvas_, glimpse_, feature_, logits_, chosen_;
};

/// Returns the arrays of scenes 0 .. `scenes` - 1, played as in the single deterministic pass of an
/// evaluation.
std::vector<NpzArray> saliency_arrays(const Model& model, std::span<const float> parameters,
                                      const EnvironmentFactory& environments, int scenes,
                                      std::uint64_t seed, const std::vector<int>& outputs);

}  // namespace saccade
