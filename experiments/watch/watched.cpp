#include "experiments/watch/watched.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/input_file.h"
#include "experiments/config/recording_formats.h"
#include "experiments/runs/finished_run.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// Whether a path without links lies below a folder.
bool lies_below(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  const auto [end, rest] = std::ranges::mismatch(root, path);
  return !error && end == root.end() && rest != path.end();
}

std::vector<fs::path> runs_below(const fs::path& folder, std::string* fault = nullptr) {
  try {
    return find_runs(folder);
  } catch (const std::runtime_error& error) {  // removed, or not readable now
    if (fault != nullptr) *fault = error.what();
    return {};
  }
}

RunStatus status_now(const fs::path& run) {
  try {
    return status_of(RunFolder(run));
  } catch (const std::runtime_error& error) {
    RunStatus status;
    status.folder = run;
    status.state = RunStatus::State::failed;
    status.message = error.what();
    return status;
  }
}

// With several folders, the name of a run begins with its folder.
std::string name_of_run(std::span<const fs::path> folders, std::size_t number,
                        const fs::path& run) {
  const std::string name = name_below(folders[number], run);
  if (folders.size() == 1) return name;
  const std::string folder = folders[number].lexically_normal().string();
  return run == folders[number] ? folder : fmt::format("{}: {}", folder, name);
}

void read_rows(WatchedRun& run) {
  try {
    run.rows = read_metrics(RunFolder(run.status.folder).metrics());
  } catch (const std::runtime_error&) {
    run.rows.clear();  // its status says what is wrong
  }
}

fs::file_time_type last_logged(const WatchedRun& run) {
  std::error_code none;
  const fs::file_time_type time = fs::last_write_time(RunFolder(run.status.folder).metrics(), none);
  return none ? fs::file_time_type::min() : time;
}

// Chooses the runs whose curves are shown and reads what they logged.
void choose_shown(Watched& watched) {
  std::vector<WatchedRun*> training, others;
  for (WatchedFolder& folder : watched.folders)
    for (WatchedRun& run : folder.runs)
      (run.status.state == RunStatus::State::running ? training : others).push_back(&run);
  watched.in_training = training.size();
  std::vector<WatchedRun*>& chosen = training.empty() ? others : training;
  if (chosen.size() > kMostCurves) {
    std::vector<std::pair<fs::file_time_type, std::size_t>> times;  // and places in the order
    for (std::size_t i = 0; i < chosen.size(); ++i) times.emplace_back(last_logged(*chosen[i]), i);
    std::ranges::stable_sort(times, std::ranges::greater(), &decltype(times)::value_type::first);
    times.resize(kMostCurves);
    std::ranges::sort(times, {}, &decltype(times)::value_type::second);
    const std::vector<WatchedRun*> all = std::exchange(chosen, {});
    for (const auto& [time, place] : times) chosen.push_back(all[place]);
  }
  for (WatchedRun* run : training) read_rows(*run);
  for (WatchedRun* run : chosen) {
    if (run->rows.empty()) read_rows(*run);
    watched.shown.push_back(run);
  }
}

std::string media_type_of(const fs::path& recording) {
  const std::string suffix = recording.extension().string().substr(1);
  return (suffix == "mp4" ? "video/" : "image/") + suffix;
}

bool is_recording(const fs::path& file) {
  const std::string suffix = file.extension().string();
  return std::ranges::any_of(recording_formats(),
                             [&](const std::string& format) { return suffix == "." + format; }) &&
         file.filename().string().find(".part.") == std::string::npos;
}

}  // namespace

std::vector<WatchedRecording> recordings_below(std::span<const fs::path> folders) {
  std::vector<WatchedRecording> found;
  for (std::size_t number = 0; number < folders.size(); ++number)
    for (const fs::path& run : runs_below(folders[number])) {
      std::error_code none;
      for (const auto& entry : fs::directory_iterator(RunFolder(run).recordings(), none)) {
        if (!is_recording(entry.path())) continue;
        const fs::path file = fs::canonical(entry.path(), none);
        if (none || !fs::is_regular_file(file, none) || !lies_below(folders[number], file))
          continue;
        const std::string name = entry.path().filename().string();
        found.push_back({.root = folders[number],
                         .file = entry.path(),
                         .path = fmt::format("recordings/{}/{}/{}", number,
                                             name_below(folders[number], run), name),
                         .media_type = media_type_of(entry.path()),
                         .title = fmt::format("{}, {}", name_of_run(folders, number, run),
                                              entry.path().stem().string()),
                         .written = fs::last_write_time(file, none)});
      }
    }
  return found;
}

std::optional<std::string> read_recording(const WatchedRecording& recording) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28;
  InputFile file(recording.file);
  // Where the opened file lies, whatever its path has become.
  const fs::path opened = fs::read_symlink(fmt::format("/proc/self/fd/{}", file.descriptor()));
  if (!lies_below(recording.root, opened) || file.size() > kMostBytes) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Watched watched_now(std::span<const fs::path> folders) {
  Watched watched;
  for (std::size_t number = 0; number < folders.size(); ++number) {
    WatchedFolder& folder = watched.folders.emplace_back(WatchedFolder{folders[number]});
    for (const fs::path& run : runs_below(folders[number], &folder.fault))
      folder.runs.push_back({name_of_run(folders, number, run), status_now(run)});
  }
  choose_shown(watched);
  std::vector<WatchedRecording> recordings = recordings_below(folders);
  const auto newest = std::ranges::max_element(recordings, {}, &WatchedRecording::written);
  if (newest != recordings.end()) watched.recording = std::move(*newest);
  return watched;
}

}  // namespace saccade
