#include "env/digits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <xtensor/xview.hpp>

#include "nn/parallel.h"

namespace saccade {
namespace {

/// Share of test digits whose nearest class mean is that of their own class.
double nearest_mean_accuracy(const Dataset& train, const Dataset& test) {
  const int pixels = train.rows() * train.cols();
  std::vector<double> mean(static_cast<std::size_t>(10 * pixels)), count(10);
  for (int i = 0; i < train.size(); ++i) {
    ++count[train.labels(i)];
    for (int p = 0; p < pixels; ++p)
      mean[train.labels(i) * pixels + p] += train.images.data()[i * pixels + p];
  }
  int right = 0;
  for (int i = 0; i < test.size(); ++i) {
    int nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (int label = 0; label < 10; ++label) {
      double distance = 0;
      for (int p = 0; p < pixels; ++p) {
        const double d =
            test.images.data()[i * pixels + p] - mean[label * pixels + p] / count[label];
        distance += d * d;
      }
      if (distance < least) {
        least = distance;
        nearest = label;
      }
    }
    right += nearest == test.labels(i) ? 1 : 0;
  }
  return static_cast<double>(right) / test.size();
}

TEST_CASE("synthetic digits are balanced, visible, centred and of ten classes") {
  const RawDatasets digits = draw_synthetic(2000, 1000, 7);
  CHECK(digits.train.images.shape() == std::array<std::size_t, 4>{2000, 28, 28, 1});
  CHECK(digits.class_names.size() == 10);
  const auto& labels = digits.train.labels;
  for (int label = 0; label < 10; ++label)
    CHECK(std::count(labels.begin(), labels.end(), label) == 200);
  CHECK_FALSE(std::is_sorted(labels.begin(), labels.end()));

  for (int i = 0; i < digits.test.size(); ++i) {
    double ink = 0, row_sum = 0, col_sum = 0, brightest = 0;
    for (int row = 0; row < 28; ++row)
      for (int col = 0; col < 28; ++col) {
        const double pixel = digits.test.images(i, row, col, 0);
        ink += pixel;
        row_sum += row * pixel;
        col_sum += col * pixel;
        brightest = std::max(brightest, pixel);
      }
    CAPTURE(i);
    CHECK(brightest > 100);
    CHECK(ink / 255 > 12);  // pixels
    CHECK(ink / 255 < 300);
    CHECK(std::abs(row_sum / ink - 13.5) < 1.6);
    CHECK(std::abs(col_sum / ink - 13.5) < 1.6);
  }
  const double accuracy = nearest_mean_accuracy(digits.train, digits.test);
  CHECK(accuracy > 0.70);
  CHECK(accuracy < 0.93);
}

TEST_CASE("synthetic digits depend only on the seed") {
  const RawDatasets digits = draw_synthetic(600, 300, 3);
  const RawDatasets again = draw_synthetic(600, 300, 3);
  CHECK(again.train.images == digits.train.images);
  CHECK(again.train.labels == digits.train.labels);
  CHECK(again.test.images == digits.test.images);

  const RawDatasets other = draw_synthetic(600, 300, 4);
  CHECK(other.train.images != digits.train.images);
  CHECK(other.train.labels != digits.train.labels);
  CHECK(xt::view(digits.train.labels, xt::range(0, 300)) != digits.test.labels);

  const Workers one(1);  // limits the process to one thread
  const RawDatasets serial = draw_synthetic(600, 300, 3);
  CHECK(serial.train.images == digits.train.images);
  CHECK(serial.test.labels == digits.test.labels);
}

TEST_CASE("data.source=synthetic needs no files") {
  const Digits digits = load_digits({.source = "synthetic"});
  CHECK(digits.train.size() == 20000);
  CHECK(digits.valid.size() == 4000);
  CHECK(digits.test.size() == 10000);
  CHECK(digits.checksums.at("test").size() == 8);
}

}  // namespace
}  // namespace saccade
