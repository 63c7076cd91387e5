#include "env/drawn_environment.h"

#include <algorithm>

#include "base/check.h"

namespace saccade {

DrawnEnvironment::DrawnEnvironment(const EnvironmentSizes& sizes, const Retina& retina, Split split,
                                   std::uint64_t seed, int episodes, int rollouts)
    : RetinaEnvironment(retina, episodes, rollouts),
      sizes_(sizes),
      split_(split),
      seed_(seed),
      rollouts_(rollouts),
      canvas_(sizes.canvas.pixels()) {
  SACCADE_CHECK(episodes % rollouts == 0);
}

void DrawnEnvironment::begin(std::uint64_t first_scene) {
  for (int b = 0; b < episodes(); b += rollouts_) show_scene(b, first_scene + b / rollouts_);
}

void DrawnEnvironment::begin_one(int episode, std::uint64_t scene) {
  if (rollouts_ > 1) return Environment::begin_one(episode, scene);
  show_scene(episode, scene);
}

// For the episode and those that share its scene.
void DrawnEnvironment::show_scene(int episode, std::uint64_t scene) {
  RandomStream stream(seed_, Purpose::scene, scene_number(split_, scene));
  std::ranges::fill(canvas_, std::uint8_t{0});
  SceneFacts facts;
  facts.is_answer[0] = true;
  draw(stream, canvas_, facts);
  for (int k = 0; k < facts.num_digits; ++k)
    facts.regions[k] = to_region(facts.boxes[k], sizes_.canvas.cols, sizes_.canvas.rows);
  show(episode, canvas_);
  std::fill_n(facts_.begin() + episode, rollouts_, facts);
}

}  // namespace saccade
