#include "experiments/config/settings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <unordered_map>

#include "agent/looking/looking.h"
#include "agent/model/settings.h"
#include "base/error.h"
#include "env/task_kinds.h"
#include "experiments/config/recording_formats.h"

namespace saccade {
namespace {

Settings describe(EvaluationConfig& config, AgentConfig& agent, SceneConfig& scene) {
  const Condition sequences = when(&scene.kind, task_kinds(), [](const std::string& name) {
    return find_task_kind(name).answer == AnswerKind::sequence;
  });
  const Condition classes = when(&scene.kind, task_kinds(), [](const std::string& name) {
    return find_task_kind(name).answer == AnswerKind::one_class;
  });
  const Condition recurrent = when(&agent.model.kind, Names{"recurrent"});
  const Condition samples = when(&agent.glimpse.kind, glimpse_kinds(), [](const std::string& name) {
    return find_glimpse_kind(name).samples();
  });
  return {
      {"evaluation.every", &config.every, closed(1, kMaxEpisodes),
       "Training episodes between evaluations"},
      {"evaluation.scenes", &config.scenes, closed(1, 1e7), "Number of scenes in an evaluation"},
      {"evaluation.draws", &config.draws, closed(1, 1000),
       "Number of times that the test's digits are placed anew"},
      {"evaluation.seed", &config.seed, closed(0, kMaxSeed), "Seed of the evaluation scenes"},
      {"evaluation.rollouts", &config.rollouts, closed(1, 1000),
       "Number of sampled passes whose answers are averaged", recurrent && samples && classes},
      {"evaluation.beam", &config.beam, closed(1, 100), "Width of the decoder's beam search",
       sequences}};
}

Settings describe(LogConfig& config) {
  return {{"log.every", &config.every, closed(1, kMaxEpisodes),
           "Training episodes between rows of metrics.csv"},
          {"log.jsonl", &config.jsonl, kUnbounded,
           "Whether the rows also go to metrics.jsonl, as JSON"},
          {"log.tensorboard", &config.tensorboard, kUnbounded,
           "Whether settings, figures and recordings also become events of TensorBoard"},
          {"log.snapshots", &config.snapshots, kUnbounded,
           "Whether the averaged weights of every evaluation are kept in snapshots/"}};
}

Settings describe(RecordConfig& config) {
  const Condition records = unless(&config.every, 0);
  return {{"record.every", &config.every, closed(0, kMaxEpisodes),
           "Training episodes between recordings. 0: none"},
          {"record.scenes", &config.scenes, closed(1, kMaxSheetScenes),
           "Number of validation scenes in a recording", records},
          {"record.format", &config.format, recording_formats(),
           "Format of a recording: a video or a contact sheet", records}};
}

Settings describe(Config& c) {
  const Condition digits = when(&c.scene.kind, task_kinds(), [](const std::string& name) {
    return find_task_kind(name).has_digits;
  });
  const Condition shades = when(&c.scene.kind, task_kinds(), [](const std::string& name) {
    return find_task_kind(name).has_shades;
  });
  // A retina reads the canvas as it is at each step.
  const Condition retina =
      when(&c.agent.glimpse.kind, glimpse_kinds(),
           [](const std::string& name) { return find_glimpse_kind(name).sees_motion; });
  const Condition canvas = when(&c.scene.kind, task_kinds(), [](const std::string& name) {
    return !find_task_kind(name).gives_glimpses;
  });
  Settings all = {
      {"name", &c.name, Text::word, "Name of the experiment and of its folder in runs/"},
      {"variant", &c.variant, Text::word_or_none,
       "Name of the variant within a study. null: derived from its overrides"},
      {"seed", &c.seed, closed(0, kMaxSeed), "Seed of everything random in the training"},
      {"init_from", &c.init_from, Text::path,
       "Run folder whose weights the training begins with. null: none"}};
  append(all, describe(c.data), digits);
  append(all, describe(c.pixels), shades);
  append(all, describe(c.augmentation, &c.scene.num_distractors), digits);
  append(all, describe(c.scene));
  append(all, describe(c.retina),
         when(&c.agent.model.kind, Names{"recurrent"}) && retina && canvas);
  append(all, describe(c.agent, c.scene));
  append(all, describe(c.evaluation, c.agent, c.scene));
  append(all, describe(c.log));
  append(all, describe(c.record));
  return all;
}

// The settings of a registered kind form a section, whose name no setting may have.
Settings with_sections_apart(Settings all) {
  for (const Setting& section : all)
    for (const Setting& setting : all)
      if (setting.key.starts_with(section.key + "."))
        throw InputError(setting.key + ": " + section.key +
                         " is a setting; allowed: a kind of another name");
  return all;
}

Config& default_config() {
  static Config config;
  return config;
}

const Setting& setting_at(const SettingField& field) {
  for (const Setting& setting : settings())
    if (setting.field == field) return setting;
  throw std::logic_error("a condition on a field that is no setting");
}

bool holds(const Condition& condition, const Config& config) {
  return condition.holds(field_in(config, condition.field)) ||
         std::ranges::any_of(condition.alternatives,
                             [&](const Condition& other) { return holds(other, config); });
}

// The present values of the settings that a condition is about: "model.core is lstm".
std::string current(const Condition& condition, const Config& config) {
  const std::string& key = setting_at(condition.field).key;
  std::string text = key + " is " + value_of(config, key);
  for (const Condition& other : condition.alternatives) text += " and " + current(other, config);
  return text;
}

std::string to_text(const Condition& condition) {
  std::string text = setting_at(condition.field).key + ": " + condition.values;
  for (const Condition& other : condition.alternatives) text += ", or " + to_text(other);
  return text;
}

}  // namespace

const Settings& settings() {
  static const Settings all = with_sections_apart(describe(default_config()));
  return all;
}

const Setting* find_setting(const std::string& key) {
  static const auto by_key = [] {
    std::unordered_map<std::string, const Setting*> map;
    for (const Setting& setting : settings()) map.emplace(setting.key, &setting);
    return map;
  }();
  const auto found = by_key.find(key);
  return found == by_key.end() ? nullptr : found->second;
}

// A field has the same offset in every Config.
SettingField field_in(const Config& config, const SettingField& field) {
  return std::visit(
      [&]<class T>(T* of_defaults) -> SettingField {
        const std::ptrdiff_t place = reinterpret_cast<const std::byte*>(of_defaults) -
                                     reinterpret_cast<const std::byte*>(&default_config());
        auto* begin = reinterpret_cast<std::byte*>(const_cast<Config*>(&config));
        return reinterpret_cast<T*>(begin + place);
      },
      field);
}

bool has_default(const Setting& setting, const Config& config) {
  const SettingField field = field_in(config, setting.field);
  return std::visit([&]<class T>(const T* value) { return *value == *std::get<T*>(setting.field); },
                    field);
}

void set_default(const Setting& setting, Config& config) {
  const SettingField field = field_in(config, setting.field);
  std::visit([&]<class T>(T* value) { *value = *std::get<T*>(setting.field); }, field);
}

std::optional<std::string> unmet_need(const Setting& setting, const Config& config) {
  for (const Condition& condition : setting.needs.all) {
    if (!holds(condition, config)) return current(condition, config);
  }
  return std::nullopt;
}

std::vector<std::string> needs_of(const Setting& setting) {
  std::vector<std::string> needs;
  for (const Condition& condition : setting.needs.all) needs.push_back(to_text(condition));
  return needs;
}

namespace {

// Drops underscores between two digits: 24_000_000 is 24000000.
std::string without_separators(const std::string& text) {
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '_' || i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) plain += text[i];
  return plain;
}

}  // namespace

std::optional<std::int64_t> parse_integer(const std::string& text) {
  const std::string plain = without_separators(text);
  const char* end = plain.data() + plain.size();
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(plain.data(), end, value);
  if (rest != end || error == std::errc::invalid_argument) return std::nullopt;
  using Limits = std::numeric_limits<std::int64_t>;
  if (error == std::errc::result_out_of_range)
    return plain[0] == '-' ? Limits::min() : Limits::max();
  return value;
}

std::optional<double> parse_number(const std::string& text) {
  const std::string plain = without_separators(text);
  const char* end = plain.data() + plain.size();
  double value = 0.0;
  const auto [rest, error] = std::from_chars(plain.data(), end, value);
  if (rest != end || error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool is_word(const std::string& text) {
  const auto alphanumeric = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !text.empty() && text.size() <= 100 && alphanumeric(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (const Setting& setting : settings())
      for (std::size_t dot = setting.key.find('.'); dot != std::string::npos;
           dot = setting.key.find('.', dot + 1)) {
        const std::string name = setting.key.substr(0, dot);
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
    return names;
  }();
  return all;
}

}  // namespace saccade
