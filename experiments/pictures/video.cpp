#include "experiments/pictures/video.h"

#include <fmt/format.h>
#include <unistd.h>

#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>

#include "base/error.h"
#include "base/name_table.h"
#include "base/output.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

int even(int side) { return side + side % 2; }

class Mp4 final : public VideoFile {
 public:
  Mp4(const fs::path& path, const VideoShape& shape)
      : path_(path), size_(even(shape.cols), even(shape.rows)) {
    // Missing codecs are reported in our own words.
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    writer_.open(path.string(), cv::CAP_FFMPEG, cv::VideoWriter::fourcc('a', 'v', 'c', '1'),
                 shape.fps, size_);
  }

  bool is_open() const { return writer_.isOpened(); }

  void add(const Picture& frame) override {
    const cv::Mat pixels(frame.rows(), frame.cols(), CV_8UC3,
                         const_cast<std::uint8_t*>(frame.bytes().data()));  // must not be written
    cv::cvtColor(pixels, blue_first_, cv::COLOR_RGB2BGR);
    cv::copyMakeBorder(blue_first_, even_, 0, frame.rows() % 2, 0, frame.cols() % 2,
                       cv::BORDER_REPLICATE);
    writer_.write(even_);
    ++frames_;
  }

  // OpenCV does not report a full disk.
  void close() override {
    writer_.release();
    if (!is_whole())
      throw std::runtime_error(
          fmt::format("{}: cannot be written: {}", path_.string(), write_fault(path_)));
  }

 private:
  bool is_whole() const {
    cv::VideoCapture film(path_.string(), cv::CAP_FFMPEG);
    int frames = 0;
    while (film.isOpened() && film.grab()) ++frames;
    return frames == frames_ && film.get(cv::CAP_PROP_FRAME_WIDTH) == size_.width &&
           film.get(cv::CAP_PROP_FRAME_HEIGHT) == size_.height;
  }

  fs::path path_;
  cv::Size size_;
  int frames_ = 0;
  cv::VideoWriter writer_;
  cv::Mat blue_first_, even_;
};

bool writes_mp4() {
  static const bool works = [] {
    std::error_code error;
    const fs::path trial =
        fs::temp_directory_path(error) / fmt::format("saccade-trial-{}.mp4", getpid());
    const bool opens = Mp4(trial, {.rows = 64, .cols = 64}).is_open();
    fs::remove(trial, error);
    return opens;
  }();
  return works;
}

std::unique_ptr<VideoFile> open_mp4(const fs::path& path, const VideoShape& shape) {
  auto file = std::make_unique<Mp4>(path, shape);
  if (file->is_open()) return file;
  if (!writes_mp4())
    throw InputError(fmt::format(
        "{}: there is no encoder of H.264 here (OpenCV's FFmpeg has none); formats that work: {}",
        path.string(), join(video_formats())));
  throw InputError(fmt::format("{}: cannot be written as H.264 with {} x {} pixels", path.string(),
                               shape.cols, shape.rows));
}

}  // namespace

std::unique_ptr<VideoFile> open_video(const fs::path& path, const VideoShape& shape) {
  if (path.extension() == ".mp4") return open_mp4(path, shape);
  if (path.extension() == ".gif") return open_gif(path, shape);
  throw InputError(fmt::format("{}: '{}' is not a suffix of a video; formats that work: {}",
                               path.string(), path.extension().string(), join(video_formats())));
}

VideoShape shape_of_mp4(const fs::path& path) {
  const cv::VideoCapture film(path.string(), cv::CAP_FFMPEG);
  if (!film.isOpened()) return {};
  return {.rows = static_cast<int>(film.get(cv::CAP_PROP_FRAME_HEIGHT)),
          .cols = static_cast<int>(film.get(cv::CAP_PROP_FRAME_WIDTH)),
          .fps = film.get(cv::CAP_PROP_FPS)};
}

std::vector<std::string> video_formats() {
  std::vector<std::string> formats = {".gif"};
  if (writes_mp4()) formats.insert(formats.begin(), ".mp4");
  return formats;
}

}  // namespace saccade
