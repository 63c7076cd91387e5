#include "experiments/commands/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/name_table.h"
#include "experiments/commands/command.h"
#include "experiments/config/preset.h"
#include "experiments/config/setting_names.h"
#include "experiments/config/settings.h"
#include "experiments/config/settings_schema.h"
#include "experiments/config/unused_settings.h"
#include "experiments/runs/study.h"

namespace saccade {
namespace {

std::string in_small_letters(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_about(const Setting& setting, const std::string& pattern) {
  return in_small_letters(setting.key + " " + setting.about).find(in_small_letters(pattern)) !=
         std::string::npos;
}

Settings find_settings(const std::string& pattern) {
  Settings found = settings();
  const std::optional<std::string> meant = meant_key(pattern, setting_keys());
  std::erase_if(found, [&](const Setting& setting) {
    return setting.key != meant && !is_about(setting, pattern);
  });
  if (found.empty())
    throw InputError(
        fmt::format("'{}': no setting has that in its key or meaning; the nearest key "
                    "is {}",
                    pattern, nearest_key(pattern, setting_keys())));
  return found;
}

// The values of a key in the runs of a study, "0.001, 0.002"; empty where they are one.
std::string varied_values(const Study& study, const std::string& key) {
  std::vector<std::string> values;
  for (const StudyRun& run : study.runs) {
    const std::string value = value_of(run.config, key);
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return values.size() == 1 ? "" : join(values);
}

std::string show_study(const Study& study) {
  std::map<std::string, std::string> notes;
  for (const std::string& key : setting_keys())
    if (const std::string values = varied_values(study, key); !values.empty())
      notes[key] = "varied: " + values;
  return fmt::format("# The first of {} runs of a study\n{}", study.runs.size(),
                     to_yaml(study.runs[0].config, notes));
}

}  // namespace

std::string list_settings(const std::string& pattern, bool json) {
  const Config defaults;
  nlohmann::ordered_json document = nlohmann::ordered_json::array();
  std::string text;
  for (const Setting& setting : find_settings(pattern)) {
    const std::string value = value_of(defaults, setting.key);
    const std::vector<std::string> needs = needs_of(setting);
    if (json) {
      document.push_back({{"key", setting.key},
                          {"default", value},
                          {"allowed", allowed_values(setting)},
                          {"about", setting.about},
                          {"needs", needs}});
      continue;
    }
    text += fmt::format("{}: {}\n    {}\n    allowed: {}\n", setting.key, value, setting.about,
                        allowed_values(setting));
    for (const std::string& need : needs) text += fmt::format("    has an effect with {}\n", need);
  }
  return json ? document.dump(2) + "\n" : text;
}

std::string show_config(const ConfigOptions& options) {
  const Study study = read_study(options.config, options.overrides);
  warn_of_unused(configs_of(study), options.unused);
  return study.single ? to_yaml(study.runs[0].config) : show_study(study);
}

std::string list_presets(bool json) {
  const std::vector<Preset> all = presets();
  nlohmann::ordered_json document = nlohmann::ordered_json::array();
  for (const Preset& preset : all)
    document.push_back({{"name", preset.name},
                        {"about", preset.about},
                        {"data", preset.data},
                        {"time", preset.time},
                        {"study", preset.study}});
  if (json) return document.dump(2) + "\n";
  std::string text = fmt::format("{:<19}{:<11}{:<11}about\n", "name", "data", "time");
  for (const bool studies : {false, true}) {
    text += studies ? "\nstudies, of several runs\n" : "\nsingle runs\n";
    for (const Preset& preset : all)
      if (preset.study == studies)
        text += fmt::format("{:<19}{:<11}{:<11}{}\n", preset.name, preset.data, preset.time,
                            preset.about);
  }
  return text + "\nTimes are of two cores. `saccade config NAME` shows one whole.\n";
}

Command settings_command() {
  struct Line {
    std::string pattern;
    bool json = false, schema = false;
  };
  const auto line = std::make_shared<Line>();
  return {.name = "settings",
          .group = "Experiments",
          .about = "List the settings: keys, ranges, defaults, meanings",
          .options = {{"pattern", &line->pattern, "Part of a key or of a meaning; default: all"},
                      json_option(&line->json),
                      {"--schema", &line->schema,
                       "Print a JSON schema, with which editors complete and check a file"}},
          .call =
              [line](const Call&) {
                say(line->schema ? settings_schema() : list_settings(line->pattern, line->json));
                return Ending::done;
              },
          .examples = {"saccade settings glimpse.std", "saccade settings --schema > schema.json"}};
}

Command config_command() {
  struct Line {
    ConfigOptions options;
    bool strict = false;
  };
  const auto line = std::make_shared<Line>();
  return {.name = "config",
          .group = "Experiments",
          .about = "Show an experiment with every setting and its meaning",
          .options = {config_option(&line->options.config),
                      overrides_option(&line->options.overrides), strict_option(&line->strict)},
          .call =
              [line](const Call&) {
                if (line->strict) line->options.unused = Unused::refuse;
                say_as_it_is(show_config(line->options));  // to be read again
                return Ending::done;
              },
          .examples = {"saccade config quickstart model.core=gru",
                       "saccade config soft60 training.episodes=10_000 --strict > mine.yaml"}};
}

Command presets_command() {
  const auto json = std::make_shared<bool>(false);
  return {.name = "presets",
          .group = "Experiments",
          .about = "List the experiments that come with the program",
          .options = {json_option(json.get())},
          .call =
              [json](const Call&) {
                say(list_presets(*json));
                return Ending::done;
              },
          .examples = {"saccade presets", "saccade presets --json"}};
}

}  // namespace saccade
