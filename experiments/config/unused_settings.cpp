#include "experiments/config/unused_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "agent/credit/advantage.h"
#include "agent/credit/reward.h"
#include "agent/looking/location_estimator.h"
#include "agent/looking/looking.h"
#include "agent/model/model.h"
#include "base/name_table.h"
#include "env/digits.h"
#include "env/scene.h"
#include "env/task_kinds.h"
#include "experiments/config/config_table.h"

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

// The names of which something is true.
template <class Trait>
Condition names_that(const std::string& setting, const Strings& names, const Trait& trait) {
  Strings values;
  std::ranges::copy_if(names, std::back_inserter(values), trait);
  return one_of(setting, values);
}

// The kinds of a table of which something is true.
template <class Kind, class Trait>
Condition those_that(const std::string& setting, const Strings& names,
                     const Kind& (*find)(const std::string&), const Trait& trait) {
  return names_that(setting, names, [&](const std::string& name) { return trait(find(name)); });
}

template <class Trait>
Condition glimpses_that(const Trait& trait) {
  return those_that("attention.glimpse.kind", glimpse_kinds(), find_glimpse_kind, trait);
}
template <class Trait>
Condition tasks_that(const Trait& trait) {
  return those_that("scene.kind", task_kinds(), find_task_kind, trait);
}

Condition either(const Condition& one, const Condition& other) {
  return {one.setting, fmt::format("{} (or {}: {})", one.needs, other.setting, other.needs),
          [one, other](const Values& given) { return one.holds(given) || other.holds(given); }};
}

Condition advantages_that(bool Advantage::*trait) {
  return those_that("reinforce.advantage", advantage_estimators(), find_advantage,
                    [trait](const Advantage& kind) { return kind.*trait; });
}

// What learns by REINFORCE: a place of a look, or an action.
Condition reinforce() {
  return either(
      glimpses_that([](const GlimpseKind& kind) { return kind.learning == Learning::reinforce; }),
      tasks_that([](const TaskKind& task) { return task.moves(); }));
}

// What the entropy bonus can move: the probabilities of candidates, or a std that is learned.
Condition learned_entropy() {
  return either(glimpses_that([](const GlimpseKind& kind) {
                  return kind.learning == Learning::reinforce && !kind.has_std;
                }),
                one_of("attention.glimpse.learn_std", {"true"}));
}

