#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiments/pictures/picture.h"

namespace saccade {

/// A video that is being written, frame by frame, in constant memory.
class VideoFile {
 public:
  virtual ~VideoFile() = default;
  /// The next frame, as large as the video.
  virtual void add(const Picture& frame) = 0;
  /// After the last frame. Reads the file back; throws std::runtime_error with the system's reason
  /// if it has not the frames and the size that were written.
  virtual void close() = 0;
};

/// How a video is shown.
struct VideoShape {
  int rows = 0;
  int cols = 0;
  double fps = 3.0;  // frames a second
};

/// Begins a video of the format that the suffix names, over what is at `path`: .mp4 (H.264, which
/// needs even sides: an odd one gets a row or column more) or .gif (which loops; frames are shown
/// for whole hundredths of a second). Throws InputError for another suffix, a size that the format
/// does not have, or a codec that this machine lacks, with the formats that work here.
std::unique_ptr<VideoFile> open_video(const std::filesystem::path& path, const VideoShape& shape);

/// The suffixes of the videos that can be written here: ".gif", and ".mp4" where there is an
/// encoder of H.264.
std::vector<std::string> video_formats();

/// The frames of an .mp4; no rows where it cannot be read.
VideoShape shape_of_mp4(const std::filesystem::path& path);

/// What open_video makes of .gif: each frame brings only what changed, in the best 255 colours.
std::unique_ptr<VideoFile> open_gif(const std::filesystem::path& path, const VideoShape& shape);

}  // namespace saccade
