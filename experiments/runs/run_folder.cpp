#include "experiments/runs/run_folder.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/checksum.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/output.h"
#include "base/sync.h"
#include "base/system_reason.h"
#include "experiments/config/setting_names.h"
#include "experiments/runs/folder_lock.h"
#include "experiments/runs/metrics_file.h"
#include "saccade_version.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBefore = ".before";  // inserted after the stem of a file that is set aside

// Files that describe the run, in the order of create().
constexpr std::array kWords = {"config.yaml", "command.txt", "meta.json"};

std::array<std::string, kWords.size()> words_of(const Config& config, const std::string& command,
                                                const std::string& meta) {
  return {to_yaml(config), command + "\n", meta + "\n"};
}

// Returns whether a file is missing, empty or all zeros: a power failure can keep the size but lose
// the contents.
bool is_lost(const fs::path& path) {
  const std::unique_ptr<InputFile> file = InputFile::if_there(path);
  return !file ||
         std::all_of(std::istreambuf_iterator<char>(*file), {}, [](char c) { return c == '\0'; });
}

// Returns whether a config.yaml that is not lost has other settings, or none that can be read.
bool is_of_another(const fs::path& path, const Config& config) {
  if (is_lost(path)) return false;
  try {
    return !differences(read_config(path), config).empty();
  } catch (const InputError&) {
    return true;
  }
}

// Empty if the folder does not exist or has just vanished.
std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(*at);
  if (error && error != std::errc::no_such_file_or_directory)
    throw_refused(folder.string() + ": cannot be read", error.value());
  return entries;
}

// The model; where the system does not say, as on ARM, the architecture.
std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  utsname system{};
  return uname(&system) == 0 ? system.machine : "unknown";
}

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
}

// Strips YAML punctuation from a value: "0.3-0.05-0.6" for {from: 0.3, to: 0.05, over: 0.6}.
std::string without_punctuation(const std::string& value) {
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

std::string shortened(const std::string& text) {
  constexpr std::size_t kLong = 100;
  if (text.size() <= kLong) return text;
  return fmt::format("{},{}", text.substr(0, kLong - 9), crc32_of(text.data(), text.size()).hex());
}

}  // namespace

fs::path run_folder_below(const Config& config, const std::vector<std::string>& overrides) {
  std::set<std::string> given;
  for (const std::string& word : overrides) given.insert(word.substr(0, word.find('=')));
  std::string variant = config.variant;
  if (!given.contains("variant"))
    for (const std::string& key : setting_keys())
      if (given.contains(key) && key != "seed" && key != "name")
        variant += (variant.empty() ? "" : ",") + short_name(key) + "=" +
                   without_punctuation(value_of(config, key));
  if (variant == kStudyFile || variant == kSlurmFile || variant == kComparisonFolder ||
      variant.starts_with(std::string(kComparisonFolder) + "-"))
    throw InputError(
        fmt::format("variant: {}: a study has a file or folder of this name; allowed: "
                    "another name",
                    variant));
  return fs::path(variant.empty() ? "base" : shortened(variant)) /
         fmt::format("{}{}", kSeedFolder, config.seed);
}

fs::path RunFolder::snapshot(std::int64_t episodes) const {
  return snapshots() / fmt::format("episodes-{}.safetensors", episodes);
}

bool RunFolder::exists() const {
  std::error_code error;
  if (!fs::is_directory(path_, error)) return fs::exists(path_, error);
  const bool begun = is_begun();
  return std::ranges::any_of(entries_of(path_), [&](const fs::directory_entry& entry) {
    if (entry.is_symlink()) return true;
    const std::string name = entry.path().filename();
    return name != kLockFile && entry.path() != failure() && !NameBeside::is_one(name) &&
           !(begun && is_beginning(entry.path()));
  });
}

// Returns whether create() has run but no checkpoint exists. Somebody may have removed their
// folder.
bool RunFolder::is_begun() const {
  std::error_code error;
  if (!fs::is_directory(path_ / "checkpoints", error))
    return fs::exists(path_ / "command.txt", error) && fs::exists(path_ / "meta.json", error);
  return std::ranges::all_of(
      entries_of(path_ / "checkpoints"), [&](const fs::directory_entry& entry) {
        return !entry.is_symlink() && NameBeside::is_one(entry.path().filename());
      });
}

// Returns whether the entry can belong to a run without a checkpoint.
bool RunFolder::is_beginning(const fs::path& entry) const {
  const fs::path beginnings[] = {path_ / "checkpoints",
                                 path_ / "config.yaml",
                                 path_ / "command.txt",
                                 path_ / "meta.json",
                                 metrics(),
                                 metrics_lines(),
                                 events(),
                                 recordings(),
                                 snapshots()};
  return std::ranges::find(beginnings, entry) != std::end(beginnings) ||
         entry.filename().string().starts_with(std::string("metrics") + kBefore);
}

