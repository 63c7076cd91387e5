#include "experiments/config/config.h"

#include <algorithm>

#include "experiments/config/config_reader.h"
#include "experiments/config/config_table.h"
#include "experiments/config/preset.h"
#include "experiments/config/study_run.h"
#include "experiments/config/unused_settings.h"
#include "experiments/files/input.h"

namespace saccade {
namespace {

// The settings that a file gives, of which those that it reads itself are to be found.
struct FileAlone {
  FileAlone(Config config, const GivenKeys& given_) : given(given_) {
    settle(config, given);
    config.given = given;
    unused = unused_settings(config);
  }

  // Whether it reads a setting that stands where it said it.
  bool reads(const UnusedSetting& setting) const {
    const auto found = given.find(setting.key);
    return found != given.end() && found->second == setting.place &&
           std::ranges::find(unused, setting.key, &UnusedSetting::key) == unused.end();
  }

  GivenKeys given;
  std::vector<UnusedSetting> unused;
};

Config parse(const std::string& text, const std::string& origin, StudyKeys study,
             std::span<const Assignment> assignments, std::span<const std::string> overrides) {
  Config config;
  ConfigReader reader(config);
  reader.read_file(text, origin, study);
  const FileAlone file(config, reader.given());
  for (const Assignment& assignment : assignments) reader.read_assignment(assignment);
  for (const std::string& override : overrides) reader.read_override(override);
  config.given = reader.given();
  resolve(config, config.given);
  for (const UnusedSetting& setting : unused_settings(config))
    if (file.reads(setting)) config.given.erase(setting.key);
  return config;
}

}  // namespace

Config read_config(const std::filesystem::path& path, std::span<const std::string> overrides) {
  const std::filesystem::path file = find_experiment(path);
  return parse_config(read_text(file), file.string(), overrides);
}

Config parse_config(const std::string& text, const std::string& origin,
                    std::span<const std::string> overrides) {
  return parse(text, origin, StudyKeys::refused, {}, overrides);
}

Config parse_study_run(const std::string& text, const std::string& origin,
                       std::span<const Assignment> assignments,
                       std::span<const std::string> overrides) {
  return parse(text, origin, StudyKeys::passed_over, assignments, overrides);
}

}  // namespace saccade
