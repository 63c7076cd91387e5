#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiments/pictures/picture.h"

namespace saccade {

/// A video that is written frame by frame, in constant memory.
class VideoFile {
 public:
  virtual ~VideoFile() = default;
  /// Adds the next frame, of the video's size.
  virtual void add(const Picture& frame) = 0;
  /// Call after the last frame. Reads the file back; throws std::runtime_error with the system's
  /// reason if the number or size of its frames is wrong, or, for a file of the program ffmpeg, if
  /// it does not begin as an .mp4 does.
  virtual void close() = 0;
};

/// Size and speed of a video.
struct VideoShape {
  int rows = 0;
  int cols = 0;
  double fps = 3.0;  // frames per second
};

/// Opens a video in the format of the suffix, overwriting `path`: .mp4 (H.264, which needs even
/// sides: an odd one gets an extra row or column) or .gif (endless; frame times are rounded to
/// hundredths of a second). Throws InputError for another suffix, a size that the format does not
/// support, or a codec that this machine lacks, listing the formats that work here. Messages call
/// the file `name`, if `path` is a temporary name of it.
std::unique_ptr<VideoFile> open_video(const std::filesystem::path& path, const VideoShape& shape,
                                      const std::filesystem::path& name = {});

/// Returns the suffixes of the videos that can be written here: ".gif", and ".mp4" if there is an
/// H.264 encoder.
std::vector<std::string> video_formats();
/// Why .mp4 is not one of them.
std::string mp4_fault();

/// Returns the frame size of an .mp4, without its speed; no rows if it cannot be read.
VideoShape shape_of_mp4(const std::filesystem::path& path);

/// The .gif part of open_video: each frame stores only what changed, in an optimised palette of 255
/// colours.
std::unique_ptr<VideoFile> open_gif(const std::filesystem::path& path, const VideoShape& shape,
                                    const std::filesystem::path& name);

}  // namespace saccade
