#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// The path of an experiment's file, given that path or the name of a preset ("quickstart"). Throws
/// InputError with the nearest preset if it is neither.
std::filesystem::path find_experiment(const std::filesystem::path& given);

/// An experiment that comes with the program.
struct Preset {
  std::string name;
  std::string about;   // the first line of its file's comment
  std::string data;    // data.source; "none" if it needs none
  std::string time;    // from the comment: "7 minutes", on two cores; empty if it says none
  bool study = false;  // of several runs
};
std::vector<Preset> presets();

/// Reads a configuration file. Throws as read_text(), for more than a megabyte too.
std::string read_config_text(const std::filesystem::path& file);

}  // namespace saccade
