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
  std::optional<int> scenes = {};                       // default: 4 on a .png, 8 in a video
  std::optional<std::uint64_t> seed = {};               // of the scenes; default: evaluation.seed
  std::string only = {};                                // "wrong", "right"; empty: every scene
  double fps = 3.0;                                     // glimpses a second
  std::string data = {};                                // see Trained
  bool force = false;                                   // whether a file at `out` is written over
  bool direct = false;                                  // see RecordingRequest
  bool dark = false;                                    // a video for dark pages
};

/// Records where trained agents look at test scenes, side by side. Without `out` the file is
/// recording.mp4 in the run folder, or in the working folder for several runs and for a trained
/// agent by name (.gif where there is no encoder of H.264). Returns what to print: the path, and
/// how many scenes were found where they are fewer than asked for.
///
/// Throws InputError for a folder that is no run, runs of different tasks (scene.*, data.source,
/// data.size, the data's checksums), and whatever write_recording refuses.
std::string record(const RecordOptions& options, const Told& told = nullptr);

/// Short and distinct names for agents: their variant_labels(), or where these are not distinct the
/// ends of their folders' paths.
std::vector<std::string> agent_names(std::span<const Config* const> configs,
                                     std::span<const std::filesystem::path> folders);

}  // namespace saccade
