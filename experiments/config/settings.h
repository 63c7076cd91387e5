#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/setting.h"
#include "experiments/config/config.h"

namespace saccade {

/// All settings, in the order of the documentation, the keys of a section together. Their fields
/// are those of a Config with all defaults. Reading, messages, overrides, to_yaml, the schema, help
/// and Python all use this table.
const Settings& settings();

/// The setting with this key; nullptr if there is none.
const Setting* find_setting(const std::string& key);

/// The field of `config` that corresponds to `field` of one of settings(). Write to it only if
/// `config` is not const.
SettingField field_in(const Config& config, const SettingField& field);

/// Whether a setting has its default.
bool has_default(const Setting& setting, const Config& config);
void set_default(const Setting& setting, Config& config);

/// Why a setting has no effect: "model.core is lstm"; nothing if it has one.
std::optional<std::string> unmet_need(const Setting& setting, const Config& config);

/// What a setting needs to have an effect, one text per condition: "model.core: attention".
std::vector<std::string> needs_of(const Setting& setting);

/// Parses the whole text as an integer or a finite number; nothing if it is none. 24_000_000 is
/// 24000000. An integer beyond 64 bits becomes the nearest one within, which no setting allows.
std::optional<std::int64_t> parse_integer(const std::string& text);
std::optional<double> parse_number(const std::string& text);

/// Whether `text` can name a folder (Text::word).
bool is_word(const std::string& text);

/// The paths above the keys: "training", "attention", "attention.glimpse", ...
const std::vector<std::string>& section_names();

/// Config::given.
using GivenKeys = std::map<std::string, std::string>;

/// Sets the values that depend on others.
void settle(Config& config);

/// Calls settle(), and resets settings that were given but have no effect: moves them from `given`
/// to `unused`.
void leave_out_unused(Config& config);

/// Calls leave_out_unused(), and checks that the settings fit each other. Throws InputError that
/// begins with the place of the first setting in question that was given.
void resolve(Config& config);

}  // namespace saccade
