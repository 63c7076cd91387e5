#include "experiments/task/task.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "env/catch.h"
#include "nn/error.h"

namespace saccade {
namespace {

bool has_digits(const SceneConfig& scene) {
  return scene.kind != "catch" && scene.kind != "digits_to_words";
}

std::optional<Retina> retina_of(const Config& config, int channels) {
  if (config.scene.kind == "digits_to_words") return {};
  return Retina(config.retina, config.scene.canvas[0], config.scene.canvas[1], channels);
}

const DigitSet& digits_of(const Digits& digits, Split split) {
  return split == Split::train ? digits.train : split == Split::valid ? digits.valid : digits.test;
}

}  // namespace

Task::Task(const Config& config_)
    : config(config_),
      digits(has_digits(config.scene) ? load_digits(config.data) : Digits{}),
      retina(retina_of(config, has_digits(config.scene) ? digits.train.channels() : 1)),
      model(config.agent, sight()) {}

// What an environment of the task says of itself.
Sight Task::sight() const {
  const auto environment = make_environment(Split::test, 0, 1, 1);
  return {.glimpse_size = environment->glimpse_size(),
          .num_classes = environment->num_classes(),
          .canvas = environment->canvas(),
          .patch_size = config.retina.patch_size,
          .answer = environment->answer_kind(),
          .max_symbols = environment->max_symbols()};
}

std::string Task::class_name(int label) const {
  const SceneConfig& scene = config.scene;
  if (scene.kind == "catch") return catch_actions()[label];
  if (scene.kind == "digits_to_words") return word_names()[label];
  const std::vector<std::string>& names = digits.class_names;
  if (scene.kind == "transcribe" && label == model.num_classes() - 1) return "<end>";
  if (scene.num_digits == 1 || scene.kind == "transcribe" || scene.kind == "bag")
    return names[label];
  if (scene.label != "pair") return std::to_string(label);
  int high = 0;  // pairs are numbered by their higher class
  while ((high + 1) * (high + 2) / 2 <= label) ++high;
  return names[label - high * (high + 1) / 2] + "+" + names[high];
}

std::string Task::spoken(std::span<const int> labels) const {
  std::vector<std::string> names;
  for (const int label : labels) names.push_back(class_name(label));
  const bool letters =
      std::ranges::all_of(names, [](const auto& name) { return name.size() == 1; });
  return fmt::format("{}", fmt::join(names, letters ? "" : " "));
}

double Task::canvas_pixels_per_episode() const {
  const CanvasSize canvas = model.canvas();
  const double pixels = static_cast<double>(canvas.rows) * canvas.cols;
  const int steps = model.num_glimpses();
  if (model.sees_canvas()) return pixels;
  if (model.filters) return steps * pixels;
  const double side =
      config.retina.patch_size * std::pow(config.retina.scale_factor, config.retina.scales - 1);
  return side * side * (model.looks_at_all_candidates() ? model.num_candidates() : steps);
}

EnvironmentFactory Task::environments(Split split) const {
  return environments(split, split == Split::train ? config.seed : config.evaluation.seed);
}

EnvironmentFactory Task::environments(Split split, std::uint64_t seed) const {
  return [this, split, seed](int episodes, int rollouts) {
    return make_environment(split, seed, episodes, rollouts);
  };
}

std::unique_ptr<Environment> Task::make_environment(Split split, std::uint64_t seed, int episodes,
                                                    int rollouts) const {
  const SceneConfig& scene = config.scene;
  if (scene.kind == "catch")
    return std::make_unique<CatchEnvironment>(scene.canvas, *retina, split, seed, episodes,
                                              rollouts);
  if (scene.kind == "digits_to_words")
    return std::make_unique<WordsEnvironment>(scene.max_number, split, seed, episodes, rollouts);
  const bool training = split == Split::train;
  const SceneMaker scenes(scene, training ? config.augmentation : AugmentationConfig{},
                          digits_of(digits, split),
                          training ? DigitOrder::shuffled : DigitOrder::fixed, seed);
  return std::make_unique<GlimpseEnvironment>(scenes, *retina, episodes, rollouts);
}

}  // namespace saccade
