#include "experiments/evaluation/share_interval.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "nn/random.h"

namespace saccade {

TEST_CASE("wilson_interval gives the published values") {
  // Newcombe (1998), Statistics in Medicine 17, table I, method 3.
  const struct {
    int errors, count;
    double low, high;
  } table[] = {{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0.0, 0.1611},
               {1, 29, 0.0061, 0.1718},   {29, 29, 0.8830, 1.0},     {50, 100, 0.4038, 0.5962},
               {0, 1, 0.0, 0.7935},       {1, 1, 0.2065, 1.0}};
  for (const auto& [errors, count, expected_low, expected_high] : table) {
    CAPTURE(errors);
    double low = -1.0, high = -1.0;
    wilson_interval(static_cast<double>(errors) / count, count, low, high);
    CHECK(std::abs(low - expected_low) < 6e-5);
    CHECK(std::abs(high - expected_high) < 6e-5);
    CHECK((low == 0.0) == (errors == 0));
    CHECK((high == 1.0) == (errors == count));
  }
}

TEST_CASE("the interval for repeated images is over the images") {
  double low = 0.0, high = 0.0;
  const auto check = [&](const std::vector<float>& errors, const std::vector<Shown>& shown,
                         double trials, int images, double quantile = kNormalQuantile) {
    const ShareInterval found = share_interval(errors, shown);
    wilson_interval(found.share, trials, low, high, quantile);
    CHECK(found.low == doctest::Approx(low));
    CHECK(found.high == doctest::Approx(high));
    CHECK(found.images == images);
  };
  // 26 of 50 images are wrong, each shown 200 times; in order, or with the scenes shuffled.
  std::vector<float> errors;
  std::vector<Shown> shown, once;
  for (int i = 0; i < 10'000; ++i) {
    shown.push_back({i, i % 50});
    errors.push_back(i % 50 < 26 ? 1.0F : 0.0F);
    once.push_back({i, i});
  }
  const double of_images = student_t(49);
  check(errors, shown, 49, 50, of_images);  // 50 with the variance of a sample
  CHECK(low == doctest::Approx(0.381).epsilon(1e-3));
  CHECK(high == doctest::Approx(0.656).epsilon(1e-3));
  check(errors, {}, 10'000, 10'000);
  check(errors, once, 10'000, 10'000);
  // Errors independent of the image: as many trials as scenes.
  for (int i = 0; i < 10'000; ++i) errors[i] = i / 50 % 2 == 0 ? 1.0F : 0.0F;
  check(errors, shown, 10'000, 50, of_images);
  // Without errors the correlation within an image is unknown.
  check(std::vector<float>(10'000, 0.0F), shown, 50, 50, of_images);
}

TEST_CASE("the interval for few images covers the share of all images") {
  // Images of different difficulty: each is wrong with a probability of its own, the third power of
  // a uniform number (mean 1/4), in 50 scenes each.
  constexpr int kTrials = 1000, kScenesOfImage = 50;
  for (const int images : {2, 3, 6, 12, 30}) {
    CAPTURE(images);
    std::vector<Shown> shown;
    for (int scene = 0; scene < images * kScenesOfImage; ++scene)
      shown.push_back({scene, scene % images});
    const SceneGroups groups(static_cast<int>(shown.size()), shown);
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      RandomStream stream(1, Purpose::bootstrap, images, trial);
      std::vector<float> chances(images), errors;
      for (float& chance : chances) chance = std::pow(stream.uniform(), 3.0F);
      for (const Shown& one : shown)
        errors.push_back(stream.uniform() < chances[one.image] ? 1.0F : 0.0F);
      const ShareInterval found = groups.share(errors);
      covered += found.low <= 0.25 && 0.25 <= found.high;
    }
    CHECK(covered > 0.9 * kTrials);  // by the normal quantile 0.73 of 3 images, 0.84 of 6
  }
}

TEST_CASE("a single image says nothing of others") {
  const std::vector<float> errors = {0.0F, 1.0F, 0.0F, 0.0F};
  const std::vector<Shown> shown = {{0, 7}, {1, 7}, {2, 7}, {3, 7}};
  const ShareInterval share = share_interval(errors, shown);
  CHECK(share.share == 0.25);
  CHECK(share.images == 1);
  CHECK(share.low == 0.0);
  CHECK(share.high == 1.0);
  const MeanInterval looks = SceneGroups(4, shown).mean(std::vector{2.0F, 5.0F, 3.0F, 2.0F});
  CHECK(looks.mean == 3.0);
  CHECK(looks.low == 2.0);
  CHECK(looks.high == 5.0);
}

TEST_CASE("the interval for scenes with several images takes all of them into account") {
  // Scenes with two of 40 images, no pair repeated: wrong if the second one is among the first 20.
  // The first image does not matter.
  constexpr int kImages = 40;
  std::vector<float> errors;
  std::vector<Shown> firsts, both;
  for (int first = 0; first < kImages; ++first)
    for (int second = 0; second < kImages; ++second) {
      if (first == second) continue;
      const int scene = static_cast<int>(errors.size());
      errors.push_back(second < kImages / 2 ? 1.0F : 0.0F);
      firsts.push_back({scene, first});
      both.insert(both.end(), {{scene, second}, {scene, first}, {scene, first}});
    }
  const ShareInterval of_first = share_interval(errors, firsts);
  const ShareInterval of_both = share_interval(errors, both);
  CHECK(of_first.share == doctest::Approx(0.5));
  CHECK(of_both.share == doctest::Approx(0.5));
  CHECK(of_both.images == kImages);
  double low = 0.0, high = 0.0;
  wilson_interval(0.5, kImages, low, high, student_t(kImages - 1));
  CHECK(of_both.low == doctest::Approx(low).epsilon(0.02));
  CHECK(of_both.high == doctest::Approx(high).epsilon(0.02));
  CHECK(of_first.high - of_first.low < 0.5 * (high - low));

  // Repeating the same scenes adds no trials.
  std::vector<float> thrice;
  std::vector<Shown> shown;
  const int scenes = static_cast<int>(errors.size());
  for (int pass = 0; pass < 3; ++pass) {
    thrice.insert(thrice.end(), errors.begin(), errors.end());
    for (const auto& [scene, image] : both) shown.push_back({pass * scenes + scene, image});
  }
  const ShareInterval repeated = share_interval(thrice, shown);
  CHECK(repeated.low == doctest::Approx(of_both.low));
  CHECK(repeated.high == doctest::Approx(of_both.high));
}

}  // namespace saccade