void RunFolder::require_no_links() const {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_symlink())
      throw InputError(fmt::format("{}: a symbolic link in a run folder is not followed",
                                   entry->path().string()));
  // A folder in it may have been removed meanwhile.
  if (error && error != std::errc::no_such_file_or_directory)
    throw_refused(path_.string() + ": cannot be read", error.value());
}

void RunFolder::require_new() const {
  if (exists())
    throw InputError(
        fmt::format("{}: exists already; --resume continues it, --out DIR chooses "
                    "another folder",
                    path_.string()));
}

void RunFolder::keep_last_checkpoint() const {
  if (!fs::exists(last_checkpoint())) return;
  const NameBeside name(previous_checkpoint());
  const fs::path& beside = name.path();
  std::error_code error;
  fs::create_hard_link(last_checkpoint(), beside, error);
  // Some file systems have no hard links.
  if (error && fs::copy_file(last_checkpoint(), beside, error)) sync_file(beside);
  if (!error) fs::rename(beside, previous_checkpoint(), error);
  // rename() does nothing between two hard links to one file.
  if (!error) fs::remove(beside, error);
  if (error) throw_refused(previous_checkpoint().string() + ": cannot be written", error.value());
}

void RunFolder::set_damaged_checkpoint_aside() const {
  std::error_code none;
  fs::rename(last_checkpoint(), path_ / "checkpoints/damaged.safetensors", none);
}

void RunFolder::remove_left_overs() const {
  for (const fs::path& folder : {path_, path_ / "checkpoints", recordings(), snapshots()})
    saccade::remove_left_overs(folder);
}

std::optional<fs::path> RunFolder::set_metrics_aside() const {
  std::string line;
  if (const std::unique_ptr<InputFile> rows = InputFile::if_there(metrics());
      !rows || !std::getline(*rows, line) || !std::getline(*rows, line))
    return std::nullopt;
  return set_aside(metrics());
}

// "metrics.before.csv", "metrics.before-2.csv"
fs::path RunFolder::set_aside(const fs::path& file) const {
  fs::path aside;
  for (int number = 1; aside.empty() || fs::exists(aside); ++number)
    aside = path_ / fmt::format("{}{}{}{}", file.stem().string(), kBefore,
                                number == 1 ? "" : "-" + std::to_string(number),
                                file.extension().string());
  std::error_code error;
  fs::rename(file, aside, error);
  if (error) throw_refused(aside.string() + ": cannot be written", error.value());
  return aside;
}

void RunFolder::set_test_aside() const {
  for (const fs::path& file : {summary(), details()})
    if (fs::exists(file)) set_aside(file);
}

// The checkpoint folder is made first: is_begun() relies on it.
void RunFolder::create(const Config& config, const std::string& command,
                       const std::string& meta) const {
  require_new();
  remove_left_overs();
  std::error_code error;
  fs::create_directories(path_ / "checkpoints", error);
  if (error) throw_refused(path_.string() + ": the folder cannot be made", error.value());
  sync_folder_and_parents(path_);
  write_words(config, command, meta);
  replace_text(metrics(), metrics_header());
}

void RunFolder::write_words(const Config& config, const std::string& command,
                            const std::string& meta) const {
  const auto texts = words_of(config, command, meta);
  for (std::size_t i = 0; i < kWords.size(); ++i) replace_text(path_ / kWords[i], texts[i]);
}

bool RunFolder::has_lost() const {
  return std::ranges::any_of(kWords, [&](const char* name) { return is_lost(path_ / name); });
}

void RunFolder::restore_words(const Config& config, const std::string& command,
                              const std::string& meta) const {
  if (is_of_another(path_ / kWords[0], config)) return write_words(config, command, meta);
  const auto texts = words_of(config, command, meta);
  for (std::size_t i = 0; i < kWords.size(); ++i)
    if (is_lost(path_ / kWords[i])) replace_text(path_ / kWords[i], texts[i]);
}

std::string meta_json(int ranks, int threads, const std::map<std::string, std::string>& checksums) {
  const nlohmann::ordered_json meta{
      {"version", SACCADE_VERSION},    {"commit", SACCADE_COMMIT}, {"compiler", __VERSION__},
      {"processor", processor_name()}, {"ranks", ranks},           {"threads", threads},
      {"data_crc32", checksums}};
  return meta.dump(2);
}

}  // namespace saccade
