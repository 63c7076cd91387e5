#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"
#include "experiments/files/progress_bar.h"
#include "experiments/runs/other_scenes.h"
#include "experiments/task/own_parts.h"

namespace saccade {

struct CompareRequest {
  std::vector<std::filesystem::path> folders = {};  // of runs or studies
  std::filesystem::path out = {};          // empty: comparison/ in the one folder given, or here
                                           // for several, for a shipped agent and other scenes
  std::vector<std::string> tuned_by = {};  // keys; see gather()
  StopTarget stop_target = {};             // at which threshold each run stops
  SceneOverrides other_scenes = {};        // if any, every run is tested again, on these,
  OwnParts own = {};                       // which a program may give
  bool force = false;                      // write over an older comparison
  std::string command = {};                // as typed, for the report
  int threads = 0;                         // 0: every processor this process may use
};

/// A comparison and where its pages are.
struct ComparedRuns {
  Comparison comparison;
  std::filesystem::path report;
  std::filesystem::path video;  // empty: none could be made
};

/// Puts trained agents side by side (see gather()) and writes into the folder `out`: compare.md,
/// compare.csv, recording.mp4 of the first run of each variant (.gif where there is no encoder of
/// H.264), report.html with all of that, and charts/*.png. Throws InputError as gather does, and
/// where any of these files is there already. With `force`, what an older comparison had of more
/// variants is removed.
ComparedRuns compare(const CompareRequest& request, const ProgressCallback& on_progress = nullptr);

/// The table, and then where the recording and the report are.
std::string to_text(const ComparedRuns& compared);

}  // namespace saccade
