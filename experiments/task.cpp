#include "experiments/task.h"

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

EnvironmentFactory Task::environments(const SceneMaker& scenes) const {
  return [this, &scenes](int episodes, int rollouts) {
    return std::make_unique<GlimpseEnvironment>(scenes, retina, episodes, rollouts);
  };
}

}  // namespace saccade
