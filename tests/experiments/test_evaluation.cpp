#include "experiments/evaluation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attention/policy.h"
#include "experiments/report.h"
#include "experiments/task.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

using Overrides = std::vector<std::string>;

constexpr int kRows = 13, kCols = 15;  // of the tiny experiment's canvas

// The tiny experiment's task with fresh weights, which look and answer almost at random.
struct TinyTask {
  explicit TinyTask(const Overrides& overrides = {})
      : task(read_config(folder.yaml, overrides)), weights(zeros<1>(task.model.layout().size())) {
    task.model.layout().initialize(flat(weights), 5);
    for (float& w : weights) w *= 3.0F;  // so that the locator looks about
  }

  Evaluation evaluate(int scenes, int threads, const PassRequest& request = {}) const {
    Workers workers(threads);
    Evaluator evaluator(task.model, task.environments(task.test_scenes), scenes, kSeed, workers);
    return evaluator.run(flat(weights), request);
  }

  /// The test scenes in one batch.
  std::unique_ptr<Rollout> play(int scenes, const PassRequest& request = {}, int pass = 0) const {
    auto rollout =
        std::make_unique<Rollout>(task.model, task.environments(task.test_scenes)(scenes, 1));
    rollout->run(flat(weights), {.seed = kSeed,
                                 .update = static_cast<std::uint32_t>(pass),
                                 .std = task.model.location_std(1.0, flat(weights)),
                                 .temperature = task.model.temperature(1.0),
                                 .readout = request.readout,
                                 .policy = request.policy});
    return rollout;
  }

  static constexpr std::uint64_t kSeed = 777;
  TinyExperiment folder;
  Task task;
  Tensor<1> weights;
};

void check_equal(const Evaluation& a, const Evaluation& b) {
  CHECK(a.scenes == b.scenes);
  CHECK(a.error == b.error);
  CHECK(a.error_low == b.error_low);
  CHECK(a.error_high == b.error_high);
  CHECK(a.on_target == b.on_target);
  CHECK(a.on_target_by_glimpse == b.on_target_by_glimpse);
  CHECK(a.border == b.border);
  CHECK(a.distance == b.distance);
  CHECK(a.coverage == b.coverage);
  CHECK(a.entropy == b.entropy);
}

// Settings that the tiny canvas has room for, for every kind of glimpse.
Overrides with_kind(const std::string& kind, const Overrides& more = {}) {
  Overrides all = {"attention.glimpse.kind=" + kind, "attention.glimpse.grid=[2, 3]",
                   "attention.glimpse.stride=4", "attention.glimpse.filters=3"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}
Overrides with_model(const std::string& kind) {
  return {"model.kind=" + kind, "model.kernel_size=3", "model.channels=[2, 3]",
          "model.canvas_hidden=5"};
}

// Half-open ranges of canvas pixels that a look sees, and the share of its light that they get.
struct Patch {
  int left, right, top, bottom;
  double weight;

  bool contains(int row, int col) const {
    return row >= top && row < bottom && col >= left && col < right;
  }
};

// The finest patch of the retina, as its header has it.
Patch patch_at(double x, double y, int side, double weight) {
  const auto first = [side](double point) {
    return static_cast<int>(std::floor(point - 0.5 * side + 0.5));
  };
  const int left = first((x + 1.0) / 2.0 * kCols), top = first((y + 1.0) / 2.0 * kRows);
  return {left, left + side, top, top + side, weight};
}

// The share of a digit's box that an episode has seen, pixel by pixel.
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

/// Mean coverage of a batch whose look t of episode b are patches_of(t, b).
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

/// The mean over all looks of a batch.
double mean_entropy(const Rollout& rollout) {
  const Tensor<3>& decisions = rollout.look->decisions;
  const ConstMatrix all = matrix(decisions);
  double sum = 0.0;
  for (int r = 0; r < all.rows; ++r) sum += naive_entropy(all.row(r), all.cols) / all.rows;
  return sum;
}

// What the looks of some rollouts should be counted as, from the digits' boxes in pixels.
struct Looks {
  double on_target = 0.0, border = 0.0, distance = 0.0;

  void add(const Rollout& rollout, int rows, int cols) {
    const int steps = static_cast<int>(rollout.look->locations.shape()[0]);
    const double looks = static_cast<double>(steps) * rollout.episodes();
    for (int t = 0; t < steps; ++t)
      for (int b = 0; b < rollout.episodes(); ++b) {
        const SceneFacts& facts = rollout.environment->facts()[b];
        const double x = rollout.look->locations(t, b, 0), y = rollout.look->locations(t, b, 1);
        const double column = (x + 1) / 2 * cols, row = (y + 1) / 2 * rows;
        double nearest = 1e9;
        bool inside = false;
        for (const Box& box : std::span(facts.boxes).first(facts.num_digits)) {
          inside |= column >= box.x && column <= box.x + box.width && row >= box.y &&
                    row <= box.y + box.height;
          nearest = std::min(nearest, std::hypot((column - box.x - 0.5 * box.width) / (0.5 * cols),
                                                 (row - box.y - 0.5 * box.height) / (0.5 * rows)));
        }
        on_target += inside / looks;
        border += (std::abs(x) >= 0.98F || std::abs(y) >= 0.98F) / looks;
        distance += nearest / looks;
      }
  }
};

void check_looks(const Evaluation& found, const Looks& expected) {
  CHECK(found.on_target == doctest::Approx(expected.on_target));
  CHECK(found.border == doctest::Approx(expected.border));
  CHECK(found.distance == doctest::Approx(expected.distance));
}

}  // namespace

