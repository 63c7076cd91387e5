#include "env/task_kinds.h"

#include <doctest/doctest.h>

#include <set>

#include "nn/error.h"
#include "tests/env/digit_fixtures.h"
#include "tests/support.h"

namespace saccade {
namespace {

constexpr int kDigitClasses = 3;

SceneConfig scene_of(const std::string& kind) {
  return {.kind = kind, .canvas = {20, 60}, .num_digits = 2, .num_distractors = 0};
}

}  // namespace

TEST_CASE("every task makes environments of which it is true, and names all they ask for") {
  const Digits digits{.train = noise_digits(9, 8, 6, 1, kDigitClasses),
                      .valid = noise_digits(6, 8, 6, 1, kDigitClasses),
                      .test = noise_digits(6, 8, 6, 1, kDigitClasses),
                      .class_names = {"ape", "bee", "cat"},
                      .checksums = {}};
  for (const std::string& name : task_kinds()) {
    CAPTURE(name);
    const TaskKind& kind = find_task_kind(name);
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
      CHECK((environment->glimpse_size() > 0) == !kind.is_text);
      std::set<std::string> names;
      for (int label = 0; label < environment->num_classes(); ++label)
        names.insert(kind.answer_name(scene, digits.class_names, label));
      CHECK(static_cast<int>(names.size()) == environment->num_classes());
      if (kind.answer == AnswerKind::sequence)
        CHECK(kind.answer_name(scene, digits.class_names, environment->num_classes() - 1) ==
              "<end>");
    }
    CHECK((kind.first_event != nullptr) == kind.moves());
  }
  CHECK(message_of<InputError>([] { find_task_kind("fly"); }).find("allowed: centered, ") !=
        std::string::npos);
}

TEST_CASE("the first event of a game is the first that earns anything") {
  const SceneConfig scene = scene_of("catch");
  const TaskKind& kind = find_task_kind("catch");
  const Retina retina({4, 2, 2}, scene.canvas[0], scene.canvas[1], 1);
  const auto environment =
      kind.make({scene, {}, Digits{}, &retina, Split::train, /*seed=*/1, /*episodes=*/1, 1});
  CHECK(environment->best_return(kind.first_event(scene) - 1) == 0.0F);
  CHECK(environment->best_return(kind.first_event(scene)) == 1.0F);
}

}  // namespace saccade
