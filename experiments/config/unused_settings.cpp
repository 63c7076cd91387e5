#include "experiments/config/unused_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "agent/learning/reinforce.h"
#include "agent/looking/location_estimator.h"
#include "agent/looking/looking.h"
#include "agent/model.h"
#include "env/task_kinds.h"
#include "experiments/config/config_table.h"
#include "nn/name_table.h"

namespace saccade {
namespace {

using Strings = std::vector<std::string>;
using Learning = GlimpseKind::Learning;

// A configuration, and each of its values as YAML.
struct Values {
  const Config& config;
  std::map<std::string, std::string> of = values_of(config);
};

// What has to be so for a setting to be read.
struct Condition {
  std::string setting;  // whose value decides
  std::string needs;    // the values, for people
  std::function<bool(const Values&)> holds;
};

Condition one_of(const std::string& setting, const Strings& values) {
  return {setting, join(values), [setting, values](const Values& given) {
            return std::ranges::find(values, given.of.at(setting)) != values.end();
          }};
}

Condition other_than(const std::string& setting, const std::string& value) {
  return {setting, fmt::format("other than {}", value),
          [setting, value](const Values& given) { return given.of.at(setting) != value; }};
}

// The kinds of a table of which something is true.
template <class Kind, class Trait>
Condition those_that(const std::string& setting, const Strings& names,
                     const Kind& (*find)(const std::string&), const Trait& trait) {
  Strings values;
  for (const std::string& name : names)
    if (trait(find(name))) values.push_back(name);
  return one_of(setting, values);
}

template <class Trait>
Condition glimpses_that(const Trait& trait) {
  return those_that("attention.glimpse.kind", glimpse_kinds(), find_glimpse_kind, trait);
}
template <class Trait>
Condition tasks_that(const Trait& trait) {
  return those_that("scene.kind", task_kinds(), find_task_kind, trait);
}

// What learns by REINFORCE: a place of a look, or an action.
Condition reinforce() {
  Condition looks =
      glimpses_that([](const GlimpseKind& kind) { return kind.learning == Learning::reinforce; });
  Condition acts = tasks_that([](const TaskKind& task) { return task.moves(); });
  return {looks.setting, looks.needs + fmt::format(" (or {}: {})", acts.setting, acts.needs),
          [looks, acts](const Values& given) { return looks.holds(given) || acts.holds(given); }};
}

// Whether a look is placed by what can be derived.
Condition derived_place() {
  Condition kinds = one_of("attention.glimpse.kind", {"soft_gaussian", "soft_point"});
  return {kinds.setting, kinds.needs + " (or reinforce.estimator: pathwise, both)",
          [kinds](const Values& given) {
            return kinds.holds(given) ||
                   find_location_estimator(given.config.agent.reinforce.estimator).by_path;
          }};
}

// What reads which settings. Keys that end in a dot stand for a section. A setting that has several
// lines is read where all of them hold, one without a line always.
struct Reading {
  Strings keys;
  Condition by;
};

std::vector<Reading> make_readings() {
  const auto with_digits = tasks_that([](const TaskKind& task) { return task.has_digits; });
  const auto texts = tasks_that([](const TaskKind& task) { return task.is_text; });
  const auto actions = tasks_that([](const TaskKind& task) { return task.moves(); });
  const auto sequences =
      tasks_that([](const TaskKind& task) { return task.answer == AnswerKind::sequence; });
  const auto recurrent = one_of("model.kind", {"recurrent"});
  const auto glimpses = other_than("attention.glimpse.kind", "whole");
  // What a retina shows is the canvas as it is at each step.
  const auto retinas = glimpses_that([](const GlimpseKind& kind) { return kind.sees_motion; });
  const auto grids = glimpses_that([](const GlimpseKind& kind) { return kind.has_candidates; });
  const auto expecting = glimpses_that([](const GlimpseKind& kind) {
    return kind.has_candidates && kind.learning == Learning::backpropagation;
  });
  const auto locators =
      glimpses_that([](const GlimpseKind& kind) { return kind.can_have_context; });
  const auto baselines = those_that("reinforce.advantage", advantage_estimators(), find_advantage,
                                    [](const Advantage& kind) { return kind.reads_baseline; });
  const auto adam = one_of("training.optimizer", {"adam", "adamw"});
  return {
      {{"data."}, with_digits},
      {{"data.size"}, one_of("data.source", {"folder"})},
      {{"scene.num_digits", "scene.min_digits", "scene.label"}, with_digits},
      {{"scene.distractor_size"}, other_than("scene.num_distractors", "0")},
      {{"scene.max_number"}, texts},

      {{"retina."}, recurrent},
      {{"retina."}, retinas},
      {{"retina.scale_factor", "retina.pooling"}, other_than("retina.scales", "1")},

      {{"model.core", "model.hidden_size", "model.heads", "model.depth", "model.glimpse_network",
        "model.glimpse_filters", "model.glimpse_kernel", "model.glimpse_stride",
        "model.glimpse_hidden", "model.location_hidden", "model.feature_size",
        "model.locator_hidden", "model.context_size", "model.context_hidden"},
       recurrent},
      {{"model.heads", "model.depth"}, one_of("model.core", {"attention"})},
      {{"model.glimpse_network", "model.glimpse_hidden", "model.location_hidden",
        "model.feature_size"},
       glimpses},
      {{"model.glimpse_filters", "model.glimpse_kernel", "model.glimpse_stride"},
       one_of("model.glimpse_network", {"conv"})},
      {{"model.locator_hidden"}, locators},
      {{"model.locator_hidden"}, other_than("attention.glimpse.addressing", "content")},
      {{"model.context_size", "model.context_hidden"}, other_than("model.context", "none")},
      {{"model.canvas_hidden"}, one_of("model.kind", {"mlp"})},
      {{"model.channels", "model.kernel_size"}, one_of("model.kind", {"cnn"})},

      {{"attention."}, recurrent},
      {{"attention.glimpse.num_glimpses"}, glimpses},
      {{"attention.glimpse.first"},
       glimpses_that([](const GlimpseKind& kind) { return kind.learning != Learning::none; })},
      {{"attention.glimpse.first"}, glimpses},
      {{"attention.glimpse.std", "attention.glimpse.learn_std", "attention.glimpse.spread"},
       glimpses_that([](const GlimpseKind& kind) { return kind.has_std; })},
      {{"attention.glimpse.grid", "attention.glimpse.stride", "attention.glimpse.tiles",
        "attention.glimpse.addressing", "attention.glimpse.score", "attention.glimpse.score_hidden",
        "attention.glimpse.temperature"},
       grids},
      {{"attention.glimpse.grid", "attention.glimpse.stride"},
       one_of("attention.glimpse.tiles", {"[0, 0]"})},
      {{"attention.glimpse.score", "attention.glimpse.score_hidden"},
       one_of("attention.glimpse.addressing", {"content"})},
      {{"attention.glimpse.score_hidden"},
       one_of("attention.glimpse.score", {"additive", "location_free"})},
      {{"attention.glimpse.expect", "attention.glimpse.entropy", "attention.glimpse.coverage",
        "attention.glimpse.row_penalty"},
       expecting},
      {{"attention.glimpse.filters"}, one_of("attention.glimpse.kind", {"soft_gaussian"})},
      {{"attention.glimpse.detach_state"}, derived_place()},
      {{"attention.glimpse.size", "attention.glimpse.order"},
       one_of("attention.glimpse.kind", {"whole"})},

      {{"attention.input.alpha", "attention.input.learn_alpha", "attention.input.gain"},
       other_than("attention.input.kind", "none")},

      {{"attention.hidden.query", "attention.hidden.output", "attention.hidden.score",
        "attention.hidden.area", "attention.hidden.position", "attention.hidden.window"},
       one_of("attention.hidden.kind", {"attend"})},
      {{"attention.hidden.mask"}, other_than("attention.hidden.kind", "last")},
      {{"attention.hidden.score_hidden"}, one_of("attention.hidden.kind", {"attend", "self"})},
      {{"attention.hidden.position", "attention.hidden.window"},
       one_of("attention.hidden.area", {"local"})},
      {{"attention.hidden.hops", "attention.hidden.penalty"},
       one_of("attention.hidden.kind", {"self"})},
      {{"decoder."}, sequences},

      {{"reinforce.advantage", "reinforce.critic", "reinforce.critic_hidden", "reinforce.reward",
        "reinforce.entropy", "reinforce.baseline_weight", "reinforce.shared_baseline",
        "reinforce.constant", "reinforce.trace", "reinforce.discount", "reinforce.action_entropy",
        "reinforce.ema_decay", "reinforce.weight"},
       reinforce()},
      {{"reinforce.critic_hidden"}, other_than("reinforce.critic", "linear")},
      {{"reinforce.critic", "reinforce.critic_hidden", "reinforce.baseline_weight",
        "reinforce.shared_baseline", "training.baseline_factor"},
       baselines},
      {{"reinforce.discount", "reinforce.action_entropy"}, actions},
      {{"reinforce.constant"}, one_of("reinforce.advantage", {"constant"})},
      {{"reinforce.ema_decay"}, one_of("reinforce.advantage", {"ema"})},

      {{"training.baseline_factor"}, reinforce()},
      {{"training.locator_factor"}, recurrent},
      {{"training.locator_factor"}, locators},
      {{"training.final_learning_rate"}, other_than("training.schedule", "constant")},
      {{"training.momentum"}, one_of("training.optimizer", {"sgd"})},
      {{"training.beta1", "training.beta2", "training.epsilon"}, adam},

      {{"evaluation.beam"}, sequences},
      {{"record.scenes", "record.format"}, other_than("record.every", "0")},
  };
}

const std::vector<Reading>& readings() {
  static const std::vector<Reading> all = make_readings();
  return all;
}

bool is_about(const Reading& reading, const std::string& key) {
  return std::ranges::any_of(reading.keys, [&](const std::string& named) {
    return named.ends_with('.') ? key.starts_with(named) : key == named;
  });
}

}  // namespace

std::vector<UnusedSetting> unused_settings(const Config& config) {
  static const std::map<std::string, std::string> anyway = values_of(Config());
  if (config.given.empty()) return {};
  const Values values{config};
  std::vector<UnusedSetting> unused;
  for (const std::string& key : setting_keys()) {
    const auto given = config.given.find(key);
    if (given == config.given.end() || values.of.at(key) == anyway.at(key)) continue;
    const auto missing = std::ranges::find_if(readings(), [&](const Reading& reading) {
      return is_about(reading, key) && !reading.by.holds(values);
    });
    if (missing == readings().end()) continue;
    const Condition& by = missing->by;
    unused.push_back(
        {key, given->second,
         fmt::format("{}: {}, not {}", by.setting, by.needs, values.of.at(by.setting))});
  }
  return unused;
}

std::vector<UnusedSetting> unused_settings(std::span<const Config* const> configs) {
  std::vector<UnusedSetting> unused;
  std::set<std::string> told, read;
  for (const Config* config : configs) {
    std::set<std::string> here;
    for (UnusedSetting& setting : unused_settings(*config)) {
      here.insert(setting.key);
      if (told.insert(setting.key).second) unused.push_back(std::move(setting));
    }
    for (const auto& [key, place] : config->given)
      if (!here.contains(key)) read.insert(key);
  }
  std::erase_if(unused, [&](const UnusedSetting& setting) { return read.contains(setting.key); });
  return unused;
}

std::vector<std::string> to_lines(const std::vector<UnusedSetting>& unused) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(unused.size(), kMost); ++i)
    lines.push_back(fmt::format("{}: {} is not used; it needs {}", unused[i].place, unused[i].key,
                                unused[i].needs));
  if (unused.size() > kMost)
    lines.push_back(fmt::format("{} more settings are not used", unused.size() - kMost));
  return lines;
}

std::vector<std::string> needs_of(const std::string& key) {
  std::vector<std::string> needs;
  for (const Reading& reading : readings())
    if (is_about(reading, key)) needs.push_back(reading.by.setting + ": " + reading.by.needs);
  return needs;
}

}  // namespace saccade
