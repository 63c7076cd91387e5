#include "experiments/evaluation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

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
        "  test, 10000 scenes               error   95 % interval             \n"
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
