#include "env/source_environment.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "env/task_kinds.h"
#include "tests/check_contains.h"
#include "tests/env/environment_calls.h"
#include "tests/env/environment_contract.h"
#include "tests/support.h"

namespace saccade {
namespace {

// Scene n has the bytes of a generator that n begins, label n mod 3 and a box that moves with n.
class CountedScenes final : public SceneSource {
 public:
  explicit CountedScenes(const CanvasSize& size) : size_(size) {}

  void visit(std::uint64_t first, int count, const Visitor& visit) override {
    std::vector<std::uint8_t> canvas(size_.pixels());
    for (int i = 0; i < count; ++i) {
      const std::uint64_t scene = first + i;
      for (std::size_t p = 0; p < canvas.size(); ++p)
        canvas[p] = static_cast<std::uint8_t>((scene + 1) * (p + 7) * 2654435761U >> 13);
      SceneFacts facts;
      facts.label = static_cast<int>(scene % 3);
      facts.boxes[0] = {.x = static_cast<int>(scene % 4), .y = 1, .width = 3, .height = 2};
      facts.regions[0] = to_region(facts.boxes[0], size_.cols, size_.rows);
      facts.is_answer[0] = true;
      visit(i, canvas, facts);
    }
  }

 private:
  CanvasSize size_;
};

}  // namespace

TEST_CASE("own scenes satisfy the environment contract") {
  for (const CanvasSize size : {CanvasSize{1, 9, 12}, CanvasSize{3, 12, 8}})
    for (const int rollouts : {1, 3}) {
      CAPTURE(size.channels);
      CAPTURE(rollouts);
      CountedScenes source(size);
      const Retina retina({4, 2, 2}, size.rows, size.cols, size.channels);
      const auto make = [&] {
        return std::make_unique<SourceEnvironment>(source, size, 3, retina, 6, rollouts);
      };
      check_environment(make, size.rows, size.cols);
      check_grid(make);
      check_canvases(make, size.rows, size.cols);
      rollouts == 1 ? check_restarts(make) : check_no_restarts(make);
    }
}

TEST_CASE("own scenes: episodes show the scenes from the first on, those that share one the same") {
  const CanvasSize size{1, 9, 12};
  CountedScenes source(size);
  SourceEnvironment environment(source, size, 3, Retina({4, 2, 2}, 9, 12, 1), 6, 2);
  environment.reset(40);
  const GuardedMatrix canvases = view_of(environment);
  source.visit(40, 3, [&](int i, std::span<const std::uint8_t> canvas, const SceneFacts& facts) {
    for (const int b : {2 * i, 2 * i + 1}) {
      CHECK(environment.facts()[b].label == facts.label);
      CHECK(environment.facts()[b].boxes[0] == facts.boxes[0]);
      for (int p = 0; p < size.pixels(); ++p)
        CHECK(canvases(b, p) == doctest::Approx(canvas[p] / 255.0).epsilon(1e-6));
    }
  });
}

TEST_CASE("own scenes need a program that gives them, two classes or more, and 1 or 3 channels") {
  const Digits none;
  SceneConfig scene{.kind = "own", .canvas = {9, 12}, .classes = {"a", "b c"}, .channels = 3};
  const Retina retina({4, 2, 2}, 9, 12, 3);
  const TaskKind& kind = find_task_kind("own");
  check_contains(message_of<InputError>([&] {
                   kind.make({.scene = scene,
                              .augmentation = {},
                              .digits = none,
                              .retina = &retina,
                              .split = Split::train,
                              .seed = 1,
                              .episodes = 2,
                              .rollouts = 1});
                 }),
                 {"scene.kind: own: its scenes come from a program, and none gives them here"});
  check(scene);
  CHECK(kind.sizes(scene, none.train).num_classes == 2);
  CHECK(kind.answer_name(scene, {}, 1) == "b c");
  scene.channels = 2;
  CHECK(message_of<SettingError>([&] { check(scene); }) == "scene.channels: 2; allowed: 1, 3");
  scene.channels = 1;
  for (const std::vector<std::string>& classes :
       {std::vector<std::string>{}, {"a"}, {"a", "a"}, {"a", ""}}) {
    scene.classes = classes;
    check_contains(message_of<SettingError>([&] { check(scene); }),
                   {"; allowed: two names or more, all different"});
  }
}

}  // namespace saccade
