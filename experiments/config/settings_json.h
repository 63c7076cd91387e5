#pragma once

#include <string>

#include "base/setting.h"
#include "experiments/config/config.h"

namespace saccade {

/// The settings of a world and of the agent in it, without folders and other paths. Their fields
/// are those of `config`.
Settings world_settings(Config& config);

/// A JSON object: each setting's value by its key. Numbers, names and lists are those of JSON; a
/// ramp is {"from", "to", "over"}, a range {"from", "to"}.
std::string to_json(const Settings& settings);

/// Reads such an object into the fields of the settings. Throws InputError with the key, the value
/// and what is allowed, for an unknown key, another type, or a value that is not allowed.
void read_json(const Settings& settings, const std::string& json);

}  // namespace saccade
