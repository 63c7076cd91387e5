#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/comparison/chart.h"
#include "experiments/comparison/comparison.h"

namespace saccade {

/// A recording that goes into the page as it is.
struct EmbeddedRecording {
  std::string media_type;  // image/... or video/...
  std::string bytes;
  std::string title;            // what it shows, for people
  std::string dark_bytes = {};  // the same for dark pages; empty: there is none
  // Of a video's frames: with it the page has the player's controls below them. 0: not known.
  int rows = 0, cols = 0;
};

/// A comparison as one HTML file that needs nothing else: style, drawings, numbers and recording
/// are inside. It has no script, and its Content-Security-Policy lets nothing be loaded or run.
/// Throws InputError for a recording of another media type.
std::string report_page(const Comparison& comparison, const std::vector<Chart>& charts,
                        const std::optional<EmbeddedRecording>& recording);

}  // namespace saccade