TEST_CASE("wilson_interval gives the published values") {
  // Newcombe (1998), Statistics in Medicine 17, table I, method 3.
  const struct {
    int errors, count;
    double low, high;
  } table[] = {{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0.0, 0.1611},
               {1, 29, 0.0061, 0.1718},   {29, 29, 0.8830, 1.0},     {50, 100, 0.4038, 0.5962}};
  for (const auto& [errors, count, expected_low, expected_high] : table) {
    CAPTURE(errors);
    double low = -1.0, high = -1.0;
    wilson_interval(static_cast<double>(errors) / count, count, low, high);
    CHECK(std::abs(low - expected_low) < 6e-5);
    CHECK(std::abs(high - expected_high) < 6e-5);
  }
  double low = -1.0, high = -1.0;
  wilson_interval(0.0, 1, low, high);
  CHECK(low == 0.0);
  CHECK(high == doctest::Approx(0.7935).epsilon(1e-4));
  wilson_interval(1.0, 1, low, high);
  CHECK(low == doctest::Approx(0.2065).epsilon(1e-4));
  CHECK(high == 1.0);
}

TEST_CASE("an evaluation does not depend on the number of workers, and repeats") {
  const TinyTask tiny;
  for (const bool sampled : {false, true})
    for (const int scenes : {1, 99, 100, 101, 250}) {
      CAPTURE(sampled);
      CAPTURE(scenes);
      const PassRequest request{.readout = sampled ? Readout::sample : Readout::deterministic,
                                .passes = sampled ? 2 : 1};
      const Evaluation one = tiny.evaluate(scenes, 1, request);
      CHECK(one.scenes == scenes);
      for (const int threads : {1, 2, 3, 8})
        check_equal(tiny.evaluate(scenes, threads, request), one);
    }
}

TEST_CASE("an evaluator forgets the pass before") {
  const TinyTask tiny;
  Workers workers(2);
  Evaluator evaluator(tiny.task.model, tiny.task.environments(tiny.task.test_scenes), 150,
                      TinyTask::kSeed, workers);
  const Evaluation first = evaluator.run(flat(tiny.weights), {});
  const Evaluation sampled =
      evaluator.run(flat(tiny.weights), {.readout = Readout::sample, .passes = 3});
  CHECK(sampled.distance != first.distance);
  check_equal(evaluator.run(flat(tiny.weights), {}), first);
  check_equal(tiny.evaluate(150, 1), first);
}

TEST_CASE("the deterministic pass counts what one batch of all scenes does") {
  for (const Overrides& overrides :
       {Overrides{}, Overrides{"scene.num_digits=2"}, Overrides{"attention.glimpse.kind=scan"},
        Overrides{"scene.num_digits=2", "scene.label=pair", "attention.glimpse.kind=center"}}) {
    CAPTURE(overrides.size());
    const TinyTask tiny(overrides);
    const Evaluation found = tiny.evaluate(250, 2);
    const auto batch = tiny.play(250);
    int errors = 0;
    for (int b = 0; b < 250; ++b) errors += batch->classes[b] != batch->labels[b];
    CHECK(found.error == doctest::Approx(errors / 250.0));
    CHECK(found.error > 0.0);
    double low = 0.0, high = 0.0;
    wilson_interval(errors / 250.0, 250, low, high);
    CHECK(found.error_low == doctest::Approx(low));
    CHECK(found.error_high == doctest::Approx(high));
    Looks looks;
    looks.add(*batch, kRows, kCols);
    check_looks(found, looks);
  }
}

