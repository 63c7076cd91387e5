// Error and looks of a visual search by set size.
#include "experiments/evaluation/set_sizes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/analysis/evaluate.h"
#include "nn/random.h"
#include "tests/experiments/tiny_task.h"
#include "tests/thread_ranks.h"

namespace saccade {
namespace {

constexpr int kLooks = 5;

// Scenes whose agent is surer than 0.9 after as many looks as `looks_at` says, and right then.
template <class LooksAt>
LookOutcomes outcomes_of(std::span<const SearchedScene> scenes, const LooksAt& looks_at) {
  LookOutcomes outcomes{.looks = kLooks};
  for (const SearchedScene& scene : scenes)
    for (int t = 1; t <= kLooks; ++t) {
      outcomes.sureness.push_back(t >= looks_at(scene) ? 0.95F : 0.5F);
      outcomes.right.push_back(t == looks_at(scene));
    }
  return outcomes;
}

std::vector<SearchedScene> all_scenes() {
  std::vector<SearchedScene> scenes;
  for (int n = 0; n < 60; ++n) scenes.push_back({1 + n % 3, n / 3 % 2});
  return scenes;
}

}  // namespace

TEST_CASE("set sizes: means by size and answer, and the looks an item") {
  const std::vector<SearchedScene> scenes = all_scenes();
  // Absent: 1 + 1 look an item; present: 2 always.
  const auto looks = [](const SearchedScene& scene) {
    return scene.label == 0 ? 1 + scene.size : 2;
  };
  const LookOutcomes outcomes = outcomes_of(scenes, looks);
  const SetSizeReport report = set_size_report(scenes, outcomes, 0.9);
  CHECK(report.sizes == std::vector{1, 2, 3});
  for (int label = 0; label < 2; ++label)
    for (int s = 0; s < 3; ++s) {
      const SetSizeResult& result = report.results[label][s];
      CHECK(result.scenes == 10);
      CHECK(result.error == 1.0);  // it is right at the stop alone
      CHECK(result.stopped_error == 0.0);
      CHECK(result.looks == doctest::Approx(looks({s + 1, label})));
    }
  CHECK(*report.slopes[0] == doctest::Approx(1.0));
  CHECK(*report.slopes[1] == doctest::Approx(0.0));

  const SetSizeReport never = set_size_report(scenes, outcomes, 1.0);
  CHECK(never.results[0][1].looks == kLooks);
  CHECK(never.results[0][1].stopped_error == never.results[0][1].error);
  CHECK(*never.slopes[0] == doctest::Approx(0.0));
}

TEST_CASE("set sizes: the slope is that of least squares over the scenes") {
  std::vector<SearchedScene> scenes;
  std::vector<double> x, y;
  RandomStream stream(3, Purpose::policy_noise, 0, 0);
  LookOutcomes outcomes{.looks = kLooks};
  for (int n = 0; n < 200; ++n) {
    scenes.push_back({1 + stream.below(8), 0});
    const int looks = 1 + stream.below(kLooks);
    for (int t = 1; t <= kLooks; ++t) {
      outcomes.sureness.push_back(t == looks ? 0.95F : 0.5F);
      outcomes.right.push_back(1);
    }
    x.push_back(scenes.back().size);
    y.push_back(looks);
  }
  double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0;
  for (std::size_t n = 0; n < x.size(); ++n) mean_x += x[n] / 200.0, mean_y += y[n] / 200.0;
  for (std::size_t n = 0; n < x.size(); ++n) {
    xx += (x[n] - mean_x) * (x[n] - mean_x);
    xy += (x[n] - mean_x) * (y[n] - mean_y);
  }
  const SetSizeReport report = set_size_report(scenes, outcomes, 0.9);
  CHECK(*report.slopes[0] == doctest::Approx(xy / xx));
  // No scene has a target.
  CHECK_FALSE(report.slopes[1]);
  CHECK(report.results[1][0].scenes == 0);
  const nlohmann::json json = to_json(report);
  CHECK(json["present"]["looks"][0].is_null());
  CHECK(json["present"]["looks_per_item"].is_null());
  CHECK(json["absent"]["looks_per_item"].get<double>() == doctest::Approx(xy / xx));
  CHECK(json["set_sizes"].size() == 8);
}

TEST_CASE("set sizes: the table") {
  const std::vector<SearchedScene> scenes = {{1, 0}, {1, 1}, {4, 0}};
  const LookOutcomes outcomes =
      outcomes_of(scenes, [](const SearchedScene& scene) { return scene.size; });
  CHECK(to_text(set_size_report(scenes, outcomes, 0.9)) ==
        "  set size      absent     stopped   looks   present     stopped   looks\n"
        "  1           100.00 %      0.00 %    1.00  100.00 %      0.00 %    1.00\n"
        "  4           100.00 %      0.00 %    4.00         -           -       -\n"
        "  stopped when surer than 0.9; looks an item: absent 1.00, present -\n");
}

TEST_CASE("set sizes: an evaluation of a search has them") {
  const TinyTask tiny(
      {"scene.kind=search", "scene.num_distractors=0", "scene.num_digits=4", "scene.min_digits=2"});
  const Evaluation evaluation = tiny.evaluate(250, 2, {.details = true});
  const std::vector<SearchedScene>& scenes = evaluation.details.searched;
  REQUIRE(scenes.size() == 250);
  const auto environment = tiny.task.environments(Split::test)(250, 1);
  environment->reset(0);
  environment->end_cue();
  for (int n = 0; n < 250; ++n) {
    CHECK(scenes[n].size == environment->facts()[n].num_digits);
    CHECK(scenes[n].label == environment->facts()[n].label);
  }
  double error = 0.0;
  const SetSizeReport report = set_size_report(scenes, evaluation.details.outcomes, 0.9);
  for (const auto& results : report.results)
    for (const SetSizeResult& result : results)
      if (result.scenes > 0) error += result.scenes * result.error / 250.0;
  CHECK(error == doctest::Approx(evaluation.error));
  on_ranks(3, [&](Ranks& ranks) {
    Workers workers(1);
    Evaluator evaluator(tiny.task.model, tiny.task.environments(Split::test), 250, TinyTask::kSeed,
                        workers, ranks);
    const Evaluation same = evaluator.run(flat(tiny.weights), {.details = true});
    CHECK(std::ranges::equal(same.details.searched, scenes,
                             [](const SearchedScene& a, const SearchedScene& b) {
                               return a.size == b.size && a.label == b.label;
                             }));
  });
  CHECK(TinyTask().evaluate(20, 1, {.details = true}).details.searched.empty());
}

}  // namespace saccade
