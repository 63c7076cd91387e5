#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/comparison/chart.h"
#include "experiments/comparison/comparison.h"

namespace saccade {

/// A recording that is embedded in the page as it is.
struct EmbeddedRecording {
  std::string media_type;  // image/... or video/...
  std::string bytes;
  std::string title;  // what it shows, for display
  // Frame size of a video, which then gets the player's controls below it. 0: unknown.
  int rows = 0, cols = 0;
};

/// Returns a comparison as one self-contained HTML file: style, drawings, numbers and recording are
/// embedded. It has no script, and its Content-Security-Policy forbids loading or running anything.
/// Throws InputError for a recording of another media type.
std::string report_page(const Comparison& comparison, const std::vector<Chart>& charts,
                        const std::optional<EmbeddedRecording>& recording);

}  // namespace saccade