TEST_CASE("passes average the class probabilities, and the shares of their looks") {
  const TinyTask tiny({"attention.glimpse.std=0.6"});
  constexpr int kScenes = 130, kPasses = 5;
  const PassRequest request{.readout = Readout::sample, .passes = kPasses};
  const int classes = tiny.task.model.num_classes();
  std::vector<double> probability(kScenes * classes);
  std::vector<int> labels;
  double border = 0.0, distance = 0.0;
  int single_errors = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto batch = tiny.play(kScenes, request, pass);
    labels = batch->labels;
    const ConstMatrix p = step(batch->probabilities, 2);
    for (int b = 0; b < kScenes; ++b)
      for (int c = 0; c < classes; ++c) probability[b * classes + c] += p(b, c);
    for (int b = 0; b < kScenes; ++b) single_errors += batch->classes[b] != labels[b];
    Looks looks;
    looks.add(*batch, kRows, kCols);
    border += looks.border / kPasses;
    distance += looks.distance / kPasses;
  }
  int errors = 0;
  for (int b = 0; b < kScenes; ++b) {
    const auto first = probability.begin() + b * classes;
    errors += std::max_element(first, first + classes) - first != labels[b];
  }
  const Evaluation found = tiny.evaluate(kScenes, 2, request);
  CHECK(found.error == doctest::Approx(static_cast<double>(errors) / kScenes));
  CHECK(found.border == doctest::Approx(border));
  CHECK(found.distance == doctest::Approx(distance));
  REQUIRE(errors * kPasses != single_errors);  // it is not the mean of the passes' errors
}

TEST_CASE("no kind of glimpse or model depends on the number of workers") {
  std::vector<Overrides> models = {with_model("mlp"), with_model("cnn")};
  for (const std::string& kind : glimpse_kinds()) models.push_back(with_kind(kind));
  models.push_back(with_kind("soft_grid", {"attention.glimpse.expect=pixels"}));
  models.push_back(with_kind("soft_grid", {"attention.glimpse.addressing=location"}));
  models.push_back(with_kind("hard_categorical", {"attention.glimpse.addressing=content"}));
  for (const Overrides& overrides : models) {
    CAPTURE(overrides.front());
    const TinyTask tiny(overrides);
    for (const PassRequest& request :
         {PassRequest{}, PassRequest{.readout = Readout::sample, .passes = 2},
          PassRequest{.readout = Readout::argmax}, PassRequest{.policy = find_policy("random")},
          PassRequest{.shuffled = true}}) {
      const Evaluation one = tiny.evaluate(230, 1, request);
      CHECK(one.error > 0.0);
      CHECK(one.error < 1.0);
      CHECK(std::isfinite(one.entropy));
      CHECK(one.coverage >= 0.0);
      CHECK(one.coverage <= 1.0);
      check_equal(tiny.evaluate(230, 3, request), one);
    }
  }
}

TEST_CASE("a model that sees the canvas looks nowhere") {
  for (const std::string kind : {"mlp", "cnn"}) {
    const Evaluation found = TinyTask(with_model(kind)).evaluate(120, 2);
    CHECK(found.on_target == 0.0);
    CHECK(found.on_target_by_glimpse == std::vector<double>(1));
    CHECK(found.border == 0.0);
    CHECK(found.distance == 0.0);
    CHECK(found.coverage == 0.0);
    CHECK(found.entropy == 0.0);
  }
}

