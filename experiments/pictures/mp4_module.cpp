#include "experiments/pictures/mp4_module.h"

#include <exception>
#include <memory>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>

namespace {

struct Video {
  cv::Size size;  // of the frames that are added
  cv::VideoWriter writer;
  cv::Mat blue_first, even;
};

void* open_video(const char* path, int rows, int cols, double fps) try {
  // Missing codecs are reported in our own words.
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  auto video = std::make_unique<Video>();
  video->size = {cols, rows};
  video->writer.open(path, cv::CAP_FFMPEG, cv::VideoWriter::fourcc('a', 'v', 'c', '1'), fps,
                     {cols + cols % 2, rows + rows % 2});
  return video->writer.isOpened() ? video.release() : nullptr;
} catch (const std::exception&) {
  return nullptr;
}

void add_frame(void* handle, const std::uint8_t* pixels) try {
  Video& video = *static_cast<Video*>(handle);
  const cv::Mat red_first(video.size, CV_8UC3,
                          const_cast<std::uint8_t*>(pixels));  // must not be written
  cv::cvtColor(red_first, video.blue_first, cv::COLOR_RGB2BGR);
  cv::copyMakeBorder(video.blue_first, video.even, 0, video.size.height % 2, 0,
                     video.size.width % 2, cv::BORDER_REPLICATE);
  video.writer.write(video.even);
} catch (const std::exception&) {  // the frame will be missed when the frames are counted
}

void close_video(void* handle) try {
  const std::unique_ptr<Video> video(static_cast<Video*>(handle));
  video->writer.release();
} catch (const std::exception&) {  // as above
}

int read_shape(const char* path, int with_frames, SaccadeMp4Shape* shape) try {
  cv::VideoCapture film(path, cv::CAP_FFMPEG);
  if (!film.isOpened()) return 0;
  *shape = {};
  while (with_frames && film.grab()) ++shape->frames;
  shape->rows = static_cast<int>(film.get(cv::CAP_PROP_FRAME_HEIGHT));
  shape->cols = static_cast<int>(film.get(cv::CAP_PROP_FRAME_WIDTH));
  return 1;
} catch (const std::exception&) {
  return 0;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const SaccadeMp4* SACCADE_MP4_FUNCTION() {
  static constexpr SaccadeMp4 kFunctions = {open_video, add_frame, close_video, read_shape};
  return &kFunctions;
}
