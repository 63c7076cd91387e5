#include "env/glimpse_environment.h"

#include <algorithm>

namespace saccade {

GlimpseEnvironment::GlimpseEnvironment(const SceneMaker& scenes, const Retina& retina, int episodes,
                                       int rollouts)
    : RetinaEnvironment(retina, episodes, rollouts),
      scenes_(scenes),
      rollouts_(rollouts),
      buffer_(scenes.make_buffer()) {}

void GlimpseEnvironment::begin(std::uint64_t first_scene) {
  for (int b = 0; b < episodes(); b += rollouts_) {
    std::fill_n(facts_.begin() + b, rollouts_, scenes_.make(first_scene + b / rollouts_, buffer_));
    show(b, buffer_.canvas);
  }
}

void GlimpseEnvironment::begin_one(int episode, std::uint64_t scene) {
  if (rollouts_ > 1) return Environment::begin_one(episode, scene);
  facts_[episode] = scenes_.make(scene, buffer_);
  show(episode, buffer_.canvas);
}

}  // namespace saccade
