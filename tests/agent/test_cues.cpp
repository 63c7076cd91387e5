// Agents in a world that begins with a cue: the first look sees it, and all that is learned from
// later looks is of what follows.
#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

#include "agent/looking/context_network.h"
#include "agent/model/rollout.h"
#include "tests/agent/slopes.h"
#include "tests/agent/tasks.h"

namespace saccade {
namespace {

// What each of the locations (B, 2) of the rollout at step t sees now.
std::vector<float> seen_there(const Rollout& rollout, Environment& environment, int t) {
  const int size = environment.glimpse_size();
  Tensor<2> glimpses = zeros<2>(rollout.episodes(), size);
  Tensor<2> slopes = zeros<2>(rollout.episodes(), 2 * size);
  const ConstMatrix locations = step(rollout.look->locations, t);
  environment.look_smoothly(locations, matrix(glimpses), matrix(slopes));
  return values_of(matrix(glimpses));
}

}  // namespace

TEST_CASE("cues: the first look sees the cue, the others see the display") {
  const Task search = search_task();
  for (const auto& [name, config] : every_searcher(busy_config("rnn"))) {
    if (!Model(config, search.spec).look().smooth) continue;
    CAPTURE(name);
    Played played(config, search.spec, search.environments);
    const Rollout& rollout = played.lane.rollout();
    const auto twin = search.environments(kEpisodes, config.reinforce.rollouts);
    twin->reset(kFirstScene);
    for (int t = 0; t < rollout.core.steps; ++t) {
      if (t == 1) twin->end_cue();
      CHECK(values_of(step(rollout.look->glimpses, t)) == seen_there(rollout, *twin, t));
      for (int b = 0; b < kEpisodes; ++b) {
        CHECK(rollout.facts(t, b).boxes == twin->facts()[b].boxes);
        CHECK(rollout.facts(t, b).label == twin->facts()[b].label);
      }
    }
  }
}

TEST_CASE("cues: the oracle looks at the cue and then at the target") {
  const Task search = search_task();
  AgentConfig config = busy_config("rnn");
  config.glimpse.kind = "oracle";
  Played played(config, search.spec, search.environments);
  const Rollout& rollout = played.lane.rollout();
  for (int b = 0; b < kEpisodes; ++b) {
    CHECK(rollout.look->locations(0, b, 0) == doctest::Approx(0.0).epsilon(0.1));
    for (int t = 1; t < rollout.core.steps; ++t)
      CHECK(rollout.facts(t, b).regions[0].contains(rollout.look->locations(t, b, 0),
                                                    rollout.look->locations(t, b, 1)));
  }
}

TEST_CASE("cues: a context is of the display, and places the second look") {
  // After the same cue, seen in the same place, the state is the same.
  constexpr int kScenes = 24;  // every digit is the cue of two
  const Task search = search_task();
  for (const std::string& context : contexts()) {
    CAPTURE(context);
    AgentConfig config = tiny_config();
    config.glimpse.first = "center";
    config.model.context = context;
    const Model model(config, search.spec);
    Tensor<1> parameters = zeros<1>(model.layout().size());
    randomize(flat(parameters), model.layout(), 0.4F, 5);
    Rollout rollout(model, search.environments(kScenes, 1));
    rollout.run(flat(parameters), {.sampling = SamplingMode::deterministic});
    const std::span<const SceneFacts> facts = rollout.environment->facts();
    int pairs = 0;
    for (int a = 0; a < kScenes; ++a)
      for (int b = 0; b < a; ++b) {
        if (facts[a].sources[0] != facts[b].sources[0]) continue;
        ++pairs;
        CHECK((rollout.look->decisions(1, a, 0) == rollout.look->decisions(1, b, 0)) ==
              (context == "none"));
      }
    CHECK(pairs == 12);
  }
}

TEST_CASE("cues: the gradient of every agent that can search is the slope of its losses") {
  const Task search = search_task();
  const std::vector<std::string> cores = core_kinds();
  std::size_t now = 0;
  for (const auto& [name, agent] : every_searcher(busy_config("rnn")))
    for (const std::string first : {"center", "random", "learned"}) {
      if (agent.model.context != "none" && first == "learned") continue;
      AgentConfig config = agent;
      config.glimpse.first = first;
      config.model.core = cores[now++ % cores.size()];
      CAPTURE(name);
      CAPTURE(first);
      CAPTURE(config.model.core);
      check_slopes(config, search.spec, search.environments);
    }
}

}  // namespace saccade
