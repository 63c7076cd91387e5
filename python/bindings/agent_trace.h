#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "agent/model/model.h"
#include "experiments/evaluation/traced_play.h"
#include "python/bindings/arrays.h"
#include "python/bindings/canvases.h"

namespace saccade::python {

/// Episodes of an agent on canvases, to differentiate.
class AgentTrace {
 public:
  using GivenFloats =
      nanobind::ndarray<const float, nanobind::ndim<3>, nanobind::c_contig, nanobind::device::cpu>;

  AgentTrace(Canvases canvases, const Model& model)
      : canvases_(std::move(canvases)), model_(model) {}

  const Canvases& canvases() const { return canvases_; }
  void play(std::span<const float> weights, const EnvironmentFactory& environments,
            const TracedPlayRequest& request, Workers& workers);

  /// (N, S, C).
  Array<float> logits() const;

  /// The gradients by the weights, name -> (rows, cols), and by the canvases.
  std::pair<nanobind::dict, Array<float>> backward(const GivenFloats& dlogits);

 private:
  std::array<std::size_t, 3> shape() const;

  const Canvases canvases_;  // which the trace's environments look at
  const Model& model_;
  std::unique_ptr<TracedPlay> trace_;
  std::mutex one_at_a_time_;  // calls of backward, which use the memory of trace_
};

}  // namespace saccade::python
