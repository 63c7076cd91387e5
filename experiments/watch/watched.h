#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/runs/metrics_file.h"
#include "experiments/runs/run_status.h"

namespace saccade {

/// A run below a watched folder.
struct WatchedRun {
  std::string name;  // for display; tells it from all others
  RunStatus status;
  std::vector<MetricsRow> rows = {};  // what it has logged; only of runs that are in training or
                                      // whose curves are shown
};

struct WatchedFolder {
  std::filesystem::path folder;  // as given
  std::vector<WatchedRun> runs = {};
  std::string fault = {};  // why there are none
};

/// A recording below a watched folder.
struct WatchedRecording {
  std::filesystem::path root;  // the watched folder
  std::filesystem::path file;
  std::string path;        // below the page's address, not yet encoded; tells it from all others
  std::string media_type;  // image/... or video/...
  std::string title;       // of which run, for display
  std::filesystem::file_time_type written = {};
};

/// What the files below some folders say at this moment.
struct Watched {
  std::vector<WatchedFolder> folders;
  // The runs whose curves are shown, at most kMostCurves: those in training; if there is none,
  // those that logged last.
  std::vector<const WatchedRun*> shown;
  std::size_t in_training = 0;
  std::optional<WatchedRecording> recording;  // the newest
};

/// As many curves as there are different colours.
inline constexpr std::size_t kMostCurves = 7;

/// Reads the folders, into which other processes may be writing. A folder or run that cannot be
/// read says why.
Watched watched_now(std::span<const std::filesystem::path> folders);

/// Returns the recordings of all runs below the folders. A file that lies outside its folder,
/// behind a symbolic link, is not one of them.
std::vector<WatchedRecording> recordings_below(std::span<const std::filesystem::path> folders);

/// Returns the bytes of a recording, or nothing if it has moved out of its folder.
std::optional<std::string> read_recording(const WatchedRecording& recording);

}  // namespace saccade
