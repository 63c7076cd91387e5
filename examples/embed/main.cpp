// Steps an environment by hand, then trains an agent in it and tests it.
#include <cstdio>

#include "experiments/evaluation/evaluator.h"
#include "experiments/task/task.h"

int main() {
  using namespace saccade;
  const Config config = parse_config(R"(
data: {source: synthetic}
scene: {kind: translated, canvas: [36, 36]}
retina: {patch_size: 8, scales: 2}
attention: {glimpse: {kind: soft_point, num_glimpses: 4, first: center}}
training: {episodes: 51_200, learning_rate: 0.002})",
                                     "embed");
  const Task task(config);

  // Two episodes, one look each: at the middle, and to the upper left.
  const auto environment = task.environments(Split::test)(/*episodes=*/2, /*rollouts=*/1);
  environment->reset(/*first_scene=*/0);
  Tensor<2> locations = {{0.0F, 0.0F}, {-0.5F, -0.5F}};
  Tensor<2> glimpses = zeros<2>(2, environment->glimpse_size());
  environment->look(matrix(locations), matrix(glimpses));
  std::vector<float> rewards(2);
  environment->answer(std::vector<int>{3, 7}, rewards);
  std::printf("said 3 and 7, it was %d and %d: rewards %g and %g\n", environment->facts()[0].label,
              environment->facts()[1].label, rewards[0], rewards[1]);

  Workers workers(/*threads=*/0);
  Learner learner(task.model, task.environments(Split::train), config.seed, workers);
  while (learner.updates() < learner.total_updates()) learner.step();

  constexpr int kScenes = 1000;
  Evaluator evaluator(task.model, task.environments(Split::test), kScenes, config.evaluation.seed,
                      workers);
  const double error = evaluator.run(flat(learner.parameters), {}).error;
  std::printf("%lld episodes of training: error %.1f %%\n",
              static_cast<long long>(learner.episodes()), 100 * error);
  return error < 0.6 ? 0 : 1;
}
