#include "experiments/config/config.h"

#include "experiments/config/config_reader.h"
#include "experiments/config/preset.h"
#include "experiments/config/settings.h"
#include "experiments/config/study_run.h"

namespace saccade {
namespace {

// The configuration of a file, before assignments and overrides.
Config read_document(const YAML::Node& document, const std::string& origin, StudyKeys study) {
  Config config;
  ConfigReader reader(config);
  reader.read_file(document, origin, study);
  config.given = reader.given();
  return config;
}

// The configuration of a file after assignments and overrides.
Config finish(const Config& file, std::span<const Assignment> assignments,
              std::span<const std::string> overrides) {
  Config config = file;
  ConfigReader reader(config);
  for (const Assignment& assignment : assignments) reader.read_assignment(assignment);
  for (const std::string& override : overrides) reader.read_override(override);
  config.given = reader.given();
  resolve(config);
  Config alone = file;
  leave_out_unused(alone);
  for (UnusedSetting& setting : config.unused) {
    const auto read = alone.given.find(setting.key);
    setting.replaced = read != alone.given.end() && read->second == setting.place;
  }
  return config;
}

}  // namespace

Config read_config(const std::filesystem::path& path, std::span<const std::string> overrides) {
  const std::filesystem::path file = find_experiment(path);
  return parse_config(read_config_text(file), file.string(), overrides);
}

Config parse_config(const std::string& text, const std::string& origin,
                    std::span<const std::string> overrides) {
  return finish(read_document(load_file(text, origin), origin, StudyKeys::refuse), {}, overrides);
}

ExperimentFile::ExperimentFile(const std::string& text, const std::string& origin)
    : document_(std::make_shared<const YAML::Node>(load_file(text, origin))),
      parsed_(read_document(*document_, origin, StudyKeys::ignore)) {}

Config ExperimentFile::run(std::span<const Assignment> assignments,
                           std::span<const std::string> overrides) const {
  return finish(parsed_, assignments, overrides);
}

}  // namespace saccade
