#include "experiments/evaluation/saliency_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/stop.h"

namespace saccade {
namespace {

std::vector<std::size_t> steps_shape(const Tensor<3>& tensor) {
  return {tensor.shape()[0], tensor.shape()[2]};
}

void copy_steps(float* to, const Tensor<3>& from, int b) {
  const std::size_t width = from.shape()[2];
  for (std::size_t t = 0; width > 0 && t < from.shape()[0]; ++t)
    to = std::copy_n(&from(t, b, 0), width, to);
}

}  // namespace

std::vector<int> followed_outputs(const Model& model, const std::optional<int>& step,
                                  const std::string& name) {
  const bool sequence = model.answer().spells;
  const int count = model.answer().outputs;
  if (step && (*step < 1 || *step > count))
    throw InputError(fmt::format("{} {}: allowed: 1 to {}, the {} of an episode", name, *step,
                                 count, sequence ? "symbols" : "glimpses"));
  if (step) return {*step - 1};
  if (!sequence && model.answer().stops)
    throw InputError(
        fmt::format("{0}: not given, and this agent answers after as many glimpses as "
                    "attention.glimpse.stop says; allowed: {0} of 1 to {1}",
                    name, count));
  if (!sequence) return {count - 1};
  std::vector<int> all;
  for (int j = 0; j < count; ++j) all.push_back(j);
  return all;
}

void require_traceable(const Model& model, const RetinaConfig& retina) {
  if (model.look().retina && pools_max(retina))
    throw InputError(
        fmt::format("retina.pooling: {} has no gradient by the canvas; allowed with saliency: mean",
                    retina.pooling));
}

SaliencyArrays::SaliencyArrays(const Jacobian& jacobian, int scenes, int outputs)
    : n_(static_cast<std::size_t>(scenes)),
      outputs_(static_cast<std::size_t>(outputs)),
      canvas_(make("canvas_jacobian", {jacobian.dcanvases.shape()[1]})),
      glimpse_(make("glimpse_jacobian", steps_shape(jacobian.dglimpses))),
      feature_(make("feature_jacobian", steps_shape(jacobian.dfeatures))),
      logits_(make("logits", {})),
      chosen_(int_array("chosen", {n_, outputs_}, -1)) {}

void SaliencyArrays::record(const Jacobian& jacobian, int b, int n, int o, int chosen,
                            float logit) {
  std::get<std::vector<int>>(chosen_.values)[n * outputs_ + o] = chosen;
  if (chosen < 0) return;
  *row(logits_, n, o) = logit;
  std::copy_n(&jacobian.dcanvases(b, 0), jacobian.dcanvases.shape()[1], row(canvas_, n, o));
  copy_steps(row(glimpse_, n, o), jacobian.dglimpses, b);
  copy_steps(row(feature_, n, o), jacobian.dfeatures, b);
}

int SaliencyArrays::chosen(int n, int o) const {
  return std::get<std::vector<int>>(chosen_.values)[n * outputs_ + o];
}

std::vector<NpzArray> SaliencyArrays::take() {
  std::vector<NpzArray> arrays;
  for (NpzArray* array : {&canvas_, &glimpse_, &feature_, &logits_, &chosen_})
    if (array->size() > 0) arrays.push_back(std::move(*array));
  return arrays;
}

NpzArray SaliencyArrays::make(const char* name, std::vector<std::size_t> shape) const {
  shape.insert(shape.begin(), {n_, outputs_});
  return float_array(name, std::move(shape));
}

std::span<const float> SaliencyArrays::row(const NpzArray& array, int n, int o) const {
  const std::span<const float> values = std::get<std::vector<float>>(array.values);
  const std::size_t width = values.size() / (n_ * outputs_);
  return values.subspan((n * outputs_ + o) * width, width);
}

float* SaliencyArrays::row(NpzArray& array, int n, int o) const {
  return const_cast<float*>(row(std::as_const(array), n, o).data());
}

namespace {

// Which scenes are played together, and which of their outputs are differentiated.
struct TracedPart {
  int first = 0, count = 0;
  std::uint64_t seed = 0;
  std::span<const int> outputs;
  Tensor<3>* canvases = nullptr;
};

void trace_part(SaliencyArrays& arrays, Jacobian& jacobian, std::span<const float> parameters,
                const TracedPart& part) {
  stop_if_asked();
  RolloutRequest request = RolloutRequest::of_scenes(part.first, part.seed);
  request.sampling = SamplingMode::deterministic;
  request.canvases = part.canvases;
  jacobian.run(parameters, request);
  std::vector<int> chosen(kTracedAtATime);
  for (int o = 0; o < static_cast<int>(part.outputs.size()); ++o) {
    const Answer& answer = *jacobian.rollout.answer;
    const int output = part.outputs[o];
    for (int b = 0; b < kTracedAtATime; ++b) chosen[b] = answer.chosen(output, b);
    jacobian.backward(parameters, output, chosen);
    for (int b = 0; b < part.count; ++b)
      arrays.record(jacobian, b, part.first + b, o, chosen[b],
                    chosen[b] < 0 ? 0.0F : answer.logits(output)(b, chosen[b]));
  }
}

}  // namespace

std::vector<NpzArray> saliency_arrays(const Model& model, std::span<const float> parameters,
                                      const EnvironmentFactory& environments, int scenes,
                                      std::uint64_t seed, const std::vector<int>& outputs,
                                      Tensor<3>* canvases, const SaliencyRecorded& recorded) {
  Jacobian jacobian(model, environments(kTracedAtATime, 1));
  SaliencyArrays arrays(jacobian, scenes, static_cast<int>(outputs.size()));
  for (int first = 0; first < scenes; first += kTracedAtATime) {
    const int count = std::min(kTracedAtATime, scenes - first);
    trace_part(arrays, jacobian, parameters, {first, count, seed, outputs, canvases});
    if (recorded) recorded(arrays, jacobian.rollout, first, count);
  }
  return arrays.take();
}

std::vector<NpzArray> saliency_arrays(const Model& model, std::span<const float> parameters,
                                      const EnvironmentFactory& environments, int scenes,
                                      std::uint64_t seed, const std::vector<int>& outputs,
                                      Workers& workers) {
  const int parts = (scenes + kTracedAtATime - 1) / kTracedAtATime;
  std::vector<std::unique_ptr<Jacobian>> jacobians(std::min(workers.threads(), parts));
  for (auto& jacobian : jacobians)
    jacobian = std::make_unique<Jacobian>(model, environments(kTracedAtATime, 1));
  SaliencyArrays arrays(*jacobians.front(), scenes, static_cast<int>(outputs.size()));
  const int players = static_cast<int>(jacobians.size());
  workers.for_each(players, [&](int player) {
    for (int part = player; part < parts; part += players) {
      const int first = part * kTracedAtATime;
      trace_part(arrays, *jacobians[player], parameters,
                 {first, std::min(kTracedAtATime, scenes - first), seed, outputs});
    }
  });
  return arrays.take();
}

}  // namespace saccade
