#include "experiments/config/config.h"

#include "experiments/config/config_reader.h"
#include "experiments/config/config_table.h"
#include "experiments/config/study_run.h"
#include "experiments/files/input.h"

namespace saccade {
namespace {

Config parse(const std::string& text, const std::string& origin, StudyKeys study,
             std::span<const Assignment> assignments, std::span<const std::string> overrides) {
  Config config;
  ConfigReader reader(config);
  reader.read_file(text, origin, study);
  for (const Assignment& assignment : assignments) reader.read_assignment(assignment);
  for (const std::string& override : overrides) reader.read_override(override);
  resolve(config, reader.given());
  return config;
}

}  // namespace

Config read_config(const std::filesystem::path& path, std::span<const std::string> overrides) {
  return parse_config(read_text(path), path.string(), overrides);
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
