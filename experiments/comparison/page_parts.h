#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/comparison/chart.h"

namespace saccade {

// Parts of pages whose style is report.css. They return HTML.

/// A section with a heading; empty without content.
std::string section(const std::string& title, const std::string& html);

/// The charts for which `belongs` holds, each with its numbers and its text.
std::string figures(const std::vector<Chart>& charts,
                    const std::function<bool(const Chart&)>& belongs);

/// A recording as a page shows it.
struct ShownRecording {
  std::string media_type;  // image/... or video/...
  std::string source;      // its address
  std::string title;       // what it shows, for display
  // Frame size of a video, which then gets the player's controls below it. 0: unknown.
  int rows = 0, cols = 0;
};

/// Throws InputError for another media type.
std::string recording_figure(const ShownRecording& recording);

}  // namespace saccade
