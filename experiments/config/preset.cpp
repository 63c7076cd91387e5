#include "experiments/config/preset.h"

#include <fmt/format.h>

#include <optional>
#include <sstream>

#include "experiments/config/setting_names.h"
#include "experiments/files/input.h"
#include "experiments/files/shipped.h"
#include "nn/error.h"
#include "nn/name_table.h"

namespace saccade {
namespace {

// The first sentence of the comment that a file begins with, but for a line to editors.
std::string first_sentence(const std::string& text) {
  std::istringstream lines(text);
  std::string words;
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) {
    if (line.starts_with("# yaml-language-server:")) continue;
    if (!words.empty()) words += ' ';
    words += line.substr(line.find_first_not_of("# "));
    const std::size_t end = words.find(". ");
    if (end != std::string::npos) return words.substr(0, end + 1);
  }
  return words;
}

}  // namespace

std::filesystem::path find_experiment(const std::filesystem::path& said) {
  if (std::filesystem::exists(said) && !std::filesystem::is_directory(said)) return said;
  const std::string name = said.string();
  if (const std::filesystem::path preset = shipped_experiment(name); !preset.empty()) return preset;
  if (std::filesystem::exists(said) || said.has_parent_path() || said.has_extension()) return said;
  const std::vector<std::string> names = shipped_experiments();
  const std::optional<std::string> meant = nearest_word(said.stem().string(), names);
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
  for (const std::string& name : shipped_experiments())
    all.push_back({name, first_sentence(read_config_text(shipped_experiment(name)))});
  return all;
}

}  // namespace saccade
