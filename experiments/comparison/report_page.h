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
  std::string title;  // what it shows, for people
};

/// A comparison as one HTML file that needs nothing else: style, script, Chart.js, numbers and
/// recording are inside, and its Content-Security-Policy lets nothing be loaded. The numbers of the
/// charts are one JSON document, the element with the id `numbers`. Throws InputError for a
/// recording of another media type.
std::string report_page(const Comparison& comparison, const std::vector<Chart>& charts,
                        const std::optional<EmbeddedRecording>& recording);

}  // namespace saccade
