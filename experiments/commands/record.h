#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/files/progress_bar.h"

namespace saccade {

struct Config;

/// `saccade record`
struct RecordOptions {
  std::vector<std::filesystem::path> run_folders = {};  // at least one
  std::filesystem::path out = {};                       // .mp4, .gif or .png; empty: see record()
  std::optional<int> scenes = {};                       // default: 4 for a .png, 8 for a video
  std::optional<std::uint64_t> seed = {};               // of the scenes; default: evaluation.seed
  std::string only = {};                                // "wrong", "right"; empty: every scene
  double fps = 3.0;                                     // glimpses per second
  std::string data = {};                                // see Trained
  bool force = false;                                   // whether to overwrite a file at `out`
  bool dark = false;                                    // use the dark theme for a video
  bool in_place = false;                                // see RecordingRequest
};

/// Records where trained agents look at test scenes, side by side. Without `out` the file is
/// recording.mp4 in the run folder, or in the working directory for several runs and for a trained
/// agent given by name (.gif if there is no H.264 encoder). Returns what to print: the path, and
/// the number of scenes found if fewer than requested.
///
/// Throws InputError for a folder that is not a run, for runs of different tasks (scene.*,
/// data.source, data.size, the data's checksums), and as write_recording.
std::string record(const RecordOptions& options, const ProgressCallback& on_progress = nullptr);

/// Returns short, distinct names for agents: their variant_labels(), or if these are not distinct
/// the ends of their folder paths.
std::vector<std::string> agent_names(std::span<const Config* const> configs,
                                     std::span<const std::filesystem::path> folders);

}  // namespace saccade
