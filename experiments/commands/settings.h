#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/training/warn_unused.h"

namespace saccade {

/// Every setting whose key or meaning has `pattern` in it, in the order of the documentation: its
/// type, range and default, its meaning, and what it needs to be read. Throws InputError with the
/// nearest key where none has.
std::string list_settings(const std::string& pattern, bool json);

struct ConfigOptions {
  std::filesystem::path config;
  std::vector<std::string> overrides;
  Unused unused = Unused::warn;
};

/// An experiment with every setting, resolved, and a word on each: YAML that `run` takes. Of a
/// study the first run, with what is varied beside each such setting.
std::string show_config(const ConfigOptions& options);

/// The experiments that come with the program, a line each.
std::string list_presets(bool json);

}  // namespace saccade
