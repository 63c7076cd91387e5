// Writes a video of one frame: the module for that is found wherever this program lies.
#include <cstdio>

#include "experiments/pictures/video.h"

int main(int, char** arguments) {
  using namespace saccade;
  const Picture frame(48, 64, {200, 0, 0});
  const auto video = open_video(arguments[1], {.rows = frame.rows(), .cols = frame.cols()});
  video->add(frame);
  video->close();
  const VideoShape shape = shape_of_mp4(arguments[1]);
  std::printf("%d x %d pixels\n", shape.rows, shape.cols);
}
