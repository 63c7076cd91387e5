#include "experiments/runs/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "env/digits.h"
#include "experiments/config/setting_names.h"
#include "experiments/files/output.h"
#include "experiments/runs/folder_lock.h"
#include "nn/error.h"
#include "nn/system_reason.h"
#include "saccade_version.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// Of metrics.csv.
std::vector<Metric> columns() {
  std::vector<Metric> columns;
  for (const MetricFacts& facts : kMetrics)
    if ((facts.written & kInMetrics) != 0) columns.push_back(Metric::named(facts.name));
  return columns;
}

std::string header() {
  std::string line;
  for (const Metric column : columns()) line += (line.empty() ? "" : ",") + column.name();
  return line;
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
}

// A value without what YAML has around it: "0.3-0.05-0.6" of {from: 0.3, to: 0.05, over: 0.6}.
std::string said_shortly(const std::string& value) {
  std::string words, word;
  for (const char c : value + " ") {
    if (is_plain(c) || (c == '-' && !word.empty())) {
      word += c;
      continue;
    }
    if (c != ':' && !word.empty()) words += (words.empty() ? "" : "-") + word;
    word.clear();
  }
  return words;
}

std::string shortened(const std::string& text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  const std::uint32_t rest =
      crc32_of({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return fmt::format("{},{:08x}", text.substr(0, most_bytes - 9), rest);
}

fs::path folder_of(const std::string& variant, const Config& config) {
  return fs::path(variant.empty() ? "base" : variant) / fmt::format("seed-{}", config.seed);
}

}  // namespace

fs::path run_folder_below(const Config& config, const std::vector<std::string>& overrides) {
  constexpr std::size_t kLong = 100;
  std::set<std::string> given;
  for (const std::string& word : overrides) given.insert(word.substr(0, word.find('=')));
  std::string variant = config.variant;
  if (!given.contains("variant"))
    for (const std::string& key : setting_keys())
      if (given.contains(key) && key != "seed" && key != "name")
        variant += (variant.empty() ? "" : ",") + short_name(key) + "=" +
                   said_shortly(value_of(config, key));
  return folder_of(shortened(variant, kLong), config);
}

fs::path former_run_folder_below(const Config& config, const std::vector<std::string>& overrides) {
  constexpr std::size_t kMostBytes = 255;  // of a name on most file systems
  std::string variant;
  for (std::string word : overrides) {
    if (word.starts_with("seed=") || word.starts_with("name=")) continue;
    std::ranges::replace_if(
        word, [](char c) { return !(is_plain(c) || c == '='); }, '-');
    variant += (variant.empty() ? "" : ",") + word;
  }
  return folder_of(shortened(variant, kMostBytes), config);
}

fs::path existing_run_folder(const fs::path& folder, const fs::path& former) {
  return !fs::exists(folder) && RunFolder(former).exists() ? former : folder;
}

fs::path default_run_folder(const Config& config, const std::vector<std::string>& overrides) {
  const fs::path runs = fs::path("runs") / config.name;
  return existing_run_folder(runs / run_folder_below(config, overrides),
                             runs / former_run_folder_below(config, overrides));
}

bool RunFolder::exists() const {
  std::error_code error;
  if (!fs::is_directory(path_, error)) return fs::exists(path_, error);
  const bool stillborn = is_stillborn();
  return std::ranges::any_of(fs::directory_iterator(path_), [&](const fs::directory_entry& entry) {
    return entry.path() != path_ / kLockFile && entry.path() != failure() &&
           !(stillborn && is_made(entry.path()));
  });
}

bool RunFolder::is_made(const fs::path& file) const {
  const fs::path made[] = {path_ / "checkpoints", path_ / "config.yaml", path_ / "command.txt",
                           path_ / "meta.json", metrics()};
  return std::ranges::find(made, file) != std::end(made);
}

// create() begins with the folder of checkpoints; rows come after the first of these.
bool RunFolder::is_stillborn() const {
  const auto checkpoints = {last_checkpoint(), previous_checkpoint(), best_checkpoint()};
  if (!fs::is_directory(path_ / "checkpoints") ||
      std::ranges::any_of(checkpoints, [](const fs::path& path) { return fs::exists(path); }))
    return false;
  std::ifstream rows(metrics());
  std::string line;
  return !(std::getline(rows, line) && std::getline(rows, line));
}

void RunFolder::require_no_links() const {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_symlink())
      throw InputError(fmt::format("{}: a symbolic link in a run folder is not followed",
                                   entry->path().string()));
  if (error) throw_refused(path_.string() + ": cannot be read", error.value());
}

