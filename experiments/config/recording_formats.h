#pragma once

#include <string>
#include <vector>

namespace saccade {

/// The suffixes of recordings, without the dot.
inline std::vector<std::string> recording_formats() { return {"mp4", "gif", "png"}; }

/// The most scenes of a contact sheet (.png).
inline constexpr int kMaxSheetScenes = 100;

}  // namespace saccade
