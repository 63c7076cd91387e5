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
  bool force = false;                       // whether to overwrite a file at `out`
};

/// Draws training scenes of an experiment (scene_sheet()), and returns what to print: the path, and
/// the values of data.mean and data.deviation that match the pixels of the training images. Throws
/// InputError for an invalid configuration or data, a study, a suffix other than .png, and an
/// existing file.
std::string preview(const PreviewOptions& options);

}  // namespace saccade
