#include "experiments/evaluation/coverage.h"

#include <algorithm>
#include <cmath>

#include "tests/experiments/tiny_task.h"

namespace saccade {
namespace {

// Half-open ranges of canvas pixels that a look sees, and their weight.
struct Patch {
  int left, right, top, bottom;
  double weight;

  bool contains(int row, int col) const {
    return row >= top && row < bottom && col >= left && col < right;
  }
};

// The finest patch of the retina, as documented in its header.
Patch patch_at(double x, double y, int side, double weight) {
  const auto first = [side](double point) {
    return static_cast<int>(std::floor(point - 0.5 * side + 0.5));
  };
  const int left = first((x + 1.0) / 2.0 * kCols), top = first((y + 1.0) / 2.0 * kRows);
  return {left, left + side, top, top + side, weight};
}

// The seen share of a digit's box in an episode, pixel by pixel.
double seen_share(const Box& box, const std::vector<std::vector<Patch>>& looks) {
  double seen = 0.0;
  for (int row = box.y; row < box.y + box.height; ++row)
    for (int col = box.x; col < box.x + box.width; ++col) {
      double unseen = 1.0;
      for (const std::vector<Patch>& look : looks) {
        double light = 0.0;
        for (const Patch& patch : look) light += patch.contains(row, col) ? patch.weight : 0.0;
        unseen *= 1.0 - std::min(1.0, light);
      }
      seen += 1.0 - unseen;
    }
  return seen / (box.width * box.height);
}

/// Mean coverage of a batch in which look t of episode b has patches_of(t, b).
template <class PatchesOf>
double naive_coverage(const Rollout& rollout, int steps, const PatchesOf& patches_of) {
  double sum = 0.0;
  for (int b = 0; b < rollout.episodes(); ++b) {
    std::vector<std::vector<Patch>> looks;
    for (int t = 0; t < steps; ++t) looks.push_back(patches_of(t, b));
    const SceneFacts& facts = rollout.environment->facts()[b];
    for (int d = 0; d < facts.num_digits; ++d)
      sum += seen_share(facts.boxes[d], looks) / facts.num_digits;
  }
  return sum / rollout.episodes();
}

double naive_entropy(const float* p, int n) {
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum -= p[k] > 0.0F ? p[k] * std::log(static_cast<double>(p[k])) : 0.0;
  return sum;
}

/// Mean over all looks of a batch.
double mean_entropy(const Rollout& rollout) {
  const Tensor<3>& decisions = rollout.look->decisions;
  const ConstMatrix all = matrix(decisions);
  double sum = 0.0;
  for (int r = 0; r < all.rows; ++r) sum += naive_entropy(all.row(r), all.cols) / all.rows;
  return sum;
}

}  // namespace

TEST_CASE("coverage of hard looks is the share of the digit's pixels in the retina's patches") {
  // With these sides no place falls on a half pixel, except the centre, which is exact.
  const std::vector<std::pair<Overrides, int>> cases = {
      {{}, 4},
      {{"attention.glimpse.num_glimpses=7", "scene.num_digits=2"}, 4},
      {{"attention.glimpse.kind=oracle"}, 4},
      {{"attention.glimpse.kind=center"}, 3},
      {{"attention.glimpse.kind=center"}, 4},
      {{"attention.glimpse.kind=center"}, 7},
      {{"attention.glimpse.kind=center"}, 8},
      {{"attention.glimpse.kind=center"}, 10},
      {{"attention.glimpse.kind=scan", "scene.num_digits=2"}, 3},
      {{"attention.glimpse.kind=random", "attention.glimpse.num_glimpses=12"}, 5},
      {with_kind("hard_categorical", {"attention.glimpse.grid=[3, 3]"}), 3}};
  for (auto [overrides, side] : cases) {
    overrides.push_back(fmt::format("retina.patch_size={}", side));
    CAPTURE(overrides.front());
    CAPTURE(side);
    const TinyTask tiny(overrides);
    const auto batch = tiny.play(100);
    const Tensor<3>& at = batch->look->locations;
    const double expected =
        naive_coverage(*batch, tiny.task.model.num_glimpses(), [&, patch = side](int t, int b) {
          return std::vector{patch_at(at(t, b, 0), at(t, b, 1), patch, 1.0)};
        });
    CHECK(expected > 0.0);
    CHECK(expected < 1.0);
    CHECK(tiny.evaluate(100, 2).coverage == doctest::Approx(expected).epsilon(1e-6));
  }
}

TEST_CASE("coverage of soft looks weights the patches of all candidates") {
  for (const std::string sampling : {"expectation", "sample"}) {
    CAPTURE(sampling);
    const TinyTask tiny(with_kind(
        "soft_grid", {"attention.glimpse.grid=[3, 3]", "attention.glimpse.stride=2",
                      "retina.patch_size=3", "scene.num_digits=2", "attention.glimpse.std=0.5"}));
    const PassRequest request{.sampling = sampling == "sample" ? SamplingMode::sample
                                                               : SamplingMode::deterministic};
    const auto batch = tiny.play(100, request);
    const ConstMatrix places = tiny.task.model.looking->places();
    const double expected = naive_coverage(*batch, 3, [&](int t, int b) {
      std::vector<Patch> patches;
      for (int k = 0; k < 9; ++k)
        patches.push_back(patch_at(places(k, 0), places(k, 1), 3, batch->look->actions(t, b, k)));
      return patches;
    });
    CHECK(expected > 0.01);
    const Evaluation found = tiny.evaluate(100, 2, request);
    CHECK(found.coverage == doctest::Approx(expected).epsilon(1e-5));
    CHECK(found.entropy == doctest::Approx(mean_entropy(*batch)).epsilon(1e-5));
  }
}

TEST_CASE("a window is seen as a whole: its exposure is independent of the number of filters") {
  const TinyTask tiny(with_kind("soft_gaussian"));
  const auto batch = tiny.play(100);
  double window = 0.0;
  for (int t = 0; t < 3; ++t) {
    const Gaze gaze = batch->look->gaze(t, 0);
    REQUIRE(gaze.places.rows == 9);
    CHECK(gaze.weights[0] * gaze.exposure == doctest::Approx(1.0));
    window += gaze.half_width;
  }
  CHECK(window > 0.0);
  // A pixel is seen if the cells extend over its centre.
  const double expected = naive_coverage(*batch, 3, [&](int t, int b) {
    const Gaze gaze = batch->look->gaze(t, b);
    std::vector<Patch> patches;
    const auto pixel = [](double at, int side) {
      return static_cast<int>(std::floor((at + 1.0) / 2.0 * side + 0.5));
    };
    for (int k = 0; k < gaze.places.rows; ++k) {
      const double x = gaze.places(k, 0), y = gaze.places(k, 1);
      patches.push_back({pixel(x - gaze.half_width, kCols), pixel(x + gaze.half_width, kCols),
                         pixel(y - gaze.half_height, kRows), pixel(y + gaze.half_height, kRows),
                         1.0});
    }
    return patches;
  });
  CHECK(expected > 0.1);
  CHECK(tiny.evaluate(100, 2).coverage == doctest::Approx(expected).epsilon(0.01));
}

TEST_CASE("evaluation tolerates non-finite weights") {
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    TinyTask tiny(with_kind(kind));
    tiny.weights.fill(NAN);
    const Evaluation found = tiny.evaluate(30, 1);
    CHECK(found.error <= 1.0);
    if (kind != "soft_grid") CHECK(found.coverage <= 1.0);
  }
}