// Whether a look is placed by what can be derived.
Condition derived_place() {
  return either(one_of("attention.glimpse.kind", {"soft_gaussian", "soft_point"}),
                one_of("reinforce.estimator", {"pathwise", "both"}));
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
  const auto answers = tasks_that([](const TaskKind& task) { return !task.moves(); });
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
  const auto baselines = advantages_that(&Advantage::reads_baseline);
  const auto rewards_by_step = those_that("reinforce.reward", reward_kinds(), find_reward,
                                          [](const RewardKind& kind) { return kind.by_step; });
  const auto adam = one_of("training.optimizer", {"adam", "adamw"});
  return {
      {{"data."}, with_digits},
      {{"data.path"}, names_that("data.source", digit_sources(), digits_come_from_files)},
      {{"data.size"}, names_that("data.source", digit_sources(), digits_can_be_resized)},
      {{"scene.num_digits", "scene.min_digits", "scene.label"}, with_digits},
      {{"scene.num_distractors"}, names_that("scene.kind", task_kinds(), has_clutter)},
      {{"scene.distractor_size"}, other_than("scene.num_distractors", "0")},
      {{"scene.max_number"}, texts},

      {{"retina."}, recurrent},
      {{"retina."}, retinas},
      {{"retina.scale_factor", "retina.pooling"}, other_than("retina.scales", "1")},

      {{"model.core", "model.hidden_size", "model.heads", "model.depth", "model.glimpse_network",
        "model.glimpse_filters", "model.glimpse_kernel", "model.glimpse_stride",
        "model.glimpse_hidden", "model.location_hidden", "model.feature_size",
        "model.locator_hidden", "model.context", "model.context_size", "model.context_hidden"},
       recurrent},
      {{"model.heads", "model.depth"}, one_of("model.core", {"attention"})},
      {{"model.glimpse_network", "model.glimpse_hidden", "model.location_hidden",
        "model.feature_size"},
       glimpses},
      {{"model.glimpse_filters", "model.glimpse_kernel", "model.glimpse_stride"},
       one_of("model.glimpse_network", {"conv"})},
      {{"model.locator_hidden", "model.context"}, locators},
      {{"model.locator_hidden", "model.context"},
       other_than("attention.glimpse.addressing", "content")},
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

      {{"attention.hidden."}, answers},
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
      {{"reinforce.estimator"}, recurrent},
      {{"reinforce.estimator"},
       glimpses_that([](const GlimpseKind& kind) { return kind.has_path; })},
      {{"reinforce.reward"}, answers},
      {{"reinforce.entropy"}, learned_entropy()},
      {{"reinforce.trace"}, either(rewards_by_step, advantages_that(&Advantage::traces))},
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

// A reading of the setting that does not hold; nullptr where it is read.
const Reading* unmet_reading(const std::string& key, const Values& values) {
  const auto unmet = std::ranges::find_if(readings(), [&](const Reading& reading) {
    return is_about(reading, key) && !reading.by.holds(values);
  });
  return unmet == readings().end() ? nullptr : &*unmet;
}

}  // namespace

std::set<std::string> unread_settings(const Config& config) {
  const Values values{config};
  std::set<std::string> keys;
  for (const auto& [key, value] : values.of)
    if (unmet_reading(key, values) != nullptr) keys.insert(key);
  return keys;
}

std::vector<UnusedSetting> unused_settings(const Config& config) {
  static const std::map<std::string, std::string> defaults = values_of(Config());
  if (config.given.empty()) return {};
  const Values values{config};
  std::vector<UnusedSetting> unused;
  for (const std::string& key : setting_keys()) {
    const auto given = config.given.find(key);
    if (given == config.given.end() || values.of.at(key) == defaults.at(key)) continue;
    const Reading* unmet = unmet_reading(key, values);
    if (unmet == nullptr) continue;
    const Condition& by = unmet->by;
    unused.push_back(
        {key, given->second,
         fmt::format("{}: {}, not {}", by.setting, by.needs, values.of.at(by.setting))});
  }
  return unused;
}

std::vector<UnusedSetting> unused_in_all(std::span<const Config* const> configs) {
  std::vector<UnusedSetting> unused;
  std::set<std::string> on_progress, read;
  for (const Config* config : configs) {
    for (const UnusedSetting& setting : config->unused)
      if (on_progress.insert(setting.key).second) unused.push_back(setting);
    for (const auto& [key, place] : config->given) read.insert(key);
  }
  std::erase_if(unused, [&](const UnusedSetting& setting) { return read.contains(setting.key); });
  return unused;
}

std::vector<std::string> to_lines(const std::vector<UnusedSetting>& unused) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> lines, replaced;
  for (const UnusedSetting& setting : unused) {
    if (setting.replaced)
      replaced.push_back(setting.key);
    else
      lines.push_back(fmt::format("{}: {} is not used; it needs {}", setting.place, setting.key,
                                  setting.needs));
  }
  if (lines.size() > kMost) {
    const std::size_t more = lines.size() - kMost;
    lines.resize(kMost);
    lines.push_back(fmt::format("{} more settings are not used", more));
  }
  if (!replaced.empty())
    lines.push_back(
        fmt::format("left out of the file, since the overrides choose what does not "
                    "read it: {}",
                    fmt::join(replaced, ", ")));
  return lines;
}

std::vector<std::string> needs_of(const std::string& key) {
  std::vector<std::string> needs;
  for (const Reading& reading : readings())
    if (is_about(reading, key)) needs.push_back(reading.by.setting + ": " + reading.by.needs);
  return needs;
}

}  // namespace saccade
