// An external program that uses the agent library: an agent learns catch for a few updates.
#include <cstdio>
#include <memory>

#include "agent/learning/learner.h"
#include "env/catch.h"

int main() {
  using namespace saccade;
  constexpr int kSide = 8;
  const Retina retina({.patch_size = 4, .scales = 2}, kSide, kSide, 1);
  const EnvironmentFactory environments = [&](int episodes, int rollouts) {
    return std::make_unique<CatchEnvironment>(std::array{kSide, kSide}, retina, Split::train, 1,
                                              episodes, rollouts);
  };
  const auto environment = environments(1, 1);
  AgentConfig config;
  config.glimpse.num_glimpses = kSide - 1;
  config.training.episodes = 1280;
  const Model model(config, {.glimpse_size = environment->glimpse_size(),
                             .num_classes = environment->num_classes(),
                             .canvas = environment->canvas(),
                             .answer = environment->answer_kind()});
  Workers workers(1);
  Learner learner(model, environments, /*seed=*/1, workers);
  while (learner.updates() < learner.total_updates()) {
    const LossSums sums = learner.step().sums;
    std::printf("%lld episodes: loss %.4f\n", static_cast<long long>(learner.episodes()),
                sums.loss() / sums.episodes);
  }
}
