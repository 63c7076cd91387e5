#include <fmt/format.h>

#include <utility>

#include "agent/looking/context_network.h"
#include "agent/looking/glimpse_input.h"
#include "agent/looking/location_estimator.h"
#include "agent/looking/looking.h"
#include "agent/model/check.h"
#include "attention/moves.h"
#include "attention/policy.h"
#include "base/error.h"
#include "env/task_kinds.h"
#include "experiments/config/settings.h"
#include "experiments/config/unused_settings.h"

// Rules about single parts are in their libraries; here their messages get the place of the
// setting. Rules about what a task requires of the agent are here.
namespace saccade {
namespace {

// Calls `rule`. Adds to the message of a SettingError the place of the first of its settings that
// was given.
template <class Rule>
void at_its_place(const GivenKeys& given, const Rule& rule) {
  try {
    rule();
  } catch (const SettingError& error) {
    for (const std::string& key : error.keys)
      if (const auto found = given.find(key); found != given.end())
        throw SettingError(error.keys, found->second + ": " + error.what());
    throw;
  }
}

// A world that moves requires an agent that sees it at every step.
void check_motion(const Config& config) {
  const AgentConfig& agent = config.agent;
  if (!is_recurrent(agent.model) || !find_glimpse_kind(agent.glimpse.kind).sees_motion)
    throw SettingError(
        {"model.kind", "attention.glimpse.kind", "scene.kind"},
        fmt::format("scene.kind: {} changes while it is looked at and needs model.kind: recurrent "
                    "and an attention.glimpse.kind that takes glimpses of points or of a grid",
                    config.scene.kind));
}

// A world with actions requires enough of them to earn a reward.
void check_actions(const Config& config, const TaskKind& task) {
  const AgentConfig& agent = config.agent;
  if (task.first_event == nullptr) return;
  if (const int least = task.first_event(config.scene); agent.glimpse.num_glimpses < least)
    throw SettingError(
        {"attention.glimpse.num_glimpses", "scene.canvas", "scene.kind"},
        fmt::format("attention.glimpse.num_glimpses: {} ends before {}; allowed: {} and more",
                    agent.glimpse.num_glimpses, task.event, least));
}

// Only the first look may see the cue: the agent must see the scene that follows it.
void check_cue(const Config& config) {
  const AgentConfig& agent = config.agent;
  const GlimpseConfig& glimpse = agent.glimpse;
  if (sees_all_candidates(glimpse))
    throw SettingError(
        {"attention.glimpse.kind", "attention.glimpse.addressing", "scene.kind"},
        fmt::format("attention.glimpse.kind: {} with attention.glimpse.addressing: {} sees all "
                    "candidates once, when scene.kind: {} shows its cue; allowed: kinds that look "
                    "at points, or hard_categorical with attention.glimpse.addressing: location",
                    glimpse.kind, glimpse.addressing, config.scene.kind));
  if (has_context(agent.model) && first_is_learned(glimpse.first))
    throw SettingError(
        {"attention.glimpse.first", "model.context", "scene.kind"},
        fmt::format("attention.glimpse.first: {} with model.context: {} places the first look by "
                    "the canvas, where scene.kind: {} shows its cue; allowed: center or random",
                    glimpse.first, agent.model.context, config.scene.kind));
  if (glimpse.num_glimpses < 2)
    throw SettingError(
        {"attention.glimpse.num_glimpses", "scene.kind"},
        fmt::format("attention.glimpse.num_glimpses: {} sees only the cue of scene.kind: {}; "
                    "allowed: 2 and more",
                    glimpse.num_glimpses, config.scene.kind));
}

// A text requires an agent that reads it line by line.
void check_text(const Config& config) {
  const AgentConfig& agent = config.agent;
  if (!is_recurrent(agent.model))
    throw SettingError(
        {"model.kind", "scene.kind"},
        fmt::format("model.kind: {} cannot read a text; allowed: recurrent", agent.model.kind));
  if (find_glimpse_kind(agent.glimpse.kind).takes_glimpses)
    throw SettingError({"attention.glimpse.kind", "scene.kind"},
                       fmt::format("attention.glimpse.kind: {} cannot look at scene.kind: {}, a "
                                   "text; allowed: whole",
                                   agent.glimpse.kind, config.scene.kind));
}

// A world that gives single glimpses requires an agent and a run that need no canvas.
void check_given_glimpses(const Config& config) {
  const AgentConfig& agent = config.agent;
  const auto require = [&](bool allowed, const std::string& key, const std::string& value,
                           const std::string& others) {
    if (!allowed)
      throw SettingError(
          {key, "scene.kind"},
          fmt::format("{}: {} needs a canvas, and scene.kind: {} gives only the glimpses of one "
                      "place at a time; allowed: {}",
                      key, value, config.scene.kind, others));
  };
  require(is_recurrent(agent.model), "model.kind", agent.model.kind, "recurrent");
  const GlimpseConfig& glimpse = agent.glimpse;
  const GlimpseKind& kind = find_glimpse_kind(glimpse.kind);
  const bool looks_anywhere = kind.has_moves && !kind.has_candidates;
  require(looks_anywhere && kind.learning != GlimpseKind::Learning::backpropagation,
          "attention.glimpse.kind", glimpse.kind,
          "those that look at one place and do not learn by backpropagation, as hard_gaussian");
  const LogRange zoom = zoom_of(agent);
  require(zoom == LogRange{}, "attention.glimpse.zoom", fmt::format("{} to {}", zoom.from, zoom.to),
          "1");
  require(!find_location_estimator(agent.reinforce.estimator).by_path, "reinforce.estimator",
          agent.reinforce.estimator, "score");
  require(!has_context(agent.model), "model.context", agent.model.context, "none");
  require(!reads_squares(agent.model.glimpse_network), "model.glimpse_network",
          agent.model.glimpse_network, "mlp");
  require(config.record.every == 0, "record.every", std::to_string(config.record.every), "0");
}

// A scan visits the tiles of as many digits as it has glimpses.
void check_tiles(const Config& config) {
  const int digits = config.scene.num_digits, glimpses = config.agent.glimpse.num_glimpses;
  const std::string& kind = config.agent.glimpse.kind;
  if (visits_all_parts(kind) && glimpses != digits)
    throw SettingError(
        {"attention.glimpse.num_glimpses", "scene.num_digits", "scene.kind"},
        fmt::format("attention.glimpse.num_glimpses: {} of attention.glimpse.kind: {} miss the "
                    "tiles of scene.kind: {}; allowed: scene.num_digits: {}",
                    glimpses, kind, config.scene.kind, digits));
}

void check_task(const Config& config) {
  const TaskKind& task = find_task_kind(config.scene.kind);
  if (task.is_tiled) check_tiles(config);
  if (task.moves()) check_motion(config);
  if (task.acts()) check_actions(config, task);
  if (task.has_cue) check_cue(config);
  if (task.is_text) check_text(config);
  if (task.gives_glimpses) check_given_glimpses(config);
}

}  // namespace

// Only settings that were not given are set.
void settle(Config& config) {
  const GivenKeys& given = config.given;
  SceneConfig scene = config.scene;
  settle(scene);
  // Its default may be given in scenes without clutter, too, and then means none.
  if (!given.contains("scene.num_distractors") ||
      config.scene.num_distractors == SceneConfig{}.num_distractors)
    config.scene.num_distractors = scene.num_distractors;
  settle(config.agent.glimpse);
  GlimpseConfig& glimpse = config.agent.glimpse;
  if (find_glimpse_kind(glimpse.kind).has_candidates && !given.contains("attention.glimpse.grid")) {
    if (moves_by_steps(glimpse.moves)) {
      glimpse.grid.cells = kMoveCells;
    } else if (glimpse.grid.tiles[0] == 0) {
      const auto spread = given.contains("attention.glimpse.stride") ? spread_cells : spread_over;
      spread(glimpse.grid, config.scene.canvas[0], config.scene.canvas[1]);
    }
  }
  OptimizerConfig& optimizer = config.agent.training.optimizer;
  if (!given.contains("training.final_learning_rate") &&
      optimizer.final_learning_rate > optimizer.learning_rate)
    optimizer.final_learning_rate = 0.01 * optimizer.learning_rate;
}

// Repeats, because a setting that is reset may be one that another setting needed, or one on which
// settled values depend.
void leave_out_unused(Config& config) {
  while (true) {
    Config settled = config;
    settle(settled);
    const std::vector<UnusedSetting> unused = unused_settings(settled);
    if (unused.empty()) {
      config = std::move(settled);
      return;
    }
    for (const UnusedSetting& setting : unused) {
      set_default(*find_setting(setting.key), config);
      config.given.erase(setting.key);
      config.unused.push_back(setting);
    }
  }
}

void resolve(Config& config) {
  leave_out_unused(config);
  at_its_place(config.given, [&] {
    check(config.data);
    check(config.scene);
    check_task(config);
    check(config.agent, find_task_kind(config.scene.kind).answer);
  });
}

}  // namespace saccade
