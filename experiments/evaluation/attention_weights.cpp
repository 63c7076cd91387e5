#include "experiments/evaluation/attention_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace saccade {
namespace {

constexpr double kMaxBytes = 2e9;

using Shape = std::vector<std::size_t>;

std::size_t size(int n) { return static_cast<std::size_t>(n); }

// Returns the arrays of a model with their shape per scene.
std::vector<std::pair<const char*, Shape>> float_arrays(const Model& model, Kept kept,
                                                        const KeptFacts& facts) {
  std::vector<std::pair<const char*, Shape>> arrays;
  const std::size_t steps = size(model.num_glimpses());
  for (const LookWeights& weights : model.look().weights)
    arrays.push_back({weights.name, {steps, size(weights.width)}});
  if (model.gate) arrays.push_back({"gate", {steps, size(model.look().feature_size)}});
  const AnswerTraits& answer = model.answer();
  if (answer.attends && answer.spells)
    arrays.push_back({"alignment", {size(answer.outputs), steps}});
  else if (answer.attends)
    arrays.push_back({"hidden", {size(answer.hops), steps}});
  if (const int rows = model.core->attention_rows(); rows > 0)
    arrays.push_back({"core", {steps, size(rows), steps}});
  arrays.push_back({"errors", {}});
  if (kept == Kept::attention) return arrays;
  arrays.push_back({"probabilities", {size(answer.outputs), size(model.num_classes())}});
  if (const LookTraits& look = model.look(); look.pictures > 0)
    arrays.push_back({"glimpses",
                      {steps, size(look.pictures) * size(look.picture_side) *
                                  size(look.picture_side) * size(model.canvas().channels)}});
  arrays.push_back({"states", {steps, size(model.state_size())}});
  if (model.look().looks && model.look().first_action < model.num_glimpses())
    arrays.push_back({"log_probabilities", {steps}});
  if (model.answer().stops) arrays.push_back({"stop_chances", {steps}});
  if (model.learns_baseline() && !model.baseline->reads_truth())
    arrays.push_back({"baselines", {steps}});
  if (facts.canvases) {
    const std::size_t pixels = size(model.canvas().pixels());
    arrays.push_back({"canvases", facts.moves ? Shape{steps, pixels} : Shape{pixels}});
  }
  return arrays;
}

}  // namespace

AttentionWeights::AttentionWeights(const Model& model, int scenes, Kept kept,
                                   const KeptFacts& facts)
    : model_(model), scenes_(size(scenes)), facts_(facts) {
  const auto arrays = float_arrays(model, kept, facts);
  double bytes = 0.0;
  for (const auto& [name, shape] : arrays) {
    double numbers = scenes;
    for (const std::size_t side : shape) numbers *= static_cast<double>(side);
    bytes += sizeof(float) * numbers;
  }
  if (bytes > kMaxBytes)
    throw InputError(fmt::format(
        "{} {}: their attention takes {:.1f} GB; allowed: at most {:.0f} GB at a time, that is {} "
        "episodes",
        kept == Kept::attention ? "--episodes" : "scenes:", scenes, bytes / 1e9, kMaxBytes / 1e9,
        static_cast<int>(scenes * (kMaxBytes / bytes))));
  for (const auto& [name, shape] : arrays) add(name, shape);
  add_answers(model);
}

void AttentionWeights::add(const char* name, Shape shape_of_scene) {
  shape_of_scene.insert(shape_of_scene.begin(), scenes_);
  arrays_.push_back(float_array(name, std::move(shape_of_scene)));
}

void AttentionWeights::add_answers(const Model& model) {
  Shape shape = {scenes_};
  const AnswerTraits& answer = model.answer();
  if (!answer.classifies) shape.push_back(size(answer.answer_size));
  if (!answer.acts) arrays_.push_back(int_array("labels", shape, -1));
  arrays_.push_back(int_array("answers", shape, -1));
  if (answer.stops) arrays_.push_back(int_array("looks", {scenes_}, 0));
  if (facts_.boxes == 0) return;
  Shape boxes = {scenes_, size(facts_.boxes), 4};
  if (facts_.moves) boxes.insert(boxes.begin() + 1, size(model.num_glimpses()));
  arrays_.push_back(int_array("boxes", boxes, 0));
}

