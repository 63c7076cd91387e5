#include "experiments/evaluation/stopping.h"

#include <doctest/doctest.h>

#include <cmath>

#include "experiments/analysis/evaluate.h"
#include "nn/random.h"
#include "tests/experiments/program.h"
#include "tests/experiments/tiny_task.h"
#include "tests/thread_ranks.h"

namespace saccade {
namespace {

// Scenes of `looks` looks whose sureness and answers are drawn; scenes 2 n and 2 n + 1 show the
// same image if `shared`.
LookOutcomes drawn_outcomes(int scenes, int looks, bool shared) {
  LookOutcomes outcomes{.looks = looks};
  RandomStream stream(7, Purpose::policy_noise, 0, 0);
  for (int n = 0; n < scenes; ++n) {
    if (shared) outcomes.shown.push_back({n, n / 2});
    for (int t = 0; t < looks; ++t) {
      outcomes.sureness.push_back(stream.uniform(0.0F, 1.0F));
      outcomes.right.push_back(stream.uniform(0.0F, 1.0F) < 0.6F);
    }
  }
  return outcomes;
}

// The rules of stopping and their means again, as simply as possible.
struct NaiveStop {
  double error = 0.0, looks = 0.0;

  template <class Stops>
  NaiveStop(const LookOutcomes& outcomes, const Stops& stops) {
    for (int n = 0; n < outcomes.scenes(); ++n)
      for (int t = 0; t < outcomes.looks; ++t) {
        const int at = n * outcomes.looks + t;
        if (!stops(at) && t + 1 < outcomes.looks) continue;
        error += outcomes.right[at] == 0;
        looks += t + 1;
        break;
      }
    error /= outcomes.scenes();
    looks /= outcomes.scenes();
  }
};

void check_point(const StopPoint& point, const NaiveStop& expected) {
  CHECK(point.error.value == doctest::Approx(expected.error));
  CHECK(point.looks.value == doctest::Approx(expected.looks));
  for (const OverScenes& value : {point.error, point.looks}) {
    CHECK(value.low <= value.value);
    CHECK(value.high >= value.value);
  }
}

StopCurves curves_of(const LookOutcomes& valid, const LookOutcomes& test) {
  StopCurves curves = stop_curves(valid);
  add_test(curves, test);
  return curves;
}

std::string fault(const StopCurves& curves, const StopTarget& target) {
  return message_of<InputError>([&] { chosen_threshold(curves, target); });
}

}  // namespace

TEST_CASE("the thresholds rise from one that stops at once to one that never stops") {
  const std::vector<double> thresholds = stop_thresholds();
  CHECK(thresholds.front() == 0.0);
  CHECK(thresholds.back() == 1.0);
  CHECK(std::ranges::is_sorted(thresholds, std::less_equal()));
  for (const double threshold : {0.5, 0.8, 0.9, 0.95, 0.97, 0.99, 0.999, 0.9999})
    CHECK(std::ranges::find(thresholds, threshold) != thresholds.end());
}

TEST_CASE("the curves of stopping are those of a naive count") {
  for (const bool shared : {false, true}) {
    const LookOutcomes valid = drawn_outcomes(83, 5, shared), test = drawn_outcomes(210, 5, shared);
    const StopCurves curves = curves_of(valid, test);
    REQUIRE(curves.test.size() == curves.thresholds.size());
    for (std::size_t k = 0; k < curves.thresholds.size(); ++k) {
      const auto is_sure = [&](const LookOutcomes& outcomes) {
        return [&outcomes, threshold = curves.thresholds[k]](int at) {
          return outcomes.sureness[at] > threshold;
        };
      };
      check_point(curves.test[k], NaiveStop(test, is_sure(test)));
      check_point(curves.valid[k], NaiveStop(valid, is_sure(valid)));
    }
    REQUIRE(curves.always.size() == 5);
    for (int k = 1; k <= 5; ++k) {
      check_point(curves.always[k - 1], NaiveStop(test, [&](int at) { return at % 5 == k - 1; }));
      CHECK(curves.always[k - 1].looks.low == k);
      CHECK(curves.always[k - 1].looks.high == k);
    }
  }
}

TEST_CASE("the ends of the curve are the first look and all looks") {
  const LookOutcomes outcomes = drawn_outcomes(100, 4, false);
  const StopCurves curves = curves_of(outcomes, outcomes);
  CHECK(curves.test.front().error.value == curves.always.front().error.value);
  CHECK(curves.test.front().looks.value == 1.0);
  CHECK(curves.test.back().error.value == curves.always.back().error.value);
  CHECK(curves.test.back().looks.value == 4.0);
}

TEST_CASE("the oracle stops at the first right answer, and never where there is none") {
  const LookOutcomes outcomes{.looks = 3,
                              .sureness = std::vector<float>(12, 0.5F),
                              .right = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                              .shown = {}};
  CHECK(looks_until_right(outcomes) == std::vector{1, 3, 3, 2});
  const StopPoint oracle = curves_of(outcomes, outcomes).oracle;
  CHECK(oracle.error.value == 0.25);
  CHECK(oracle.looks.value == 2.25);
}

TEST_CASE("an agent that decides by itself hands over its looks") {
  const LookOutcomes outcomes = drawn_outcomes(60, 4, false);
  std::vector<int> looks;
  for (int n = 0; n < 60; ++n) looks.push_back(n % 4 + 1);
  check_point(StopMeasure(outcomes).at(looks),
              NaiveStop(outcomes, [](int at) { return at % 4 == at / 4 % 4; }));
}

TEST_CASE("the interval of the mean looks is Student's, over images where shared") {
  const LookOutcomes own = drawn_outcomes(200, 6, false);
  const std::vector<int> looks = looks_until_sure(own, 0.7);
  double mean = 0.0, squares = 0.0;
  for (const int one : looks) mean += one / 200.0;
  for (const int one : looks) squares += (one - mean) * (one - mean);
  const double half = student_t(199) * std::sqrt(squares / 199.0 / 200.0);
  const OverScenes found = StopMeasure(own).at(looks).looks;
  CHECK(found.low == doctest::Approx(mean - half));
  CHECK(found.high == doctest::Approx(mean + half));

  // Each scene twice: as precise as each once.
  LookOutcomes twice{.looks = 6};
  for (int n = 0; n < 400; ++n) {
    twice.shown.push_back({n, n / 2});
    const auto first = std::ptrdiff_t{n / 2} * 6;
    twice.sureness.insert(twice.sureness.end(), own.sureness.begin() + first,
                          own.sureness.begin() + first + 6);
    twice.right.insert(twice.right.end(), own.right.begin() + first, own.right.begin() + first + 6);
  }
  const OverScenes same = StopMeasure(twice).at(looks_until_sure(twice, 0.7)).looks;
  CHECK(same.low == doctest::Approx(found.low));
  CHECK(same.high == doctest::Approx(found.high));
}

TEST_CASE("a threshold is chosen on the validation scenes") {
  const auto point = [](double error, double looks) {
    return StopPoint{{error, error, error}, {looks, looks, looks}};
  };
  const StopCurves curves{.thresholds = {0.0, 0.8, 0.9, 0.95, 1.0},
                          .test = {},
                          .valid = {point(0.20, 1.0), point(0.10, 1.5), point(0.05, 2.0),
                                    point(0.04, 2.5), point(0.05, 4.0)},
                          .always = {},
                          .oracle = {}};
  CHECK(chosen_threshold(curves, {}) == 2);  // the error of all looks
  CHECK(chosen_threshold(curves, {.error = 0.04}) == 3);
  CHECK(chosen_threshold(curves, {.error = 0.15}) == 1);
  CHECK(chosen_threshold(curves, {.error = 1.0}) == 0);
  CHECK(chosen_threshold(curves, {.looks = 1.0}) == 0);
  CHECK(chosen_threshold(curves, {.looks = 2.2}) == 2);
  CHECK(chosen_threshold(curves, {.looks = 4.0}) == 3);
  CHECK(fault(curves, {.error = 0.03}) ==
        "--stop-error 0.03: no threshold has so little error on the validation scenes; allowed: "
        "from 0.04, that of 2.50 looks (threshold 0.95)");
}

TEST_CASE("the outcomes of an evaluation are those of its scenes, for any number of ranks") {
  const TinyTask tiny;
  const int scenes = 130, classes = tiny.task.model.num_classes();
  const auto rollout =
      std::make_unique<Rollout>(tiny.task.model, tiny.task.environments(Split::test)(scenes, 1));
  RolloutRequest request = RolloutRequest::of_scenes(0, TinyTask::kSeed);
  request.sampling = SamplingMode::deterministic;
  request.classify_every_step = true;
  rollout->run(flat(tiny.weights), request);
  const Evaluation found = tiny.evaluate(scenes, 2, {.details = true});
  const LookOutcomes& outcomes = found.details.outcomes;
  REQUIRE(outcomes.looks == 3);
  REQUIRE(outcomes.scenes() == scenes);
  for (int n = 0; n < scenes; ++n)
    for (int t = 0; t < 3; ++t) {
      const float* p = &rollout->answer->probabilities(t, n, 0);
      const auto most = std::max_element(p, p + classes);
      CHECK(outcomes.sureness[n * 3 + t] == doctest::Approx(*most));
      CHECK((outcomes.right[n * 3 + t] != 0) == (most - p == rollout->answer->labels(n)[0]));
    }
  const StopPoint all = StopMeasure(outcomes).at(std::vector(scenes, 3));
  CHECK(all.error.value == found.error);
  CHECK(all.error.low == found.error_low);
  CHECK(all.error.high == found.error_high);
  CHECK(tiny.evaluate(scenes, 2).details.outcomes.right.empty());
  CHECK(TinyTask(with_model("mlp"))
            .evaluate(50, 1, {.details = true})
            .details.outcomes.right.empty());

  std::vector<LookOutcomes> of_ranks(3);
  on_ranks(3, [&](Ranks& ranks) {
    Workers workers(1);
    Evaluator evaluator(tiny.task.model, tiny.task.environments(Split::test), scenes,
                        TinyTask::kSeed, workers, ranks);
    of_ranks[ranks.rank()] = evaluator.run(flat(tiny.weights), {.details = true}).details.outcomes;
  });
  for (const LookOutcomes& one : of_ranks) {
    CHECK(one.sureness == outcomes.sureness);
    CHECK(one.right == outcomes.right);
  }
}

TEST_CASE("the cost of an episode falls by that of each look that is left out") {
  const TinyTask tiny, shorter({"attention.glimpse.num_glimpses=2"});
  const Model& model = tiny.task.model;
  const EpisodeCost all = cost_of(model, 3.0), two = cost_of(model, 2.0);
  CHECK(all.gflop == doctest::Approx(2e-9 * static_cast<double>(model.work().forward)));
  CHECK(all.canvas_pixels == model.look().canvas_pixels);
  CHECK(two.gflop ==
        doctest::Approx(2e-9 * static_cast<double>(shorter.task.model.work().forward)));
  CHECK(two.canvas_pixels == shorter.task.model.look().canvas_pixels);
  CHECK(cost_of(model, 2.5).gflop == doctest::Approx((all.gflop + two.gflop) / 2));
}

TEST_CASE("eval stops at a given threshold, or at one chosen for a target") {
  const TrainedTiny tiny;
  const auto tested = [&](std::optional<double> stop, const StopTarget& target = {}) {
    return evaluate({.run_folder = tiny.run, .threads = 1, .stop = stop, .stop_target = target});
  };
  const TestFigures own = tested({});
  REQUIRE(own.stopping);
  const StopCurves& curves = own.stopping->curves;
  CHECK(own.metrics.at("test/stop_threshold") == curves.thresholds[chosen_threshold(curves, {})]);
  CHECK(curves.always.back().error.value == own.metrics.at("test/error"));
  CHECK(curves.always.back().error.low == own.metrics.at("test/error_low"));
  CHECK(contains(to_text(own), "\n  stops when surer than "));
  CHECK(contains(to_text(own), "\n  always 3 looks "));
  CHECK(contains(to_text(own), "\n  oracle: at the first right "));
  CHECK(contains(to_text(own), " GFLOP, "));

  for (const std::size_t k : {std::size_t{5}, curves.thresholds.size() - 2}) {
    const TestFigures given = tested(curves.thresholds[k]);
    CHECK(given.metrics.at("test/stopped_error") == curves.test[k].error.value);
    CHECK(given.metrics.at("test/looks") == curves.test[k].looks.value);
    CHECK(given.metrics.at("test/looks_high") == curves.test[k].looks.high);
    CHECK(given.metrics.at("test/error") == own.metrics.at("test/error"));
  }
  CHECK(tested(0.123456).metrics.at("test/stop_threshold") == 0.123456);
  const TestFigures once = tested({}, {.looks = 1.0});
  CHECK(once.stopping->curves.valid[chosen_threshold(curves, {.looks = 1.0})].looks.value == 1.0);
  CHECK(tested({}, {.error = 1.0}).metrics.at("test/looks") == 1.0);

  const nlohmann::json document = to_json(own);
  const nlohmann::json& json = document.at("test/stopping");
  CHECK(json.at("thresholds") == curves.thresholds);
  CHECK(json.at("test").at("error")[3] == curves.test[3].error.value);
  CHECK(json.at("valid").at("looks_low")[3] == curves.valid[3].looks.low);
  CHECK(json.at("always").at("looks") == std::vector{1.0, 2.0, 3.0});
  CHECK(json.at("oracle").at("error").size() == 1);
  CHECK(read_json(tiny.run / "test.json").at("test/stopping") == json);
}

TEST_CASE("eval refuses a rule to stop that cannot be followed, and names it") {
  const TrainedTiny tiny;
  const auto refused = [&](const fs::path& run, std::optional<double> stop,
                           const StopTarget& target = {}) {
    return message_of<InputError>(
        [&] { evaluate({.run_folder = run, .stop = stop, .stop_target = target}); });
  };
  for (const double stop : {0.0, 1.0, -0.5, 1.5, std::nan("")})
    CHECK(contains(refused(tiny.run, stop), ": allowed: above 0 and below 1"));
  CHECK(refused(tiny.run, 0.9, {.error = 0.1}) ==
        "--stop 0.9: allowed without --stop-error and --stop-looks, which choose the threshold");
  CHECK(refused(tiny.run, {}, {.error = 0.1, .looks = 2.0}) ==
        "--stop-error 0.1 and --stop-looks 2: allowed: one of them");
  CHECK(refused(tiny.run, {}, {.error = 1.1}) ==
        "--stop-error 1.1: allowed: 0 to 1, a share of the scenes");
  CHECK(refused(tiny.run, {}, {.looks = 3.1}) == "--stop-looks 3.1: allowed: 1 to 3, mean looks");
  CHECK(refused(tiny.run, {}, {.looks = 0.9}) == "--stop-looks 0.9: allowed: 1 to 3, mean looks");
  CHECK(contains(refused(tiny.run, {}, {.error = 0.0}),
                 "--stop-error 0: no threshold has so little"));

  const fs::path once = tiny.train("once", {"attention.glimpse.num_glimpses=1"});
  CHECK(refused(once, 0.9) ==
        "--stop 0.9: the agent looks once (attention.glimpse.num_glimpses: 1); allowed: for agents "
        "that answer one class after several looks, or a sequence with attention.glimpse.stop");
  const fs::path words = tiny.train("words", {"scene.kind=transcribe", "scene.canvas=[13, 30]",
                                              "scene.num_digits=2", "scene.num_distractors=0"});
  CHECK(contains(refused(words, {}, {.looks = 2.0}),
                 "--stop-looks 2: the agent does not answer a class; allowed: "));
  for (const fs::path& run : {once, words}) {
    const TestFigures tested = evaluate({.run_folder = run, .threads = 1});
    CHECK(!tested.stopping);
    CHECK(!tested.metrics.contains("test/looks"));
    CHECK(!to_json(tested).contains("test/stopping"));
    CHECK(!contains(to_text(tested), "stop"));
  }
}

TEST_CASE("the command line takes the rules to stop") {
  const TrainedTiny tiny;
  const Program::Result given =
      run_saccade(tiny.path, {"eval", "out", "--stop", "0.6", "--json", "--threads", "1"});
  check_done(given);
  CHECK(nlohmann::json::parse(given.out).at("test/stop_threshold") == 0.6);
  check_done(run_saccade(tiny.path, {"eval", "out", "--stop-error", "0.9", "--threads", "1"}));
  check_done(run_saccade(tiny.path, {"eval", "out", "--stop-looks", "1.5", "--threads", "1"}));
  const Program::Result refused = run_saccade(tiny.path, {"eval", "out", "--stop", "2"});
  CHECK(refused.code == 2);
  CHECK(refused.err == "saccade: --stop 2: allowed: above 0 and below 1\n");
}

}  // namespace saccade
