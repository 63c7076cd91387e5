#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/range.h"
#include "experiments/config/recording_formats.h"

namespace saccade {

struct PreviewRequest {
  static constexpr Range kScenes{1, kMaxSheetScenes};

  std::filesystem::path config = {};
  std::vector<std::string> overrides = {};  // key.path=value
  std::filesystem::path out = {};           // .png
  int scenes = 12;
  bool force = false;  // whether to overwrite a file at `out`
};

/// Draws training scenes of an experiment (scene_sheet()), and returns the summary of its data and
/// the values of data.mean and data.deviation that match the pixels of the training images, as
/// text; empty for tasks without digits. Throws InputError for an invalid configuration or data, a
/// study, a suffix other than .png, and an existing file.
std::string preview(const PreviewRequest& request);

}  // namespace saccade
