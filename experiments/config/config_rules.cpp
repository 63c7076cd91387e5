#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>

#include "agent/looking/looking.h"
#include "agent/model/check.h"
#include "base/error.h"
#include "env/task_kinds.h"
#include "experiments/config/config_table.h"
#include "experiments/config/unused_settings.h"

// The rules are those of the library: each stands where the thing is that it is about. Here they
// get the place of what was given. What was not given is settled here, and what a task asks of the
// agent stands here.
namespace saccade {
namespace {

bool is_of_key(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

// The place of the first setting that a message names and that was given; empty if none was. A word
// without a dot is no setting there: `name` and `seed` are words, too.
std::string place_of(const std::string& message, const GivenKeys& given) {
  for (auto begin = message.begin(), end = begin; begin != message.end(); begin = end) {
    begin = std::find_if(begin, message.end(), is_of_key);
    end = std::find_if_not(begin, message.end(), is_of_key);
    std::string word(begin, end);
    while (word.ends_with('.')) word.pop_back();
    const auto found = given.find(word);
    if (found != given.end() && word.find('.') != std::string::npos) return found->second;
  }
  return "";
}

// Runs a rule of the library. What it throws gets its place.
template <class Rule>
void at_its_place(const GivenKeys& given, const Rule& rule) {
  try {
    rule();
  } catch (const InputError& error) {
    const std::string place = place_of(error.what(), given);
    throw InputError(place.empty() ? error.what() : place + ": " + error.what());
  }
}

// Throws unless `holds`, at the place of the first of `keys` that was given.
void require(bool holds, const GivenKeys& given, std::initializer_list<const char*> keys,
             const std::string& message) {
  if (holds) return;
  for (const char* key : keys)
    if (const auto found = given.find(key); found != given.end())
      throw InputError(found->second + ": " + message);
  throw InputError(message);
}

// What a world that moves asks of the agent that acts in it.
void resolve_actions(const Config& config, const TaskKind& task, const GivenKeys& given) {
  const AgentConfig& agent = config.agent;
  const std::string& name = config.scene.kind;
  require(agent.model.kind == "recurrent" && find_glimpse_kind(agent.glimpse.kind).sees_motion,
          given, {"model.kind", "attention.glimpse.kind", "scene.kind"},
          fmt::format("scene.kind: {} moves while it is looked at and needs model.kind: recurrent "
                      "and an attention.glimpse.kind that takes glimpses of points or of a grid",
                      name));
  const int least = task.first_event(config.scene);
  require(agent.glimpse.num_glimpses >= least, given,
          {"attention.glimpse.num_glimpses", "scene.canvas", "scene.kind"},
          fmt::format("attention.glimpse.num_glimpses: {} ends before {}; allowed: {} and more",
                      agent.glimpse.num_glimpses, task.event, least));
}

// What a text asks of the agent that reads it.
void resolve_text(const Config& config, const GivenKeys& given) {
  const AgentConfig& agent = config.agent;
  require(agent.model.kind == "recurrent", given, {"model.kind", "scene.kind"},
          fmt::format("model.kind: {} cannot read a text; allowed: recurrent", agent.model.kind));
  require(agent.glimpse.kind == "whole", given, {"attention.glimpse.kind", "scene.kind"},
          fmt::format("attention.glimpse.kind: {} cannot look at scene.kind: {}, a text; allowed: "
                      "whole",
                      agent.glimpse.kind, config.scene.kind));
}

// A scan walks the tiles of as many digits as it has glimpses.
void resolve_tiles(const Config& config, const GivenKeys& given) {
  const int digits = config.scene.num_digits, glimpses = config.agent.glimpse.num_glimpses;
  require(config.agent.glimpse.kind != "scan" || glimpses == digits, given,
          {"attention.glimpse.num_glimpses", "scene.num_digits", "scene.kind"},
          fmt::format("attention.glimpse.num_glimpses: {} of attention.glimpse.kind: scan miss the "
                      "tiles of scene.kind: {}; allowed: scene.num_digits: {}",
                      glimpses, config.scene.kind, digits));
}

void resolve_task(const Config& config, const GivenKeys& given) {
  const TaskKind& task = find_task_kind(config.scene.kind);
  if (task.is_tiled) resolve_tiles(config, given);
  if (task.moves()) resolve_actions(config, task, given);
  if (task.is_text) resolve_text(config, given);
}

// Gives a setting the value that the same one of another table has.
void assign(const Setting& setting, const Setting& from) {
  std::visit([&](auto* field) { *field = *std::get<decltype(field)>(from.field); }, setting.field);
}

}  // namespace

// What nobody said is what the rest implies.
void settle(Config& config) {
  const GivenKeys& given = config.given;
  SceneConfig scene = config.scene;
  settle(scene);
  if (!given.contains("scene.num_distractors"))
    config.scene.num_distractors = scene.num_distractors;
  settle(config.agent.glimpse);
  GlimpseConfig& glimpse = config.agent.glimpse;
  if (find_glimpse_kind(glimpse.kind).has_candidates && glimpse.grid.tiles[0] == 0 &&
      !given.contains("attention.glimpse.grid") && !given.contains("attention.glimpse.stride"))
    spread_over(glimpse.grid, config.scene.canvas[0], config.scene.canvas[1]);
  OptimizerConfig& optimizer = config.agent.training.optimizer;
  if (!given.contains("training.final_learning_rate") &&
      optimizer.final_learning_rate > optimizer.learning_rate)
    optimizer.final_learning_rate = 0.01 * optimizer.learning_rate;
}

// What is left out may have been what another setting needed, and what is settled follows from what
// is left.
void leave_out_unused(Config& config) {
  Config defaults;
  const std::vector<Setting> table = settings(config), default_table = settings(defaults);
  while (true) {
    Config settled = config;
    settle(settled);
    const std::vector<UnusedSetting> unused = unused_settings(settled);
    if (unused.empty()) {
      config = std::move(settled);
      return;
    }
    for (const UnusedSetting& setting : unused) {
      const auto at = std::ranges::find(table, setting.key, &Setting::key) - table.begin();
      assign(table[at], default_table[at]);
      config.given.erase(setting.key);
      config.unused.push_back(setting);
    }
  }
}

void resolve(Config& config) {
  leave_out_unused(config);
  const GivenKeys& given = config.given;
  at_its_place(given, [&] {
    check(config.data);
    check(config.scene);
  });
  resolve_task(config, given);
  at_its_place(given, [&] { check(config.agent, find_task_kind(config.scene.kind).answer); });
}

}  // namespace saccade
