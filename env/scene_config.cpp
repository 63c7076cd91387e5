#include "env/scene_config.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "env/scene_kinds.h"
#include "env/search.h"
#include "env/task_kinds.h"
#include "env/words.h"

namespace saccade {
namespace {

constexpr double kSmallestDigit = 0.25, kLargestDigit = 4.0;

bool has_label(const std::string& name) {
  const SceneKind* kind = find_scene_kind(name);
  return kind != nullptr && kind->question == Question::label;
}

bool is_made_of_digits(const std::string& name) { return find_scene_kind(name) != nullptr; }

bool varies_count(const std::string& name) {
  return find_task_kind(name).has_digits && !has_label(name);
}

void check_count(const SceneConfig& config) {
  const SceneKind* kind = find_scene_kind(config.kind);
  const int count = config.num_digits, least = config.min_digits;
  const int most = kind != nullptr ? kind->max_digits : kMaxDigits;
  const bool is_bag = kind != nullptr && kind->question == Question::largest;
  const char* empty = is_bag ? "an empty bag has no largest digit; allowed" : "allowed";
  if (count < 1 || count > most)
    throw SettingError({"scene.num_digits"}, fmt::format("scene.num_digits: {}; {}: 1 to {}", count,
                                                         count < 1 ? empty : "allowed", most));
  if (least < 0)
    throw SettingError(
        {"scene.min_digits", "scene.num_digits"},
        fmt::format(
            "scene.min_digits: {}; {}: 1 to scene.num_digits ({}), or 0 for always that many",
            least, empty, count));
  if (least > count)
    throw SettingError(
        {"scene.min_digits", "scene.num_digits"},
        fmt::format("scene.min_digits: {} is more than scene.num_digits: {}; allowed: 0 to {}",
                    least, count, count));
}

void check_own(const SceneConfig& config) {
  if (config.channels == 2)
    throw SettingError({"scene.channels"}, "scene.channels: 2; allowed: 1, 3");
  const std::set<std::string> different(config.classes.begin(), config.classes.end());
  if (config.classes.size() < 2 || different.size() != config.classes.size() ||
      different.contains(""))
    throw SettingError({"scene.classes"},
                       fmt::format("scene.classes: {}; allowed: two names or more, all different",
                                   join(config.classes)));
}

}  // namespace

std::vector<std::string> SceneConfig::default_classes() {
  std::vector<std::string> names;
  for (int digit = 0; digit < 10; ++digit) names.push_back(std::to_string(digit));
  return names;
}

Settings describe(SceneConfig& config) {
  const Condition digits = when(&config.kind, task_kinds(), [](const std::string& name) {
    return find_task_kind(name).has_digits;
  });
  const Condition texts = when(&config.kind, task_kinds(), [](const std::string& name) {
    return find_task_kind(name).is_text;
  });
  const auto task = [&](const auto& trait) {
    return when(&config.kind, task_kinds(),
                [&](const std::string& name) { return trait(find_task_kind(name)); });
  };
  const Condition own = task([](const TaskKind& kind) { return kind.is_own; });
  const Condition canvas =
      task([](const TaskKind& kind) { return !kind.gives_glimpses && !kind.is_text; });
  const Condition world = task([](const TaskKind& kind) { return kind.gives_glimpses; });
  Settings all = {
      {"scene.kind", &config.kind, task_kinds(),
       "Task: where the digits lie, what else is there, and what is asked"},
      {"scene.canvas", &config.canvas, closed(8, 2048),
       "Size of the canvas (rows, cols), in pixels", canvas},
      {"scene.num_digits", &config.num_digits, closed(1, kMaxDigits),
       "Number of digits in a scene; of bag, transcribe and search the largest", digits},
      {"scene.min_digits", &config.min_digits, closed(0, kMaxDigits),
       "Smallest number of digits in a scene. 0: always num_digits",
       digits && when(&config.kind, task_kinds(), varies_count)},
      {"scene.label", &config.label, scene_labels(), "Class of a scene with several digits",
       digits && when(&config.kind, task_kinds(), has_label)},
      {"scene.num_distractors", &config.num_distractors, closed(0, 1024),
       "Number of distractors in a scene", when(&config.kind, task_kinds(), has_clutter)},
      {"scene.distractor_size", &config.distractor_size, closed(1, 512),
       "Side of a distractor, in pixels", unless(&config.num_distractors, 0)},
      {"scene.digit_scale", &config.digit_scale, closed(kSmallestDigit, kLargestDigit),
       "Size of a digit relative to its image",
       when(&config.kind, task_kinds(), is_made_of_digits)},
      {"scene.max_number", &config.max_number, closed(kLeastMaxNumber, kMaxNumber),
       "Largest number that is put into words", texts},
      {"scene.border", &config.border, closed(0, 1024),
       "Margin of the canvas that stays free of digits, in pixels", digits},
      {"scene.target", &config.target, search_targets(),
       "Difference of a search's target from the other digits: its shape, or also its brightness",
       when(&config.kind, task_kinds(),
            [](const std::string& name) { return find_task_kind(name).has_cue; })},
      {"scene.classes", &config.classes, Text::line,
       "Names of the classes, or actions, of scenes that a program gives, in their order", own},
      {"scene.channels", &config.channels, closed(1, 3),
       "Number of channels of such scenes: 1, or 3 for colour",
       task([](const TaskKind& kind) { return kind.is_own && !kind.gives_glimpses; })},
      {"scene.glimpse_size", &config.glimpse_size, closed(1, 1'000'000),
       "Number of values in a glimpse that a program gives", world},
      {"scene.best_return", &config.best_return, closed(1e-6, 1e9),
       "Largest return of an episode of own_game, which counts as no error",
       task([](const TaskKind& kind) { return kind.gives_glimpses && kind.acts(); })},
  };
  append(all, describe(config.own, "scene", &config.kind));
  return all;
}

void settle(SceneConfig& config) {
  if (!has_clutter(config.kind)) config.num_distractors = 0;
  if (!has_label(config.kind)) config.label = SceneConfig{}.label;
  if (!is_made_of_digits(config.kind)) config.digit_scale = SceneConfig{}.digit_scale;
  if (!varies_count(config.kind)) config.min_digits = 0;
  if (!find_task_kind(config.kind).has_cue) config.target = SceneConfig{}.target;
}

void check(const SceneConfig& config) {
  if (find_task_kind(config.kind).has_digits) check_count(config);
  if (find_task_kind(config.kind).is_own) check_own(config);
  if (find_task_kind(config.kind).is_text) check_max_number(config.max_number);
  const int needed = labellings().at(config.label).num_digits;
  if (needed > 0 && config.num_digits != needed)
    throw SettingError({"scene.label", "scene.num_digits"},
                       fmt::format("scene.label: {} needs scene.num_digits: {}, not {}",
                                   config.label, needed, config.num_digits));
  if (config.num_distractors < 0)
    throw SettingError(
        {"scene.num_distractors"},
        fmt::format("scene.num_distractors: {}; allowed: 0 and more", config.num_distractors));
  if (!(config.digit_scale >= kSmallestDigit && config.digit_scale <= kLargestDigit))
    throw SettingError({"scene.digit_scale"},
                       fmt::format("scene.digit_scale: {}; allowed: {} to {}", config.digit_scale,
                                   kSmallestDigit, kLargestDigit));
  if (config.border < 0)
    throw SettingError({"scene.border"},
                       fmt::format("scene.border: {} pixels; allowed: 0 and more", config.border));
}

}  // namespace saccade