TEST_CASE("entropy is that of the distribution that placed the looks") {
  const TinyTask gaussian({"attention.glimpse.std=0.5"});
  CHECK(gaussian.evaluate(100, 1).entropy == doctest::Approx(gaussian_entropy(0.5F)));

  for (const std::string kind : {"hard_categorical", "soft_grid"})
    for (const std::string first : {"random", "center", "learned"}) {
      CAPTURE(kind);
      CAPTURE(first);
      const TinyTask tiny(with_kind(
          kind, {"attention.glimpse.first=" + first, "attention.glimpse.temperature=0.5"}));
      const auto batch = tiny.play(100);
      const Evaluation found = tiny.evaluate(100, 2);
      CHECK(found.entropy == doctest::Approx(mean_entropy(*batch)).epsilon(1e-5));
      const double first_entropy = naive_entropy(&batch->look->decisions(0, 0, 0), 6);
      CHECK(first_entropy == doctest::Approx(first == "center" ? 0.0 : std::log(6.0)));
      CHECK(found.entropy < std::log(6.0) + 1e-6);  // the uniform distribution's, up to rounding
    }
  CHECK(TinyTask(with_kind("soft_grid"))
            .evaluate(100, 1, {.policy = find_policy("random")})
            .entropy == 0.0);
}

TEST_CASE("the look map is the mean weight of the patches over each pixel") {
  const TinyTask tiny({"attention.glimpse.std=0.8"});
  constexpr int kScenes = 40;
  const PassRequest request{.sampling = SamplingMode::sample, .details = true};
  const Evaluation found = tiny.evaluate(kScenes, 2, request);
  const auto played = tiny.play(kScenes, request);
  const int steps = tiny.task.model.num_glimpses();
  std::vector<double> expected(kRows * kCols, 0.0);
  for (int t = 0; t < steps; ++t)
    for (int b = 0; b < kScenes; ++b) {
      const Patch patch =
          patch_at(played->look->locations(t, b, 0), played->look->locations(t, b, 1),
                   tiny.task.config.retina.patch_size, 1.0 / (steps * kScenes));
      for (int row = 0; row < kRows; ++row)
        for (int col = 0; col < kCols; ++col)
          expected[row * kCols + col] += patch.contains(row, col) ? patch.weight : 0.0;
    }
  CHECK(found.details.map.rows == kRows);
  CHECK(found.details.map.cols == kCols);
  REQUIRE(found.details.look_map.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(found.details.look_map[i] == doctest::Approx(expected[i]).epsilon(1e-4));
  }
  CHECK(*std::ranges::max_element(expected) > 0.0);
}

TEST_CASE("a large canvas is mapped in cells of several pixels") {
  CHECK(map_size({1, 60, 60}).rows == 60);
  CHECK(map_size({1, 61, 100}).rows == 31);
  CHECK(map_size({1, 61, 100}).cols == 50);
}

TEST_CASE("details hold the error after each glimpse and the confusion matrix") {
  const TinyTask tiny;
  constexpr int kScenes = 150;
  const Evaluation found = tiny.evaluate(kScenes, 2, {.details = true});
  const auto first = tiny.play(kScenes);
  CHECK(found.details.error_by_glimpse.size() == 3);
  CHECK(found.details.error_by_glimpse.back() == found.error);
  std::vector<double> expected(9, 0.0);
  for (int b = 0; b < kScenes; ++b)
    ++expected[3 * first->answer->labels(b)[0] + first->answer->predictions(b)[0]];
  CHECK(found.details.confusion == expected);
  CHECK(tiny.evaluate(kScenes, 1).details.confusion.empty());
}

}  // namespace saccade
