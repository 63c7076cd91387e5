#include "experiments/record.h"

#include <doctest/doctest.h>

#include <opencv2/imgcodecs.hpp>

#include "experiments/eval.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

bool has_colour(const cv::Mat& image, const cv::Vec3b& colour) {
  for (int y = 0; y < image.rows; ++y)
    for (int x = 0; x < image.cols; ++x)
      if (image.at<cv::Vec3b>(y, x) == colour) return true;
  return false;
}

}  // namespace

TEST_CASE("a contact sheet has a row for each scene and a tile for each step") {
  const TinyExperiment tiny;
  const auto folder = tiny.train("out");
  const auto sheet_of = [&](const std::string& name, int scenes) {
    record({.run_folder = folder, .out = tiny.path / name, .scenes = scenes});
    return cv::imread((tiny.path / name).string());
  };
  const cv::Mat one = sheet_of("one.png", 1), three = sheet_of("three.png", 3);
  REQUIRE(!one.empty());
  // Canvas 13 x 15 at 12 pixels each, three steps, gaps of 8.
  CHECK(one.cols == 3 * (15 * 12 + 8) + 8);
  CHECK(three.cols == one.cols);
  CHECK(three.rows - 8 == 3 * (one.rows - 8));
  CHECK(one.at<cv::Vec3b>(2, 2) == cv::Vec3b(255, 255, 255));
  CHECK(has_colour(one, {0, 215, 255}));  // the squares of a look
  CHECK((has_colour(three, {80, 175, 76}) || has_colour(three, {54, 67, 244})));  // right or wrong
}

TEST_CASE("a picture that cannot be made is refused and nothing is overwritten") {
  const TinyExperiment tiny;
  const auto folder = tiny.train("out");
  const auto fault = [&](const std::filesystem::path& run, const std::string& out) {
    return message_of<InputError>([&] { record({.run_folder = run, .out = tiny.path / out}); });
  };
  put_bytes(tiny.path / "mine.png", "mine");
  CHECK(contains(fault(folder, "mine.png"), "exists already"));
  CHECK(bytes_of(tiny.path / "mine.png") == "mine");
  CHECK(contains(fault(folder, "sheet.bmp"), ".png"));
  CHECK(contains(fault(tiny.path / "none", "sheet.png"), "no run folder"));
  CHECK(contains(fault(folder, "none/sheet.png"), "cannot be written"));
}

}  // namespace saccade
