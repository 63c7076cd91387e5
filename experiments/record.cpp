#include "experiments/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "experiments/run_folder.h"
#include "experiments/task.h"
#include "experiments/trained.h"
#include "nn/error.h"

namespace saccade {
namespace {

constexpr int kTileSide = 180;  // pixels of the longer side of a drawn canvas
constexpr int kGap = 8;
constexpr int kCaption = 22;
const cv::Scalar kBackground(255, 255, 255);
const cv::Scalar kText(40, 40, 40);
const cv::Scalar kPath(0, 215, 255);  // blue, green, red
const cv::Scalar kRight(80, 175, 76);
const cv::Scalar kWrong(54, 67, 244);

// Planes (channels, rows, cols) of values in [0, 1] as an enlarged colour image.
cv::Mat enlarge(const float* planes, int channels, int rows, int cols, cv::Size size) {
  cv::Mat image(rows, cols, CV_8UC3);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < cols; ++x)
      for (int c = 0; c < 3; ++c) {  // OpenCV's order is blue, green, red
        const float value = planes[((channels == 3 ? 2 - c : 0) * rows + y) * cols + x];
        image.at<cv::Vec3b>(y, x)[c] = cv::saturate_cast<uchar>(255.0F * value);
      }
  cv::Mat large;
  cv::resize(image, large, size, 0, 0, cv::INTER_NEAREST);
  return large;
}

// The sizes of a sheet's parts, and the drawing of them.
class Sheet {
 public:
  Sheet(const Task& task, int scenes)
      : task_(task),
        channels_(task.digits.test.channels()),
        rows_(task.config.scene.canvas[0]),
        cols_(task.config.scene.canvas[1]),
        zoom_(std::max(1, kTileSide / std::max(rows_, cols_))),
        steps_(task.model.num_glimpses()),
        scales_(task.model.filters ? 1 : task.config.retina.scales),
        patch_pixels_(task.model.filters ? task.config.agent.glimpse.filters
                                         : task.config.retina.patch_size),
        patch_((cols_ * zoom_ - (scales_ - 1) * kGap / 2) / scales_),
        tile_(cols_ * zoom_, rows_ * zoom_ + kGap / 2 + patch_),
        image_(scenes * (tile_.height + kCaption + kGap) + kGap,
               steps_ * (tile_.width + kGap) + kGap, CV_8UC3, kBackground) {}

  // Row `row` of the sheet: scene and episode `b` of the rollout.
  void draw_episode(int row, const std::vector<float>& canvas, Rollout& rollout, int b) {
    const int top = kGap + row * (tile_.height + kCaption + kGap);
    for (int t = 0; t < steps_; ++t) {
      const cv::Point corner(kGap + t * (tile_.width + kGap), top);
      cv::Mat drawn =
          enlarge(canvas.data(), channels_, rows_, cols_, cv::Size(cols_ * zoom_, rows_ * zoom_));
      draw_look(drawn, rollout, t, b);
      drawn.copyTo(image_(cv::Rect(corner, drawn.size())));
      std::vector<float> seen(task_.model.glimpse_size());
      rollout.look->picture(t, b, seen.data());
      draw_glimpse(corner + cv::Point(0, drawn.rows + kGap / 2), seen.data());
    }
    const int label = rollout.labels[b], answer = rollout.classes[b];
    const float p = rollout.probabilities(steps_ - 1, b, answer);
    const std::string caption =
        fmt::format("digit {}: answers {} ({:.0f} %)", name(label), name(answer), 100.0F * p);
    cv::putText(image_, caption, {kGap, top + tile_.height + kCaption - 6},
                cv::FONT_HERSHEY_SIMPLEX, 0.5, answer == label ? kRight : kWrong, 1, cv::LINE_AA);
  }

  const cv::Mat& image() const { return image_; }

 private:
  std::string name(int label) const {
    const auto& names = task_.digits.class_names;
    return task_.config.scene.num_digits == 1 ? names[label] : std::to_string(label);
  }

