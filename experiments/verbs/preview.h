#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/config/recording_formats.h"

namespace saccade {

/// `saccade data preview`
struct PreviewOptions {
  std::filesystem::path config = {};
  std::vector<std::string> overrides = {};  // key.path=value
  std::filesystem::path out = {};           // .png
  int scenes = 12;                          // 1 to kMaxSheetScenes
  bool force = false;                       // whether a file at `out` is written over
};

/// Draws training scenes of an experiment (scene_sheet()), and returns what to print: the path, and
/// what data.mean and data.deviation would be those of the training images' pixels.
/// Throws InputError for a configuration or data that cannot be, a study, a suffix other than .png,
/// and a file that is there already.
std::string preview(const PreviewOptions& options);

}  // namespace saccade
