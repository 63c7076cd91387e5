#include "experiments/config/preset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <sstream>

#include "base/error.h"
#include "base/name_table.h"
#include "base/read_text.h"
#include "env/task_kinds.h"
#include "experiments/config/config_reader.h"
#include "experiments/config/setting_names.h"
#include "experiments/files/shipped.h"

namespace saccade {
namespace {

// The lines of the comment at the beginning of a file, without a modeline for editors.
std::vector<std::string> comment_of(const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::string> comment;
  for (std::string line; std::getline(lines, line) && line.starts_with('#');)
    if (!line.starts_with("# yaml-language-server:"))
      comment.push_back(line.substr(std::min(line.find_first_not_of("# "), line.size())));
  return comment;
}

// "7 minutes" of "about 7 minutes and 220 MB on 2 cores".
std::string time_in(const std::string& text) {
  static const std::regex kTime("[Aa]bout (\\d+ (?:seconds|minutes|hours))");
  std::smatch found;
  return std::regex_search(text, found, kTime) ? found[1].str() : "";
}

Preset preset_of(const std::string& name) {
  const std::filesystem::path path = shipped_experiment(name);
  const std::string text = read_config_text(path);
  const std::vector<std::string> comment = comment_of(text);
  Config config;
  ConfigReader(config).read_file(load_file(text, path.string()), path.string(), StudyKeys::ignore);
  const bool has_digits = find_task_kind(config.scene.kind).has_digits;
  return {.name = name,
          .about = comment.empty() ? "" : comment.front(),
          .data = has_digits ? config.data.source : "none",
          .time = time_in(fmt::format("{}", fmt::join(comment, " "))),
          .study = text.find("\nvary:") != text.npos || text.find("\nseeds:") != text.npos};
}

}  // namespace

std::filesystem::path find_experiment(const std::filesystem::path& given) {
  if (std::filesystem::exists(given) && !std::filesystem::is_directory(given)) return given;
  const std::string name = given.string();
  if (const std::filesystem::path preset = shipped_experiment(name); !preset.empty()) return preset;
  if (std::filesystem::exists(given) || given.has_parent_path() || given.has_extension())
    return given;
  const std::vector<std::string> names = shipped_experiments();
  const std::optional<std::string> meant = nearest_word(given.stem().string(), names);
  throw InputError(fmt::format("{}: no such file, and no preset{}; presets: {}", name,
                               meant ? fmt::format(" (did you mean '{}'?)", *meant) : "",
                               join(names)));
}

std::string read_config_text(const std::filesystem::path& file) {
  constexpr std::uintmax_t kMostBytes = 1 << 20;
  return read_text(file, kMostBytes);
}

std::vector<Preset> presets() {
  std::vector<Preset> all;
  for (const std::string& name : shipped_experiments()) all.push_back(preset_of(name));
  return all;
}

}  // namespace saccade
