#pragma once

#include <cstdint>

// The border of the module saccade_mp4.so, which writes and reads .mp4 with OpenCV's FFmpeg. That
// takes 200 libraries, so the module is loaded only when a video is made (experiments/pictures/
// video.cpp). Plain C: a program may have another compiler than the module. Nothing throws.

extern "C" {

/// What `frames` and size a video has.
struct SaccadeMp4Shape {
  int rows, cols, frames;
};

struct SaccadeMp4 {
  /// Opens a video of H.264, overwriting `path`; null if that is not possible. An odd side gets an
  /// extra row or column.
  void* (*open)(const char* path, int rows, int cols, double fps);
  /// Adds a frame: (rows, cols, 3), red, green, blue. OpenCV does not report a full disk.
  void (*add)(void* video, const std::uint8_t* pixels);
  /// Ends the file and frees `video`.
  void (*close)(void* video);
  /// Reads the shape; 0 if there is no readable video. Frames are counted only if asked for.
  int (*shape)(const char* path, int with_frames, SaccadeMp4Shape* shape);
};

/// The module's one function, by this name, which changes with these declarations.
#define SACCADE_MP4_FUNCTION saccade_mp4_2
using SaccadeMp4Function = const SaccadeMp4*();
}
