#include "env/source_environment.h"

#include <algorithm>

namespace saccade {

void SourceEnvironment::begin(std::uint64_t first_scene) {
  source_.visit(first_scene, episodes() / rollouts_,
                [this](int i, std::span<const std::uint8_t> canvas, const SceneFacts& facts) {
                  show_scene(i * rollouts_, canvas, facts);
                });
}

void SourceEnvironment::begin_one(int episode, std::uint64_t scene) {
  if (rollouts_ > 1) return Environment::begin_one(episode, scene);
  source_.visit(scene, 1, [&](int, std::span<const std::uint8_t> canvas, const SceneFacts& facts) {
    show_scene(episode, canvas, facts);
  });
}

// In the episode and in those that share its scene.
void SourceEnvironment::show_scene(int episode, std::span<const std::uint8_t> canvas,
                                   const SceneFacts& facts) {
  show(episode, canvas);
  std::fill_n(facts_.begin() + episode, rollouts_, facts);
}

}  // namespace saccade
