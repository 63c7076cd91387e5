#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "experiments/pictures/video.h"

namespace saccade {

/// The program that writes .mp4 where saccade_mp4.so is missing, as in wheels: $SACCADE_FFMPEG, a
/// path or a name in PATH; if not set, `ffmpeg`. It need not exist.
std::string ffmpeg_program();
/// Whether the user has chosen it, so that it is used in place of the module.
bool ffmpeg_is_chosen();

/// Opens a video of H.264 that `program` encodes from frames in a pipe, overwriting `path`, which
/// is absolute; an odd side gets an extra row or column. Returns null if the program cannot be
/// started or `path` cannot be written. close() throws, calling the file `name`, if the program has
/// not ended well or what it wrote does not begin as an .mp4 does.
std::unique_ptr<VideoFile> open_with_ffmpeg(const std::string& program,
                                            const std::filesystem::path& path,
                                            const VideoShape& shape,
                                            const std::filesystem::path& name);

}  // namespace saccade
