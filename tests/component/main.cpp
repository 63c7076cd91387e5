// Looks and acts once in an environment, without an agent.
#include <cstdio>

#include "env/catch.h"

int main() {
  using namespace saccade;
  constexpr int kSide = 8;
  const Retina retina({.patch_size = 4, .scales = 2}, kSide, kSide, 1);
  CatchEnvironment environment({kSide, kSide}, retina, Split::train, /*seed=*/1, /*episodes=*/1,
                               /*rollouts=*/1);
  environment.reset(/*first_scene=*/0);
  Tensor<2> locations = {{0.0F, 0.0F}};
  Tensor<2> glimpses = zeros<2>(1, environment.glimpse_size());
  environment.look(matrix(locations), matrix(glimpses));
  const int stay = 1;
  float reward = -1.0F;
  environment.act({&stay, 1}, {&reward, 1});
  std::printf("a glimpse of %d pixels, a reward of %g\n", environment.glimpse_size(), reward);
  return reward == 0.0F ? 0 : 1;
}
