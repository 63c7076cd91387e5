#include "experiments/pictures/video.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "base/name_table.h"
#include "base/output.h"
#include "experiments/files/shipped.h"
#include "experiments/pictures/ffmpeg.h"
#include "experiments/pictures/mp4_module.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

#define SACCADE_NAME_OF(function) #function
#define SACCADE_NAME(function) SACCADE_NAME_OF(function)

/// Loads the module at the first call; null where it is missing, or has no such function.
const SaccadeMp4* mp4() {
  static const SaccadeMp4* const functions = []() -> const SaccadeMp4* {
    void* module = open_shipped_library("saccade_mp4.so");
    void* function = module ? dlsym(module, SACCADE_NAME(SACCADE_MP4_FUNCTION)) : nullptr;
    return function ? reinterpret_cast<SaccadeMp4Function*>(function)() : nullptr;
  }();
  return functions;
}

int even(int side) { return side + side % 2; }

// FFmpeg takes what stands before a colon in a relative path for a protocol.
fs::path whole_path(const fs::path& path) { return fs::absolute(path); }

class Mp4 final : public VideoFile {
 public:
  Mp4(const fs::path& path, const VideoShape& shape, const fs::path& name)
      : path_(path),
        name_(name),
        shape_(shape),
        video_(mp4() ? mp4()->open(path.c_str(), shape.rows, shape.cols, shape.fps) : nullptr) {}
  ~Mp4() override { end(); }

  bool is_open() const { return video_; }

  void add(const Picture& frame) override {
    mp4()->add(video_, frame.bytes().data());
    ++frames_;
  }

  void close() override {
    end();
    SaccadeMp4Shape shape{};
    if (!mp4()->shape(path_.c_str(), /*with_frames=*/1, &shape) || shape.frames != frames_ ||
        shape.rows != even(shape_.rows) || shape.cols != even(shape_.cols))
      throw std::runtime_error(
          fmt::format("{}: cannot be written: {}", name_.string(), write_fault(path_)));
  }

 private:
  void end() {
    if (video_) mp4()->close(std::exchange(video_, nullptr));
  }

  fs::path path_, name_;  // where it is, and what messages call it
  VideoShape shape_;
  int frames_ = 0;
  void* video_;
};

bool uses_module() { return mp4() && !ffmpeg_is_chosen(); }

/// Null if that is not possible.
std::unique_ptr<VideoFile> try_to_open_mp4(const fs::path& path, const VideoShape& shape,
                                           const fs::path& name) {
  if (!uses_module()) return open_with_ffmpeg(ffmpeg_program(), whole_path(path), shape, name);
  auto file = std::make_unique<Mp4>(whole_path(path), shape, name);
  if (!file->is_open()) return nullptr;
  return file;
}

bool writes_mp4() {
  static const bool works = [] {
    std::error_code error;
    // A folder of its own, into which nobody else can have put a link.
    std::string folder = fs::temp_directory_path(error) / "saccade-trial-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) return false;
    bool writes = false;
    try {
      const fs::path trial = fs::path(folder) / "trial.mp4";
      if (const auto video = try_to_open_mp4(trial, {.rows = 64, .cols = 64}, trial)) {
        video->add(Picture(64, 64, {}));
        video->close();
        writes = true;
      }
    } catch (const std::runtime_error&) {  // the encoder does not work
    }
    fs::remove_all(folder, error);
    return writes;
  }();
  return works;
}

std::unique_ptr<VideoFile> open_mp4(const fs::path& path, const VideoShape& shape,
                                    const fs::path& name) {
  if (auto file = try_to_open_mp4(path, shape, name)) return file;
  if (!writes_mp4())
    throw InputError(fmt::format("{}: {}; formats that work: {}", name.string(), mp4_fault(),
                                 join(video_formats())));
  throw InputError(fmt::format("{}: cannot be written as H.264 with {} x {} pixels", name.string(),
                               shape.cols, shape.rows));
}

}  // namespace

std::unique_ptr<VideoFile> open_video(const fs::path& path, const VideoShape& shape,
                                      const fs::path& name) {
  const fs::path& shown = name.empty() ? path : name;
  if (path.extension() == ".mp4") return open_mp4(path, shape, shown);
  if (path.extension() == ".gif") return open_gif(path, shape, shown);
  throw InputError(fmt::format("{}: '{}' is not a suffix of a video; formats that work: {}",
                               shown.string(), path.extension().string(), join(video_formats())));
}

VideoShape shape_of_mp4(const fs::path& path) {
  SaccadeMp4Shape shape{};
  if (!mp4() || !mp4()->shape(whole_path(path).c_str(), /*with_frames=*/0, &shape)) return {};
  return {.rows = shape.rows, .cols = shape.cols};
}

std::string mp4_fault() {
  if (uses_module()) return "OpenCV's FFmpeg has no encoder of H.264 here";
  return fmt::format(
      "neither saccade_mp4.so nor the program {} works here (`pip install "
      "imageio-ffmpeg` brings it to Python)",
      ffmpeg_program());
}

std::vector<std::string> video_formats() {
  std::vector<std::string> formats = {".gif"};
  if (writes_mp4()) formats.insert(formats.begin(), ".mp4");
  return formats;
}

}  // namespace saccade