  // Where a look went, in pixels of the drawn canvas: the middle of its gaze.
  cv::Point place(Rollout& rollout, int t, int b) const {
    const Gaze gaze = rollout.look->gaze(t, b);
    float x = 0.0F, y = 0.0F;
    for (int k = 0; k < gaze.places.rows; ++k) {
      x += gaze.weights[k] * gaze.places(k, 0);
      y += gaze.weights[k] * gaze.places(k, 1);
    }
    return {static_cast<int>(0.5F * (x + 1.0F) * static_cast<float>(cols_ * zoom_)),
            static_cast<int>(0.5F * (y + 1.0F) * static_cast<float>(rows_ * zoom_))};
  }

  void draw_look(cv::Mat& drawn, Rollout& rollout, int t, int b) const {
    if (task_.model.sees_canvas()) return;
    for (int step = 1; step <= t; ++step)
      cv::line(drawn, place(rollout, step - 1, b), place(rollout, step, b), kPath, 1, cv::LINE_AA);
    const bool last = t == steps_ - 1;
    const bool right = rollout.classes[b] == rollout.labels[b];
    const cv::Scalar colour = !last ? kPath : right ? kRight : kWrong;
    const cv::Point centre = place(rollout, t, b);
    const Gaze gaze = rollout.look->gaze(t, b);
    const float filters =
        task_.model.filters ? static_cast<float>(task_.config.agent.glimpse.filters) : 1.0F;
    cv::Point half(
        static_cast<int>(0.5F * filters * gaze.half_width * static_cast<float>(cols_ * zoom_)),
        static_cast<int>(0.5F * filters * gaze.half_height * static_cast<float>(rows_ * zoom_)));
    for (int s = 0; s < scales_; ++s, half *= task_.config.retina.scale_factor)
      cv::rectangle(drawn, centre - half, centre + half, colour, s == 0 ? 2 : 1);
    cv::putText(drawn, std::to_string(t + 1), {4, 14}, cv::FONT_HERSHEY_SIMPLEX, 0.45, kPath, 1,
                cv::LINE_AA);
  }

  // All scales of a glimpse side by side, the finest first.
  void draw_glimpse(cv::Point corner, const float* glimpse) {
    for (int s = 0; s < scales_; ++s) {
      const cv::Mat seen =
          enlarge(glimpse, channels_, patch_pixels_, patch_pixels_, {patch_, patch_});
      seen.copyTo(image_(cv::Rect(corner, seen.size())));
      corner.x += patch_ + kGap / 2;
      glimpse += channels_ * patch_pixels_ * patch_pixels_;
    }
  }

  const Task& task_;
  int channels_, rows_, cols_, zoom_, steps_;
  int scales_, patch_pixels_;  // of what is seen
  int patch_;                  // side of a drawn patch
  cv::Size tile_;
  cv::Mat image_;
};

}  // namespace

void record(const RecordOptions& options) {
  if (options.out.extension() != ".png")
    throw InputError(fmt::format("--out {}: unknown suffix; allowed: .png", options.out.string()));
  if (std::filesystem::exists(options.out))
    throw InputError(
        fmt::format("--out {}: exists already and is left as it is", options.out.string()));
  const Trained trained(options.run_folder);
  const Task& task = trained.task;
  Rollout rollout(task.model, task.environments(task.test_scenes)(options.scenes, 1));
  rollout.run(flat(trained.weights), {.seed = task.config.evaluation.seed,
                                      .temperature = task.model.temperature(1.0),
                                      .readout = Readout::deterministic});

  Sheet sheet(task, options.scenes);
  SceneMaker::Buffer buffer = task.test_scenes.make_buffer();
  for (int b = 0; b < options.scenes; ++b) {
    task.test_scenes.make(b, buffer);
    std::vector<float> canvas(buffer.canvas.size());
    std::ranges::transform(buffer.canvas, canvas.begin(),
                           [](std::uint8_t pixel) { return static_cast<float>(pixel) / 255.0F; });
    sheet.draw_episode(b, canvas, rollout, b);
  }
  if (!cv::imwrite(options.out.string(), sheet.image()))
    throw InputError(fmt::format("--out {}: cannot be written", options.out.string()));
}

}  // namespace saccade
