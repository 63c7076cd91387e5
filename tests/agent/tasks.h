#pragma once

#include <string>
#include <vector>

#include "agent/learning/checkpoint.h"
#include "agent/learning/learner.h"
#include "env/catch.h"
#include "env/glimpse_environment.h"
#include "env/search.h"
#include "env/words.h"
#include "tests/agent/agents.h"
#include "tests/agent/support.h"
#include "tests/support.h"

namespace saccade {

/// Everything a checkpoint keeps of a learner.
inline std::string state_of(const Learner& learner) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path / "x", learner, "", {});
  return bytes_of(folder.path / "x");
}

/// A task for agents.
struct Task {
  std::string name;
  EnvironmentFactory environments;
  ObservationSpec spec;
};

inline Task make_task(const std::string& name, const EnvironmentFactory& environments) {
  const auto environment = environments(1, 1);
  return {name,
          environments,
          {.glimpse_size = environment->glimpse_size(),
           .num_classes = environment->num_classes(),
           .canvas = environment->canvas(),
           .patch_size = 3,
           .answer = environment->answer_kind(),
           .max_symbols = environment->max_symbols()}};
}

inline Task make_scene_task(const SceneConfig& scene) {
  return make_task(scene.kind, [scene](int episodes, int rollouts) {
    const auto [rows, cols] = scene.canvas;
    const SceneMaker scenes(scene, {}, tiny_digits(), DigitOrder::shuffled, 7);
    const Retina retina({.patch_size = 3, .scales = 2}, rows, cols, 1);
    return std::make_unique<GlimpseEnvironment>(scenes, retina, episodes, rollouts);
  });
}

/// Two to four digits in tiles.
inline Task bag_task() {
  return make_scene_task(
      {.kind = "bag", .canvas = {12, 12}, .num_digits = 4, .min_digits = 2, .border = 0});
}

/// One to three digits from left to right.
inline Task transcribe_task() {
  return make_scene_task({.kind = "transcribe",
                          .canvas = {10, 26},
                          .num_digits = 3,
                          .min_digits = 1,
                          .num_distractors = 2,
                          .distractor_size = 3});
}

/// Numbers of one or two digits.
inline Task words_task(int max_number = 29) {
  return make_task("digits_to_words", [=](int episodes, int rollouts) {
    return std::make_unique<WordsEnvironment>(max_number, Split::train, 3, episodes, rollouts);
  });
}

constexpr std::array<int, 2> kCatchCanvas = {6, 5};  // a ball lands in five steps

inline Task catch_task() {
  return make_task("catch", [](int episodes, int rollouts) {
    const auto [rows, cols] = kCatchCanvas;
    const Retina retina({.patch_size = 3, .scales = 2}, rows, cols, 1);
    return std::make_unique<CatchEnvironment>(kCatchCanvas, retina, Split::train, 7, episodes,
                                              rollouts);
  });
}

/// One to four digits, one of which may be of the cue's class.
inline Task search_task() {
  return make_task("search", [](int episodes, int rollouts) {
    const SceneConfig scene{.kind = "search", .canvas = {12, 15}, .num_digits = 4, .min_digits = 1};
    const Retina retina({.patch_size = 3, .scales = 2}, 12, 15, 1);
    return std::make_unique<SearchEnvironment>(scene, AugmentationConfig{}, tiny_digits(),
                                               DigitOrder::shuffled, retina, 7, episodes, rollouts);
  });
}

/// The agents of `base` that can search: looks at points or, by their location, at candidates,
/// with and without a context.
inline std::vector<NamedAgent> every_searcher(const AgentConfig& base) {
  std::vector<NamedAgent> all;
  for (const auto& [name, agent] : every_agent(base)) {
    const GlimpseKind& kind = find_glimpse_kind(agent.glimpse.kind);
    if (agent.model.kind != "recurrent" || !kind.sees_motion || sees_all_candidates(agent.glimpse))
      continue;
    all.push_back({name, agent});
    all.back().config.glimpse.first = "center";
  }
  return all;
}

struct TaskAgent {
  std::string name;
  AgentConfig config;
  Task task;
};

/// Agents with attention over their inputs and states, for every task.
inline std::vector<TaskAgent> every_task_agent(const AgentConfig& base) {
  AgentConfig config = base;
  config.glimpse.num_glimpses = 4;
  config.hidden.attend.score_hidden = 7;
  config.hidden.hops = 2;
  config.hidden.penalty = 0.1;
  config.decoder.hidden_size = 6;
  AgentConfig gated = config;
  gated.input = {.kind = "gate", .alpha = 2.0, .learn_alpha = true};

  std::vector<TaskAgent> all;
  for (const std::string& kind : hidden_kinds()) {
    gated.hidden.kind = kind;
    for (const char* glimpse : {"hard_gaussian", "soft_grid"}) {
      gated.glimpse.kind = glimpse;
      all.push_back({"gate, " + kind + ", " + glimpse, gated, bag_task()});
    }
    if (kind == "self") continue;
    AgentConfig reader = config;
    reader.hidden.kind = kind;
    reader.glimpse.kind = "whole";
    all.push_back({"reader, " + kind, reader, words_task()});
    reader.glimpse.kind = "hard_gaussian";
    all.push_back({"transcriber, " + kind, reader, transcribe_task()});
  }
  for (const std::string& stop : stop_kinds()) {
    if (!find_stop_kind(stop).stops) continue;
    AgentConfig transcriber = config;
    transcriber.hidden.kind = "attend";
    transcriber.glimpse.stop = stop;
    all.push_back({"transcriber, stop " + stop, transcriber, transcribe_task()});
  }
  AgentConfig whole = gated;
  whole.glimpse.kind = "whole";
  whole.glimpse.size = {5, 4};
  for (const std::string& order : reading_orders()) {
    whole.glimpse.order = order;
    all.push_back({"whole, " + order, whole, bag_task()});
  }
  for (const char* glimpse : {"hard_gaussian", "hard_categorical", "soft_grid", "soft_point"}) {
    AgentConfig catcher = config;
    catcher.glimpse.kind = glimpse;
    catcher.glimpse.num_glimpses = 10;
    catcher.glimpse.grid = {.cells = {2, 2}, .stride = 2};
    catcher.reinforce.discount = 0.9;
    catcher.reinforce.action_entropy = 0.02;
    all.push_back({std::string("catcher, ") + glimpse, catcher, catch_task()});
  }
  for (const auto& [name, searcher] : every_searcher(config))
    if (searcher.model.context != "none")
      all.push_back({"searcher, " + name, searcher, search_task()});
  return all;
}

}  // namespace saccade
