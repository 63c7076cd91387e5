#include "env/area_resize.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <numeric>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "nn/random.h"

namespace saccade {
namespace {

std::vector<float> normals(int count, std::uint32_t seed) {
  RandomStream stream(seed, Purpose::scene, 0, 0);
  std::vector<float> values(count);
  for (float& value : values) value = stream.normal();
  return values;
}

double product(const std::vector<float>& a, const std::vector<float>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEST_CASE("area resize averages areas, with fractional weights for partial pixels") {
  std::vector<float> small(2);
  AreaResize(1, 2, 4, 1, 2).forward(small, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(small == std::vector<float>{3.5F, 5.5F});

  // Three columns to two: each new pixel covers one and a half.
  AreaResize(1, 1, 3, 1, 2).forward(small, std::vector<float>{3, 6, 9});
  CHECK(small[0] == doctest::Approx((3 + 0.5 * 6) / 1.5));
  CHECK(small[1] == doctest::Approx((0.5 * 6 + 9) / 1.5));

  // Two channels, shrunk only along rows.
  AreaResize(2, 2, 1, 1, 1).forward(small, std::vector<float>{1, 3, 10, 30});
  CHECK(small == std::vector<float>{2.0F, 20.0F});
}

TEST_CASE("area resize interpolates between the centres of pixels along an axis that grows") {
  std::vector<float> large(4);
  AreaResize(1, 1, 2, 1, 4).forward(large, std::vector<float>{1, 3});
  CHECK(large == std::vector<float>{1.0F, 1.5F, 2.5F, 3.0F});
  // Grows along columns, shrinks along rows.
  AreaResize(1, 2, 2, 1, 4).forward(large, std::vector<float>{0, 2, 2, 4});
  CHECK(large == std::vector<float>{1.0F, 1.5F, 2.5F, 3.0F});
}

TEST_CASE("byte resize is as OpenCV's, to one step of brightness") {
  constexpr int kRows = 17, kCols = 23;
  for (const int channels : {1, 3})
    for (const auto& [rows, cols] : {std::pair{5, 7}, {17, 11}, {40, 50}, {17, 23}}) {
      CAPTURE(channels);
      CAPTURE(rows);
      cv::Mat image(kRows, kCols, CV_8UC(channels)), expected;
      cv::theRNG().state = 1;
      cv::randu(image, 0, 256);
      const bool shrinks = rows <= kRows;
      cv::resize(image, expected, {cols, rows}, 0, 0, shrinks ? cv::INTER_AREA : cv::INTER_LINEAR);
      ByteResize resize(channels, kRows, kCols, rows, cols);
      const auto resized = resize.forward({image.data, image.total() * channels});
      REQUIRE(resized.size() == expected.total() * channels);
      for (std::size_t i = 0; i < resized.size(); ++i)
        CHECK(std::abs(resized[i] - expected.data[i]) <= 1);
    }
}

TEST_CASE("area resize keeps the mean of every channel") {
  constexpr int kChannels = 3, kRows = 13, kCols = 17;
  const std::vector<float> canvas = normals(kChannels * kRows * kCols, 1);
  for (const auto& [rows, cols] : {std::pair{1, 1}, {5, 4}, {13, 6}, {7, 17}, {12, 16}}) {
    CAPTURE(rows);
    CAPTURE(cols);
    std::vector<float> small(kChannels * rows * cols);
    AreaResize(kChannels, kRows, kCols, rows, cols).forward(small, canvas);
    for (int c = 0; c < kChannels; ++c) {
      const auto mean = [c](const std::vector<float>& all, int n) {
        return std::accumulate(all.begin() + c * n, all.begin() + (c + 1) * n, 0.0) / n;
      };
      CHECK(mean(small, rows * cols) == doctest::Approx(mean(canvas, kRows * kCols)).epsilon(1e-4));
    }
  }
}

TEST_CASE("area resize to the same size copies the canvas bit for bit") {
  const std::vector<float> canvas = normals(2 * 5 * 7, 1);
  std::vector<float> same(canvas.size());
  AreaResize(2, 5, 7, 5, 7).forward(same, canvas);
  CHECK(same == canvas);
  std::vector<float> back(canvas.size(), 9.0F);
  AreaResize(2, 5, 7, 5, 7).backward(back, canvas);
  CHECK(back == canvas);
}

TEST_CASE("area resize: a long image takes memory for its sides, not for their product") {
  // A dense matrix of shares would take 320 GB.
  constexpr int kFrom = 4'000'000, kTo = 20'000, kEach = kFrom / kTo;
  std::vector<float> canvas(kFrom), small(kTo), dcanvas(kFrom);
  for (int k = 0; k < kFrom; ++k) canvas[k] = static_cast<float>(k / kEach);
  AreaResize resize(1, 1, kFrom, 1, kTo);
  resize.forward(small, canvas);
  CHECK(small[0] == 0.0F);
  CHECK(small[kTo - 1] == doctest::Approx(kTo - 1));
  resize.backward(dcanvas, std::vector<float>(kTo, 1.0F));
  CHECK(dcanvas[0] == doctest::Approx(1.0 / kEach));
  CHECK(dcanvas[kFrom - 1] == doctest::Approx(1.0 / kEach));
  // So would a canvas that is resized along its rows only.
  CHECK_NOTHROW(AreaResize(1, 1, kFrom, kTo, 1));
}

TEST_CASE("area resize: the gradient is the transpose: <resize(x), y> = <x, backward(y)>") {
  constexpr int kChannels = 2, kRows = 9, kCols = 11;
  for (const auto& [rows, cols] : {std::pair{1, 1}, {4, 5}, {9, 3}, {2, 11}, {9, 11}}) {
    CAPTURE(rows);
    CAPTURE(cols);
    AreaResize resize(kChannels, kRows, kCols, rows, cols);
    const std::vector<float> x = normals(kChannels * kRows * kCols, 1);
    const std::vector<float> y = normals(kChannels * rows * cols, 2);
    std::vector<float> small(y.size()), dx(x.size(), 9.0F);  // 9: not written
    resize.forward(small, x);
    resize.backward(dx, y);
    CHECK(product(small, y) == doctest::Approx(product(x, dx)).epsilon(1e-4));
  }
}

}  // namespace
}  // namespace saccade