TEST_CASE("coverage of hard looks is the share of the digit's pixels in the retina's patches") {
  // Places fall on no half pixel with these sides, but for the centre, which is exact.
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

TEST_CASE("coverage of soft looks weighs the patches of all candidates") {
  for (const std::string readout : {"expectation", "sample"}) {
    CAPTURE(readout);
    const TinyTask tiny(with_kind(
        "soft_grid", {"attention.glimpse.grid=[3, 3]", "attention.glimpse.stride=2",
                      "retina.patch_size=3", "scene.num_digits=2", "attention.glimpse.std=0.5"}));
    const PassRequest request{.readout =
                                  readout == "sample" ? Readout::sample : Readout::deterministic};
    const auto batch = tiny.play(100, request);
    const Tensor<2>& places = tiny.task.model.places;
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

TEST_CASE("a window is seen as a whole: its exposure makes up for its many filters") {
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
  // A pixel is seen where the cells reach over its centre.
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

TEST_CASE("weights that are no numbers are evaluated as well") {
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    TinyTask tiny(with_kind(kind));
    tiny.weights.fill(NAN);
    const Evaluation found = tiny.evaluate(30, 1);
    CHECK(found.error <= 1.0);
    if (kind != "soft_grid") CHECK(found.coverage <= 1.0);
  }
}

TEST_CASE("entropy is that of what placed the looks") {
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
      CHECK(found.entropy < std::log(6.0));
    }
  CHECK(TinyTask(with_kind("soft_grid"))
            .evaluate(100, 1, {.policy = find_policy("random")})
            .entropy == 0.0);
}

TEST_CASE("soft attention can be read as its most probable candidate, and sampled") {
  const TinyTask tiny(
      with_kind("soft_grid", {"attention.glimpse.first=learned",
                              "attention.glimpse.temperature=0.3", "retina.patch_size=3"}));
  constexpr int kScenes = 100, kCandidates = 6;
  std::vector<std::vector<float>> seen;
  for (const Readout readout :
       {Readout::training, Readout::deterministic, Readout::argmax, Readout::sample}) {
    const PassRequest request{.readout = readout};
    const auto batch = tiny.play(kScenes, request);
    const ConstMatrix p = matrix(batch->look->decisions), w = matrix(batch->look->actions);
    int most_probable = 0;
    for (int r = 0; r < p.rows; ++r) {
      const float* row = w.row(r);
      if (readout == Readout::training || readout == Readout::deterministic) {
        CHECK(std::equal(row, row + kCandidates, p.row(r)));
        continue;
      }
      CHECK(std::count(row, row + kCandidates, 1.0F) == 1);
      CHECK(std::count(row, row + kCandidates, 0.0F) == kCandidates - 1);
      const auto choice = std::max_element(row, row + kCandidates) - row;
      most_probable +=
          p(r, static_cast<int>(choice)) == *std::max_element(p.row(r), p.row(r) + kCandidates);
    }
    if (readout == Readout::argmax) CHECK(most_probable == p.rows);
    if (readout == Readout::sample) CHECK(most_probable < p.rows);
    int errors = 0;
    for (int b = 0; b < kScenes; ++b) errors += batch->classes[b] != batch->labels[b];
    const Evaluation found = tiny.evaluate(kScenes, 2, request);
    CHECK(found.error == doctest::Approx(static_cast<double>(errors) / kScenes));
    Looks looks;  // of a sharp look, the location is its candidate
    looks.add(*batch, kRows, kCols);
    if (readout == Readout::argmax || readout == Readout::sample) check_looks(found, looks);
    seen.emplace_back(w.data, w.data + static_cast<std::ptrdiff_t>(w.rows) * w.cols);
  }
  CHECK(seen[0] == seen[1]);
  CHECK(seen[1] != seen[2]);
  CHECK(seen[2] != seen[3]);
}

TEST_CASE("shuffled looks are those of the episode before") {
  for (const std::string kind : {"center", "scan"}) {
    const TinyTask tiny({"attention.glimpse.kind=" + kind});
    check_equal(tiny.evaluate(150, 2, {.shuffled = true}), tiny.evaluate(150, 2));
  }
  const TinyTask oracle({"attention.glimpse.kind=oracle"});
  const Evaluation seeing = oracle.evaluate(400, 2);
  const Evaluation shuffled = oracle.evaluate(400, 2, {.shuffled = true});
  CHECK(seeing.distance == 0.0);
  CHECK(shuffled.distance > 0.3);
  CHECK(shuffled.on_target < 0.6);
  CHECK(shuffled.coverage < 0.8 * seeing.coverage);
  CHECK(shuffled.error != seeing.error);

  constexpr int kScenes = 100;  // one chunk
  for (const std::string kind : {"hard_gaussian", "hard_categorical", "soft_grid"}) {
    CAPTURE(kind);
    const TinyTask tiny(with_kind(kind));
    const auto batch = tiny.play(kScenes);
    const Tensor<3> own = batch->look->actions;
    Tensor<3> others = own;
    for (std::size_t t = 0; t < own.shape()[0]; ++t)
      for (int b = 0; b < kScenes; ++b)
        for (std::size_t a = 0; a < own.shape()[2]; ++a)
          others(t, (b + 1) % kScenes, a) = own(t, b, a);
    batch->run(flat(tiny.weights), {.seed = TinyTask::kSeed, .replay = &others});
    CHECK(batch->look->actions == others);
    int errors = 0;
    for (int b = 0; b < kScenes; ++b) errors += batch->classes[b] != batch->labels[b];
    const Evaluation found = tiny.evaluate(kScenes, 2, {.shuffled = true});
    CHECK(found.error == doctest::Approx(static_cast<double>(errors) / kScenes));
    if (kind == "soft_grid") continue;
    Looks looks;
    looks.add(*batch, kRows, kCols);
    check_looks(found, looks);
  }
}

TEST_CASE("a grid that does not fit is refused when the task is made") {
  const TinyExperiment tiny;
  const auto fault = [&](const Overrides& overrides) {
    return message_of<InputError>([&] { Task(read_config(tiny.yaml, overrides)); });
  };
  for (const std::string kind : {"hard_categorical", "soft_grid"}) {
    const std::string kind_is = "attention.glimpse.kind=" + kind;
    CHECK(fault({kind_is}) ==
          "attention.glimpse.grid: [9, 9] candidates 6 pixels apart (attention.glimpse.stride) "
          "span 48 pixels; allowed: at most the canvas (13 x 15)");
    CHECK(fault({kind_is, "attention.glimpse.tiles=[1, 2]"}) ==
          "attention.glimpse.tiles: [1, 2] do not part a canvas of 13 x 15 pixels; allowed: "
          "divisors of its sides");
    CHECK(fault({kind_is, "attention.glimpse.tiles=[13, 5]"}) == "nothing thrown");
  }
  CHECK(fault({"attention.glimpse.kind=scan"}) == "nothing thrown");  // has no grid
}

TEST_CASE("the controls look where they should") {
  const Evaluation oracle = TinyTask({"attention.glimpse.kind=oracle"}).evaluate(150, 2);
  CHECK(oracle.on_target == 1.0);
  CHECK(oracle.border == 0.0);
  CHECK(oracle.distance == 0.0);

  // The corner of a 6x6 digit on 13x15 is uniform over rows 0-7 and columns 0-9; rows 1-6 and
  // columns 2-7 bring it over the centre.
  const Evaluation center = TinyTask({"attention.glimpse.kind=center"}).evaluate(2000, 2);
  CHECK(center.on_target == doctest::Approx(36.0 / 80.0).epsilon(0.1));
  CHECK(center.border == 0.0);
  double expected = 0.0;  // the mean over all corners
  for (int row = 0; row <= 7; ++row)
    for (int column = 0; column <= 9; ++column)
      expected += std::hypot((row - 3.5) / 6.5, (column - 4.5) / 7.5) / 80.0;
  CHECK(center.distance == doctest::Approx(expected).epsilon(0.03));

  const TinyTask tiny;
  const Evaluation random = tiny.evaluate(2000, 2, {.policy = find_policy("random")});
  CHECK(random.border == doctest::Approx(1.0 - 0.98 * 0.98).epsilon(0.2));
  check_equal(random, tiny.evaluate(2000, 1, {.policy = find_policy("random")}));
}

TEST_CASE("the border is 0.98 and beyond; looks are told apart by glimpse") {
  const Policy policy = [](Matrix samples, const LookRequest& request) {
    for (int b = 0; b < samples.rows; ++b) {
      samples(b, 0) = request.t == 0 ? request.target(b, 0) : request.t == 1 ? 0.979F : -0.98F;
      samples(b, 1) = request.t == 0 ? request.target(b, 1) : -5.0F * (request.t == 2);
    }
  };
  const TinyTask tiny;
  const Evaluation found = tiny.evaluate(150, 2, {.policy = policy});
  CHECK(found.border == doctest::Approx(1.0 / 3.0));
  REQUIRE(found.on_target_by_glimpse.size() == 3);
  CHECK(found.on_target_by_glimpse[0] == doctest::Approx(1.0));
  CHECK(found.on_target_by_glimpse[1] < 0.5);
  CHECK(found.on_target_by_glimpse[2] < 0.2);
  CHECK(found.on_target ==
        doctest::Approx((found.on_target_by_glimpse[0] + found.on_target_by_glimpse[1] +
                         found.on_target_by_glimpse[2]) /
                        3.0));
  Looks looks;
  looks.add(*tiny.play(150, {.policy = policy}), kRows, kCols);
  check_looks(found, looks);
}

TEST_CASE("a report is a row of evaluations of the same weights") {
  struct Row {
    std::string metric;
    PassRequest request;
  };
  const Row sampled = {"test/error_sampled", {.readout = Readout::sample}};
  const Row averaged = {"test/error_averaged", {.readout = Readout::sample, .passes = 4}};
  const Row argmax = {"test/error_argmax", {.readout = Readout::argmax}};
  const Row shuffled = {"test/error_shuffled", {.shuffled = true}};
  const Row center = {"test/error_center", {.policy = find_policy("center")}};
  const Row random = {"test/error_random", {.policy = find_policy("random")}};
  const struct {
    Overrides overrides;
    std::vector<Row> rows;
  } models[] = {
      {{"attention.glimpse.std=0.5"},
       {{"test/error", {}}, sampled, averaged, shuffled, center, random}},
      {{"attention.glimpse.kind=soft_grid", "attention.glimpse.grid=[2, 3]",
        "attention.glimpse.stride=4"},
       {{"test/error", {}}, sampled, averaged, argmax, shuffled, center, random}},
      {{"attention.glimpse.kind=soft_gaussian"}, {{"test/error", {}}, shuffled, center, random}},
      {{"model.kind=mlp"}, {{"test/error", {}}}}};
  for (const auto& [overrides, rows] : models) {
    CAPTURE(overrides.front());
    const TinyTask tiny(overrides);
    Workers workers(2);
    Evaluator evaluator(tiny.task.model, tiny.task.environments(tiny.task.test_scenes), 150,
                        TinyTask::kSeed, workers);
    const TestReport report = test_agent(tiny.task.model, flat(tiny.weights), evaluator, 4);
    REQUIRE(report.passes.size() == rows.size());
    const std::map<std::string, double> metrics = to_metrics(report);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Evaluation expected = tiny.evaluate(150, 1, rows[i].request);
      check_equal(report.passes[i].result, expected);
      CHECK(metrics.at(rows[i].metric) == expected.error);
      CHECK(metrics.at(rows[i].metric + "_low") == expected.error_low);
      CHECK(metrics.at(rows[i].metric + "_high") == expected.error_high);
    }
    CHECK(metrics.at("test/scenes") == 150);
    CHECK(metrics.contains("attention/on_target") == (rows.size() > 1));
    if (rows.size() == 1) continue;
    CHECK(metrics.at("attention/on_target") == report.deterministic().on_target);
    CHECK(metrics.at("attention/on_target_random") == report.passes.back().result.on_target);
    CHECK(metrics.at("attention/border") == report.deterministic().border);
    CHECK(metrics.at("attention/distance") == report.deterministic().distance);
    CHECK(metrics.at("attention/coverage") == report.deterministic().coverage);
    CHECK(metrics.at("attention/entropy") == report.deterministic().entropy);
  }
}

TEST_CASE("a table shows per cent") {
  Evaluation first;
  first.scenes = 10'000;
  first.error = 0.0263;
  first.error_low = 0.02334;
  first.error_high = 0.0296;
  first.on_target = 0.875;
  Evaluation second;
  second.error = 1.0;
  const TestPass passes[] = {{"single deterministic pass", "test/error", {}, first},
                             {"random policy, same weights", "test/error_random", {}, second}};
  CHECK(to_table({{passes[0], passes[1]}}) ==
        "  test, 10000 scenes               error   95 % interval      on digit\n"
        "  single deterministic pass       2.63 %   [2.33, 2.96]         87.5 %\n"
        "  random policy, same weights   100.00 %   [0.00, 0.00]          0.0 %\n");
  CHECK(to_table({{passes[0]}}) ==
        "  test, 10000 scenes               error   95 % interval\n"
        "  single deterministic pass       2.63 %   [2.33, 2.96]\n");
}

TEST_CASE("the synthetic digits make a task without any data") {
  const Task task(parse_config("data: {source: synthetic}\nmodel: {hidden_size: 4}", "x.yaml"));
  CHECK(task.model.num_classes() == 10);
  CHECK(task.digits.train.rows() == 28);
  Workers workers(2);
  Tensor<1> weights = zeros<1>(task.model.layout().size());
  task.model.layout().initialize(flat(weights), 1);
  Evaluator evaluator(task.model, task.environments(task.valid_scenes), 100, 777, workers);
  CHECK(evaluator.run(flat(weights), {}).error > 0.5);
}

}  // namespace saccade
