#include "experiments/evaluation/attention_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "nn/error.h"

namespace saccade {
namespace {

constexpr double kMaxBytes = 2e9;

using Shape = std::vector<std::size_t>;

std::size_t size(int n) { return static_cast<std::size_t>(n); }

bool core_attends(const Model& model) {
  return model.canvas_network == nullptr && model.config().model.core == "attention";
}

// The arrays of a model, by the shape of a scene.
std::vector<std::pair<const char*, Shape>> float_arrays(const Model& model) {
  std::vector<std::pair<const char*, Shape>> arrays;
  const std::size_t steps = size(model.num_glimpses());
  if (!model.sees_canvas()) arrays.push_back({"locations", {steps, 2}});
  if (model.has_grid())
    arrays.push_back({"glimpse_weights", {steps, size(model.num_candidates())}});
  if (model.filters) arrays.push_back({"windows", {steps, GaussianFilters::kWindow}});
  if (model.gate) arrays.push_back({"gate", {steps, size(model.feature_size())}});
  if (model.attends_over_states() && model.hidden)
    arrays.push_back({"hidden", {size(model.hidden->hops()), steps}});
  if (model.attends_over_states() && model.decoder)
    arrays.push_back({"alignment", {size(model.max_symbols()), steps}});
  const ModelConfig& sizes = model.config().model;
  if (core_attends(model))
    arrays.push_back({"core", {steps, size(sizes.depth * sizes.heads), steps}});
  arrays.push_back({"errors", {}});
  return arrays;
}

}  // namespace

AttentionWeights::AttentionWeights(const Model& model, int scenes)
    : model_(model), scenes_(size(scenes)) {
  const auto arrays = float_arrays(model);
  double bytes = 0.0;
  for (const auto& [name, shape] : arrays) {
    double numbers = scenes;
    for (const std::size_t side : shape) numbers *= static_cast<double>(side);
    bytes += sizeof(float) * numbers;
  }
  if (bytes > kMaxBytes)
    throw InputError(fmt::format(
        "--episodes {}: their attention takes {:.1f} GB; allowed: at most {:.0f} GB with "
        "--weights, that is {} episodes",
        scenes, bytes / 1e9, kMaxBytes / 1e9, static_cast<int>(scenes * (kMaxBytes / bytes))));
  for (const auto& [name, shape] : arrays) add(name, shape);
  add_answers(model);
}

void AttentionWeights::add(const char* name, Shape shape_of_scene) {
  shape_of_scene.insert(shape_of_scene.begin(), scenes_);
  arrays_.push_back(float_array(name, std::move(shape_of_scene)));
}

void AttentionWeights::add_answers(const Model& model) {
  Shape shape = {scenes_};
  if (model.answer_kind() == AnswerKind::sequence) shape.push_back(size(model.max_symbols()));
  if (model.answer_kind() == AnswerKind::actions)
    shape.push_back(size(model.num_glimpses()));
  else
    arrays_.push_back(int_array("labels", shape, -1));
  arrays_.push_back(int_array("answers", shape, -1));
}

namespace {

// Where a scene begins in the array of a name; null if there is none.
template <class T>
T* row(std::vector<NpzArray>& arrays, const char* name, std::size_t scene, std::size_t scenes) {
  const auto array = std::ranges::find(arrays, name, &NpzArray::name);
  if (array == arrays.end()) return nullptr;
  std::vector<T>& values = std::get<std::vector<T>>(array->values);
  return values.data() + scene * (values.size() / scenes);
}

}  // namespace

float* AttentionWeights::floats(const char* name, int scene) {
  return row<float>(arrays_, name, size(scene), scenes_);
}
int* AttentionWeights::ints(const char* name, int scene) {
  return row<int>(arrays_, name, size(scene), scenes_);
}

void AttentionWeights::record(const Rollout& rollout, int b, int scene) {
  record_looks(rollout, b, scene);
  record_states(rollout, b, scene);
  if (core_attends(model_)) record_core(rollout, b, scene);
  *floats("errors", scene) = rollout.answer->error(b);
  std::ranges::copy(rollout.answer->said(b), ints("answers", scene));
  if (int* labels = ints("labels", scene)) std::ranges::copy(rollout.answer->truth(b), labels);
}

void AttentionWeights::record_looks(const Rollout& rollout, int b, int scene) {
  const auto copy_steps = [&](float* to, const Tensor<3>& from) {
    const auto width = from.shape()[2];
    for (int t = 0; to != nullptr && t < rollout.core.steps; ++t)
      to = std::copy_n(&from(t, b, 0), width, to);
  };
  copy_steps(floats("locations", scene), rollout.look->locations);
  copy_steps(floats("glimpse_weights", scene), rollout.look->actions);
  copy_steps(floats("windows", scene), rollout.look->actions);
  if (rollout.gate) copy_steps(floats("gate", scene), rollout.gate->weights);
}

void AttentionWeights::record_states(const Rollout& rollout, int b, int scene) {
  const auto [weights, hops] = rollout.answer->state_weights();
  if (weights == nullptr) return;
  const int reads = static_cast<int>(weights->shape()[0]);
  const auto width = weights->shape()[2];
  if (float* hidden = floats("hidden", scene))
    std::copy_n(&(*weights)(reads - 1, b, 0), width, hidden);
  float* alignment = floats("alignment", scene);
  if (alignment == nullptr) return;
  const int said = static_cast<int>(rollout.answer->said(b).size());
  for (int j = 0; j < std::min(said + 1, reads); ++j)
    alignment = std::copy_n(&(*weights)(j, b, 0), width, alignment);
}

void AttentionWeights::record_core(const Rollout& rollout, int b, int scene) {
  float* to = floats("core", scene);
  for (int t = 0; t < rollout.core.steps; ++t) {
    const ConstMatrix weights = model_.core->attention(rollout.core, t, b);
    for (int row = 0; row < weights.rows; ++row, to += rollout.core.steps)
      std::copy_n(weights.row(row), weights.cols, to);
  }
}

void AttentionWeights::write(const std::filesystem::path& path) {
  write_npz(path, std::exchange(arrays_, {}));
}

}  // namespace saccade
