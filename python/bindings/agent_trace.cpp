#include "python/bindings/agent_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "python/bindings/calls.h"

namespace saccade::python {

namespace nb = nanobind;

void AgentTrace::play(std::span<const float> weights, const EnvironmentFactory& environments,
                      const TracedPlayRequest& request, Workers& workers) {
  trace_ = computed([&] {
    return std::make_unique<TracedPlay>(model_, weights, environments, request, workers);
  });
}

Array<float> AgentTrace::logits() const {
  auto array = new_array<float, 3>(shape());
  trace_->logits({array.data(), array.size()});
  return array;
}

std::pair<nb::dict, Array<float>> AgentTrace::backward(const GivenFloats& dlogits) {
  const auto allowed = shape();
  for (std::size_t axis = 0; axis < allowed.size(); ++axis)
    if (dlogits.shape(axis) != allowed[axis])
      throw InputError(fmt::format("dlogits: shape ({}, {}, {}); allowed: ({}, {}, {})",
                                   dlogits.shape(0), dlogits.shape(1), dlogits.shape(2), allowed[0],
                                   allowed[1], allowed[2]));
  const Pixels& pixels = canvases_.pixels;
  auto dcanvases =
      new_array<float, 4>({pixels.shape(0), pixels.shape(1), pixels.shape(2), pixels.shape(3)});
  std::vector<float> gradient(model_.layout().size());
  computed([&] {
    const std::lock_guard lock(one_at_a_time_);
    trace_->backward(gradient, {dcanvases.data(), dcanvases.size()},
                     {dlogits.data(), dlogits.size()});
    return true;
  });
  nb::dict all;
  for (const Parameter& p : model_.layout().parameters()) {
    auto array =
        new_array<float, 2>({static_cast<std::size_t>(p.rows), static_cast<std::size_t>(p.cols)});
    std::copy_n(&gradient[p.offset], p.size(), array.data());
    all[p.name.c_str()] = array;
  }
  return {all, dcanvases};
}

std::array<std::size_t, 3> AgentTrace::shape() const {
  return {static_cast<std::size_t>(trace_->scenes()), static_cast<std::size_t>(trace_->outputs()),
          static_cast<std::size_t>(trace_->classes())};
}

}  // namespace saccade::python
