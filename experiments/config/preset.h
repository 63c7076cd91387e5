#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// The file of an experiment, or that of the preset of this name ("quickstart"). Throws InputError
/// with the nearest preset for a name of neither; the path of a file is returned as it is.
std::filesystem::path find_experiment(const std::filesystem::path& given);

/// An experiment that comes with the program.
struct Preset {
  std::string name;
  std::string about;   // the first line of its file's comment
  std::string data;    // data.source; "none" where it needs none
  std::string time;    // as the comment has it: "7 minutes", on two cores; empty where it has none
  bool study = false;  // of several runs
};
std::vector<Preset> presets();

/// The text of the file of a configuration. Throws as read_text(), also of more than a megabyte.
std::string read_config_text(const std::filesystem::path& file);

}  // namespace saccade
