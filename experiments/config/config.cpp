#include "experiments/config/config.h"

#include "experiments/config/config_reader.h"
#include "experiments/config/config_table.h"
#include "experiments/config/preset.h"
#include "experiments/config/study_run.h"
#include "experiments/files/input.h"

namespace saccade {
namespace {

Config parse(const std::string& text, const std::string& origin, StudyKeys study,
             std::span<const Assignment> assignments, std::span<const std::string> overrides) {
  Config config;
  ConfigReader reader(config);
  reader.read_file(text, origin, study);
  Config file = config;
  file.given = reader.given();
  leave_out_unused(file);
  for (const Assignment& assignment : assignments) reader.read_assignment(assignment);
  for (const std::string& override : overrides) reader.read_override(override);
  config.given = reader.given();
  resolve(config);
  for (UnusedSetting& setting : config.unused) {
    const auto read = file.given.find(setting.key);
    setting.replaced = read != file.given.end() && read->second == setting.place;
  }
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