namespace {

// Returns where a scene begins in the named array; null if there is no such array.
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
  if (model_.core->attention_rows() > 0) record_core(rollout, b, scene);
  record_everything(rollout, b, scene);
  record_facts(rollout, b, scene);
  *floats("errors", scene) = rollout.answer->error(b);
  std::ranges::copy(rollout.answer->predictions(b), ints("answers", scene));
  if (int* looks = ints("looks", scene)) *looks = rollout.stopped_at(b);
  if (int* labels = ints("labels", scene)) std::ranges::copy(rollout.answer->labels(b), labels);
}

void AttentionWeights::record_looks(const Rollout& rollout, int b, int scene) {
  const auto copy_steps = [&](float* to, const Tensor<3>& from) {
    const auto width = from.shape()[2];
    for (int t = 0; to != nullptr && t < rollout.core.steps; ++t)
      to = std::copy_n(&from(t, b, 0), width, to);
  };
  for (const LookWeights& weights : model_.look().weights)
    copy_steps(floats(weights.name, scene), (*rollout.look).*weights.values);
  if (rollout.gate) copy_steps(floats("gate", scene), rollout.gate->weights);
}

void AttentionWeights::record_everything(const Rollout& rollout, int b, int scene) {
  if (float* to = floats("probabilities", scene)) {
    const Tensor<3>& probabilities = rollout.answer->probabilities;
    for (std::size_t s = 0; s < probabilities.shape()[0]; ++s)
      to = std::copy_n(&probabilities(s, b, 0), probabilities.shape()[2], to);
  }
  if (float* to = floats("glimpses", scene)) {
    const LookTraits& look = model_.look();
    const int width =
        look.pictures * look.picture_side * look.picture_side * model_.canvas().channels;
    for (int t = 0; t < rollout.core.steps; ++t, to += width) rollout.look->picture(t, b, to);
  }
}

void AttentionWeights::record_facts(const Rollout& rollout, int b, int scene) {
  const int steps = rollout.core.steps;
  if (float* to = floats("states", scene))
    for (int t = 1; t <= steps; ++t)
      to = std::copy_n(&rollout.core.input(t, b, rollout.core.features), rollout.core.hidden, to);
  if (float* to = floats("log_probabilities", scene))
    for (int t = 0; t < steps; ++t) to[t] = rollout.look->log_probability(t, b);
  if (float* chances = floats("stop_chances", scene))
    for (int t = 0; t < steps; ++t) chances[t] = rollout.answer->stop_credit().chances(t, b);
  int* to = ints("boxes", scene);
  for (int t = 0; to != nullptr && t < (facts_.moves ? steps : 1); ++t)
    for (int k = 0; k < facts_.boxes; ++k) {
      const Box& box = rollout.facts(t, b).boxes[k];
      for (const int number : {box.x, box.y, box.width, box.height}) *to++ = number;
    }
}

bool AttentionWeights::keeps(const char* name) const {
  return std::ranges::find(arrays_, name, &NpzArray::name) != arrays_.end();
}

void AttentionWeights::record_baselines(const Tensor<2>& baselines, int b, int scene) {
  if (float* to = floats("baselines", scene))
    for (std::size_t t = 0; t < baselines.shape()[0]; ++t) to[t] = baselines(t, b);
}

void AttentionWeights::record_canvases(const Tensor<3>& canvases, int b, int scene) {
  if (float* to = floats("canvases", scene))
    for (std::size_t t = 0; t < (facts_.moves ? canvases.shape()[0] : 1); ++t)
      to = std::copy_n(&canvases(t, b, 0), canvases.shape()[2], to);
}

void AttentionWeights::record_states(const Rollout& rollout, int b, int scene) {
  const auto [weights, hops] = rollout.answer->state_weights();
  if (weights == nullptr) return;
  const int reads = static_cast<int>(weights->shape()[0]);
  const auto width = weights->shape()[2];
  if (float* hidden = floats("hidden", scene))
    std::copy_n(&(*weights)(rollout.stopped_at(b) - 1, b, 0), width, hidden);
  float* alignment = floats("alignment", scene);
  if (alignment == nullptr) return;
  const int length = static_cast<int>(rollout.answer->predictions(b).size());
  for (int j = 0; j < std::min(length + 1, reads); ++j)
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

void AttentionWeights::write(const std::filesystem::path& path) { write_npz(path, take()); }

}  // namespace saccade
