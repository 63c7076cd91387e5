// A training step allocates nothing after warm-up.
#include <doctest/doctest.h>

#include "agent/learning/learner.h"
#include "agent/looking/canvas_network.h"
#include "tests/agent/tasks.h"
#include "tests/count_allocations.h"

namespace saccade {
namespace {

TEST_CASE("the counter counts") {
  // Called by name: the compiler may remove a new expression whose memory is unused.
  auto take = [](int) { ::operator delete(::operator new(100)); };
  CHECK(count_allocations([&] { take(0); }) == 1);
  CHECK(count_allocations([] { zeros<2>(3, 4); }) >= 1);
  Workers workers(2);
  CHECK(count_allocations([&] { workers.for_each(8, take); }) >= 8);
}

long allocations_of_updates(const AgentConfig& config, const ObservationSpec& spec = kTinySpec,
                            const EnvironmentFactory& environments = tiny_environment) {
  const Model model(config, spec);
  Workers workers(2);
  Learner learner(model, environments, 1, workers);
  for (int n = 0; n < 3; ++n) learner.step();
  // A thread allocates its own buffers at its first product, and when that is is unpredictable: a
  // step that allocates does so on every attempt, a late thread only once.
  long allocations = 0;
  for (int attempt = 0; attempt < 10; ++attempt) {
    allocations = count_allocations([&] {
      for (int n = 0; n < 5; ++n) learner.step();
    });
    if (allocations == 0) break;
  }
  return allocations;
}

TEST_CASE("a training step allocates nothing after warm-up") {
  for (const std::string& core : core_kinds()) {
    CAPTURE(core);
    for (const std::string& optimizer : optimizers()) {
      CAPTURE(optimizer);
      AgentConfig config = tiny_config(core);
      config.glimpse.first = "learned";
      config.glimpse.learn_std = true;
      config.reinforce.rollouts = 2;
      config.training.step_loss = 0.5;
      config.training.optimizer.optimizer = optimizer;
      CHECK(allocations_of_updates(config) == 0);
    }
    CHECK(allocations_of_updates(full_size_config(core)) == 0);
  }
}

TEST_CASE(
    "a training step allocates nothing after warm-up, with every advantage and separate learning "
    "rates") {
  for (const std::string& advantage : advantage_estimators())
    for (const std::string& reward : judged_rewards())
      for (const std::string& critic : critic_kinds()) {
        if (critic != "linear" && !find_advantage(advantage).reads_baseline) continue;
        CAPTURE(advantage);
        CAPTURE(reward);
        CAPTURE(critic);
        AgentConfig config = tiny_config("gru");
        set_credit(config, advantage, reward);
        config.reinforce.critic = critic;
        config.reinforce.rollouts = 2;
        config.training.locator_factor = 2.0;
        CHECK(allocations_of_updates(config) == 0);
      }
}

TEST_CASE("a training step allocates nothing after warm-up, with every way of looking") {
  AgentConfig base = tiny_config();
  base.glimpse.first = "learned";
  base.training.step_loss = 0.5;
  for (const auto& [name, config] : every_agent(base)) {
    CAPTURE(name);
    CHECK(allocations_of_updates(config) == 0);
  }
}

TEST_CASE(
    "a training step allocates nothing after warm-up, with attention over inputs and states, in "
    "every task") {
  AgentConfig base = tiny_config("lstm");
  base.training.step_loss = 0.5;
  for (const auto& [name, config, task] : every_task_agent(base)) {
    CAPTURE(name);
    CHECK(allocations_of_updates(config, task.spec, task.environments) == 0);
  }
}

void check_playing(const AgentConfig& config, const ObservationSpec& spec,
                   const EnvironmentFactory& environments) {
  const Model model(config, spec);
  Tensor<1> parameters = zeros<1>(model.layout().size());
  model.layout().initialize(flat(parameters), 1);
  Rollout rollout(model, environments(8, 1));
  for (const SamplingMode sampling :
       {SamplingMode::training, SamplingMode::argmax, SamplingMode::sample}) {
    const RolloutRequest request{.sampling = sampling};
    rollout.run(flat(parameters), request);
    CHECK(count_allocations([&] { rollout.run(flat(parameters), request); }) == 0);
  }
  const RolloutRequest other{.policy = find_policy("random")};
  CHECK(count_allocations([&] { rollout.run(flat(parameters), other); }) == 0);
}

TEST_CASE("playing episodes allocates nothing") {
  for (const auto& [name, config] : every_agent(tiny_config())) {
    CAPTURE(name);
    check_playing(config, kTinySpec, tiny_environment);
  }
  for (const auto& [name, config, task] : every_task_agent(tiny_config())) {
    CAPTURE(name);
    check_playing(config, task.spec, task.environments);
  }
}

TEST_CASE("a canvas network allocates nothing after warm-up") {
  constexpr int kEpisodes = 3, kFeatures = 5;
  const CanvasSizes sizes{.channels = 3,
                          .rows = 20,
                          .cols = 20,
                          .hidden = 7,
                          .conv_channels = {4, 6},
                          .kernel_size = 5,
                          .features = kFeatures};
  for (const std::string& kind : canvas_network_kinds()) {
    CAPTURE(kind);
    ParameterLayout layout;
    const auto network = make_canvas_network(kind, sizes, layout);
    Tensor<1> parameters = zeros<1>(layout.size()), gradient = parameters;
    layout.initialize(flat(parameters), 1);
    const auto memory = network->make_memory(kEpisodes);
    const Tensor<2> canvases = zeros<2>(kEpisodes, sizes.canvas_size());
    Tensor<2> feature = zeros<2>(kEpisodes, kFeatures), dfeature = feature;
    const auto play = [&] {
      network->forward(matrix(feature), *memory, matrix(canvases), flat(parameters));
      network->backward(flat(gradient), *memory, matrix(dfeature), matrix(feature),
                        matrix(canvases), flat(parameters));
    };
    play();
    CHECK(count_allocations(play) == 0);
  }
}

}  // namespace
}  // namespace saccade
