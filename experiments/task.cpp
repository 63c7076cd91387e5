#include "experiments/task.h"

#include <cmath>

namespace saccade {

Task::Task(const Config& config_)
    : config(config_),
      digits(load_digits(config.data)),
      retina(config.retina, config.scene.canvas[0], config.scene.canvas[1],
             digits.train.channels()),
      train_scenes(config.scene, config.augmentation, digits.train, DigitOrder::shuffled,
                   config.seed),
      valid_scenes(config.scene, {}, digits.valid, DigitOrder::fixed, config.evaluation.seed),
      test_scenes(config.scene, {}, digits.test, DigitOrder::fixed, config.evaluation.seed),
      model(config.agent,
            {.glimpse_size = retina.glimpse_size(),
             .num_classes = train_scenes.num_classes(),
             .canvas = {digits.train.channels(), config.scene.canvas[0], config.scene.canvas[1]},
             .patch_size = config.retina.patch_size}) {}

std::string Task::class_name(int label) const {
  const std::vector<std::string>& names = digits.class_names;
  if (config.scene.num_digits == 1) return names[label];
  if (config.scene.label != "pair") return std::to_string(label);
  int high = 0;  // pairs are numbered by their higher class
  while ((high + 1) * (high + 2) / 2 <= label) ++high;
  return names[label - high * (high + 1) / 2] + "+" + names[high];
}

double Task::canvas_pixels_per_episode() const {
  const int steps = model.num_glimpses();
  if (model.sees_canvas() || model.filters)
    return static_cast<double>(steps) * config.scene.canvas[0] * config.scene.canvas[1];
  const double side =
      config.retina.patch_size * std::pow(config.retina.scale_factor, config.retina.scales - 1);
  return side * side * (model.looks_at_all_candidates() ? model.num_candidates() : steps);
}

EnvironmentFactory Task::environments(const SceneMaker& scenes) const {
  return [this, &scenes](int episodes, int rollouts) {
    return std::make_unique<GlimpseEnvironment>(scenes, retina, episodes, rollouts);
  };
}

}  // namespace saccade