void RunFolder::require_new() const {
  if (exists())
    throw InputError(fmt::format(
        "{}: exists already and is left as it is; --resume goes on from it, --out DIR chooses "
        "another folder",
        path_.string()));
}

void RunFolder::keep_last_checkpoint() const {
  if (!fs::exists(last_checkpoint())) return;
  fs::path beside = previous_checkpoint();
  beside += ".tmp";
  std::error_code error;
  fs::remove(beside, error);
  fs::create_hard_link(last_checkpoint(), beside, error);
  if (error) fs::copy_file(last_checkpoint(), beside, error);  // where a file has one name only
  if (!error) fs::rename(beside, previous_checkpoint(), error);
  if (!error) fs::remove(beside, error);  // two names of one file are not renamed
  if (error) throw_refused(previous_checkpoint().string() + ": cannot be written", error.value());
}

void RunFolder::set_damaged_checkpoint_aside() const {
  std::error_code none;
  fs::rename(last_checkpoint(), path_ / "checkpoints/damaged.safetensors", none);
}

void RunFolder::remove_unfinished_recordings() const {
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(recordings(), none))
    if (entry.path().stem().extension() == OutputFile::kPart) fs::remove(entry.path());
}

void RunFolder::create(const Config& config, const std::string& command,
                       const std::string& meta) const {
  require_new();
  std::error_code error;
  fs::remove_all(path_ / "checkpoints", error);  // what was begun there is none
  fs::create_directories(path_ / "checkpoints", error);
  if (error) throw_refused(path_.string() + ": the folder cannot be made", error.value());
  write_text(path_ / "config.yaml", to_yaml(config));
  write_text(path_ / "command.txt", command + "\n");
  write_text(path_ / "meta.json", meta + "\n");
  write_text(metrics(), header() + "\n");
}

MetricsFile::MetricsFile(const fs::path& path, std::int64_t keep_episodes) : path_(path) {
  std::ifstream old(path);
  std::string kept = header() + "\n";
  std::string line;
  std::getline(old, line);                         // the header
  while (std::getline(old, line) && !old.eof()) {  // a last line without its end was broken off
    if (std::strtoll(line.c_str(), nullptr, 10) > keep_episodes) continue;
    kept += line + "\n";
    elapsed_ = std::strtod(line.c_str() + line.rfind(',') + 1, nullptr);
  }
  old.close();
  replace_text(path, kept);
  file_ = open_to_append(path);
}

void MetricsFile::append(const MetricsRow& row) {
  for (const auto& [metric, value] : row)
    if (!metric.is_written(kInMetrics))
      throw std::logic_error(metric.name() + " is not written in metrics.csv");
  std::string line;
  for (const Metric column : columns()) {
    const auto found = row.find(column);
    if (column != "episodes") line += ',';
    if (found != row.end()) line += fmt::format("{:.8g}", found->second);
  }
  errno = 0;
  file_ << line << '\n' << std::flush;
  if (!file_) cannot_be_written(path_);
}

std::string meta_json(int ranks, int threads, const std::map<std::string, std::string>& checksums) {
  const nlohmann::ordered_json meta{
      {"version", SACCADE_VERSION},    {"commit", SACCADE_COMMIT}, {"compiler", __VERSION__},
      {"processor", processor_name()}, {"ranks", ranks},           {"threads", threads},
      {"data_crc32", checksums}};
  return meta.dump(2);
}

}  // namespace saccade
