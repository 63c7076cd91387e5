#include "env/task_kinds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "base/error.h"
#include "tests/env/digit_fixtures.h"
#include "tests/support.h"

namespace saccade {
namespace {

constexpr int kDigitClasses = 3;

SceneConfig scene_of(const std::string& kind) {
  return {.kind = kind, .canvas = {20, 60}, .num_digits = 2, .num_distractors = 0};
}

}  // namespace

TEST_CASE("every task's environments match its table entry, and every label has its own name") {
  const Digits digits{.train = noise_digits(9, 8, 6, 1, kDigitClasses),
                      .valid = noise_digits(6, 8, 6, 1, kDigitClasses),
                      .test = noise_digits(6, 8, 6, 1, kDigitClasses),
                      .class_names = {"ape", "bee", "cat"},
                      .checksums = {}};
  for (const std::string& name : task_kinds()) {
    CAPTURE(name);
    const TaskKind& kind = find_task_kind(name);
    if (kind.is_own) continue;  // test_source_environment.cpp, test_own_world_environment.cpp
    const SceneConfig scene = scene_of(name);
    const Retina retina({4, 2, 2}, scene.canvas[0], scene.canvas[1], 1);
    for (const Split split : {Split::train, Split::valid, Split::test}) {
      const auto environment = kind.make({.scene = scene,
                                          .augmentation = {},
                                          .digits = digits,
                                          .retina = kind.is_text ? nullptr : &retina,
                                          .split = split,
                                          .seed = 5,
                                          .episodes = 4,
                                          .rollouts = 2});
      CHECK(environment->episodes() == 4);
      CHECK(environment->answer_kind() == kind.answer);
      CHECK(environment->moves() == kind.moves());
      CHECK(environment->has_cue() == kind.has_cue);
      CHECK((environment->glimpse_size() > 0) == !kind.is_text);
      const EnvironmentSizes sizes = kind.sizes(scene, digits.train);
      CHECK(sizes.num_classes == environment->num_classes());
      CHECK(sizes.canvas == environment->canvas());
      CHECK(sizes.max_symbols == environment->max_symbols());
      environment->reset(0);
      CHECK(kind.has_shades == (kind.has_digits || name == "circle_square"));
      if (kind.has_digits) CHECK(kind.counts_digits == (environment->facts()[0].length > 0));
      std::set<std::string> names;
      for (int label = 0; label < environment->num_classes(); ++label)
        names.insert(kind.answer_name(scene, digits.class_names, label));
      CHECK(static_cast<int>(names.size()) == environment->num_classes());
      if (kind.answer == AnswerKind::sequence)
        CHECK(kind.answer_name(scene, digits.class_names, environment->num_classes() - 1) ==
              "<end>");
    }
    CHECK((kind.first_event != nullptr) == kind.acts());
  }
  CHECK(message_of<InputError>([] { find_task_kind("fly"); }).find("allowed: centered, ") !=
        std::string::npos);
}

TEST_CASE(
    "an evaluation with fewer scenes than digits shows a random sample of them, by its seed") {
  constexpr int kDigits = 23;
  const Dataset each = noise_digits(kDigits, 4, 4, 1, kDigits);  // every digit is its own class
  const Digits digits{
      .train = each, .valid = each, .test = each, .class_names = {}, .checksums = {}};
  const auto shown = [&](int num_digits, int scenes, std::uint64_t seed, Split split) {
    const SceneConfig scene{
        .kind = "translated", .canvas = {8, 8}, .num_digits = num_digits, .num_distractors = 0};
    const Retina retina({4, 1, 2}, 8, 8, 1);
    const auto environment = find_task_kind("translated")
                                 .make({.scene = scene,
                                        .augmentation = {},
                                        .digits = digits,
                                        .retina = &retina,
                                        .split = split,
                                        .seed = seed,
                                        .episodes = 1,
                                        .rollouts = 1,
                                        .scenes = scenes});
    std::vector<int> classes;
    for (int n = 0; n < scenes; ++n) {
      environment->reset(n);
      const SceneFacts& facts = environment->facts()[0];
      classes.insert(classes.end(), facts.classes.begin(), facts.classes.begin() + num_digits);
    }
    return classes;
  };
  std::vector<int> in_order(2 * kDigits);
  for (int i = 0; i < 2 * kDigits; ++i) in_order[i] = i % kDigits;
  for (const Split split : {Split::valid, Split::test}) {
    CHECK(shown(1, 2 * kDigits, 7, split) == in_order);
    CHECK(shown(2, kDigits, 7, split) == in_order);
    for (const int num_digits : {1, 2}) {
      const int scenes = (kDigits - 1) / num_digits;
      const std::vector<int> sample = shown(num_digits, scenes, 7, split);
      CHECK(std::set(sample.begin(), sample.end()).size() == sample.size());
      CHECK(!std::ranges::equal(sample, std::span(in_order).first(sample.size())));
      CHECK(shown(num_digits, scenes, 7, split) == sample);
      CHECK(shown(num_digits, scenes, 8, split) != sample);
    }
  }
  // Every digit is equally likely, wherever it is in the set.
  constexpr int kScenes = 5, kSeeds = 2000;
  std::vector<int> counts(kDigits);
  for (int seed = 0; seed < kSeeds; ++seed)
    for (const int digit : shown(1, kScenes, seed, Split::test)) ++counts[digit];
  const double expected = double(kScenes) * kSeeds / kDigits;  // 435, standard deviation 18
  for (const int count : counts) CHECK(std::abs(count - expected) < 5.0 * 18.0);
}

TEST_CASE("the first event of a game is the first that gives a reward") {
  const SceneConfig scene = scene_of("catch");
  const TaskKind& kind = find_task_kind("catch");
  const Retina retina({4, 2, 2}, scene.canvas[0], scene.canvas[1], 1);
  const auto environment =
      kind.make({scene, {}, Digits{}, &retina, Split::train, /*seed=*/1, /*episodes=*/1, 1});
  CHECK(environment->best_return(kind.first_event(scene) - 1) == 0.0F);
  CHECK(environment->best_return(kind.first_event(scene)) == 1.0F);
}

TEST_CASE("a task may have a first event if its answers are actions, and need not") {
  TaskKind kind = find_task_kind("catch");
  const auto fault = [&] {
    return message_of<std::exception>([&] { register_task_kind("late", kind); });
  };
  const std::string too_late = "the table was read";  // the only fault
  CHECK(contains(fault(), too_late));
  kind.first_event = nullptr;
  CHECK(contains(fault(), too_late));
  kind = find_task_kind("catch");
  kind.answer = AnswerKind::one_class;
  CHECK(contains(fault(), "no first_event unless the answers are actions"));
}

}  // namespace saccade
