#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "agent/spec/pixel_scale.h"
#include "base/range.h"
#include "experiments/config/recording_formats.h"
#include "experiments/task/world.h"

namespace saccade {

struct PreviewRequest {
  static constexpr Range kScenes{1, kMaxSheetScenes};

  std::filesystem::path config = {};
  std::vector<std::string> overrides = {};  // key.path=value
  std::filesystem::path out = {};           // .png
  int scenes = 12;
  bool force = false;  // whether to overwrite a file at `out`
};

/// Draws training scenes of an experiment (scene_sheet()), and returns its world. Throws InputError
/// for an invalid configuration or data, a study, a suffix other than .png, and an existing file.
std::unique_ptr<const World> preview(const PreviewRequest& request);

/// Mean and deviation of each channel of all images' pixels, in [0, 1]: what data.mean and
/// data.deviation can be set to.
PixelConfig pixels_of(const Dataset& digits);

}  // namespace saccade
