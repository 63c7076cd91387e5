#pragma once

#include <string>
#include <vector>

namespace saccade {

/// "mp4", "gif", "png": the suffixes of what recordings are written to, without the dot.
inline std::vector<std::string> recording_formats() { return {"mp4", "gif", "png"}; }

/// A contact sheet (.png) holds at most so many scenes.
inline constexpr int kMaxSheetScenes = 100;

}  // namespace saccade
