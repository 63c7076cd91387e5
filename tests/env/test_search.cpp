#include "env/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "base/error.h"
#include "env/task_kinds.h"
#include "tests/env/digit_fixtures.h"
#include "tests/env/environment_calls.h"
#include "tests/statistics.h"
#include "tests/support.h"

namespace saccade {
namespace {

constexpr int kClasses = 4, kPictures = 22;

SceneConfig search_scene(const std::string& target = "shape") {
  return {.kind = "search",
          .canvas = {33, 31},
          .num_digits = 9,
          .min_digits = 2,
          .border = 1,
          .target = target};
}

// Every picture has one brightness of its own, which a third of no other one is.
Dataset plain_digits() {
  return make_digits(kPictures, 10, 9, 1, kClasses,
                     [](int n, int, int, int) { return 255 - 3 * n; });
}

SearchEnvironment make_search(const SceneConfig& scene, const Dataset& digits, int episodes,
                              int rollouts = 1, std::uint64_t seed = 1,
                              DigitOrder order = DigitOrder::fixed) {
  return {scene, {},       digits,  order, Retina({4, 2, 2}, scene.canvas[0], scene.canvas[1], 1),
          seed,  episodes, rollouts};
}

// The canvas (rows, cols) with the digits of the facts in their boxes, in bytes.
std::vector<int> naive_display(const SceneConfig& scene, const Dataset& digits,
                               const SceneFacts& facts, std::span<const int> pictures) {
  std::vector<int> canvas(static_cast<std::size_t>(scene.canvas[0]) * scene.canvas[1]);
  for (std::size_t k = 0; k < pictures.size(); ++k) {
    const Box& box = facts.boxes[k];
    const bool dims = scene.target == "brightness" && !(facts.label == 1 && k == 0) &&
                      pictures.size() == static_cast<std::size_t>(facts.num_sources - 1);
    for (int row = 0; row < box.height; ++row)
      for (int col = 0; col < box.width; ++col)
        canvas.at((box.y + row) * scene.canvas[1] + box.x + col) =
            digits.images(pictures[k], row, col, 0) / (dims ? 3 : 1);
  }
  return canvas;
}

std::vector<int> bytes_seen(const GuardedMatrix& canvases, int b) {
  std::vector<int> bytes;
  for (int i = 0; i < canvases.view().cols; ++i)
    bytes.push_back(static_cast<int>(std::lround(canvases(b, i) * 255.0F)));
  return bytes;
}

bool overlap(const Box& a, const Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

}  // namespace

TEST_CASE("search: a cue alone in the middle, then a display with or without its class") {
  CHECK(search_answers() == Names{"absent", "present"});
  CHECK(search_targets() == Names{"shape", "brightness"});
  constexpr int kScenes = 200;
  const Dataset digits = plain_digits();
  for (const std::string& target : search_targets()) {
    CAPTURE(target);
    const SceneConfig scene = search_scene(target);
    SearchEnvironment search = make_search(scene, digits, kScenes);
    search.reset(0);
    const std::vector<SceneFacts> cues(search.facts().begin(), search.facts().end());
    const GuardedMatrix cue_canvases = view_of(search);
    search.end_cue();
    const GuardedMatrix canvases = view_of(search);
    for (int b = 0; b < kScenes; ++b) {
      const SceneFacts &cue = cues[b], &facts = search.facts()[b];
      const int shown = cue.sources[0], sought = digits.labels(shown);
      REQUIRE(shown == b % kPictures);
      REQUIRE(cue.num_digits == 1);
      CHECK(cue.classes[0] == sought);
      CHECK(cue.is_answer[0]);
      CHECK(cue.boxes[0] == Box{(31 - 9) / 2, (33 - 10) / 2, 9, 10});
      CHECK(bytes_seen(cue_canvases, b) == naive_display(scene, digits, cue, std::array{shown}));

      const int n = facts.num_digits;
      REQUIRE(n >= 2);
      REQUIRE(n <= 9);
      CHECK(facts.label == cue.label);
      CHECK(facts.num_sources == n + 1);
      CHECK(facts.sources == cue.sources);
      CHECK(cue.num_sources == n + 1);
      const std::span pictures = std::span(facts.sources).subspan(1, n);
      CHECK(bytes_seen(canvases, b) == naive_display(scene, digits, facts, pictures));
      for (int k = 0; k < n; ++k) {
        const bool is_target = facts.label == 1 && k == 0;
        CHECK(facts.classes[k] == digits.labels(pictures[k]));
        CHECK((facts.classes[k] == sought) == is_target);
        CHECK(facts.is_answer[k] == (is_target || facts.label == 0));
        CHECK(pictures[k] != shown);
        const Box& box = facts.boxes[k];
        CHECK(box.x >= 1);
        CHECK(box.y >= 1);
        CHECK(box.x + box.width <= 30);
        CHECK(box.y + box.height <= 32);
        for (int other = 0; other < k; ++other) CHECK_FALSE(overlap(box, facts.boxes[other]));
      }
    }
  }
}

TEST_CASE("search: answers, set sizes, classes, pictures and tiles are uniform and independent") {
  constexpr int kScenes = 4000;
  const Dataset digits = plain_digits();
  SearchEnvironment search = make_search(search_scene(), digits, kScenes);
  search.reset(0);
  search.end_cue();
  std::vector<int> answers(2), sizes(8), target_tiles(9), other_tiles(9), targets(kPictures),
      distractors(kPictures);
  std::vector<double> answer, size, label;
  for (const SceneFacts& facts : search.facts()) {
    ++answers.at(facts.label);
    ++sizes.at(facts.num_digits - 2);
    answer.push_back(facts.label);
    size.push_back(facts.num_digits);
    label.push_back(digits.labels(facts.sources[0]));
    const auto tile = [](const Box& box) {  // 3 x 3 tiles inside a border of a pixel
      return ((box.y + 5 - 1) * 3 / 31) * 3 + (box.x + 4 - 1) * 3 / 29;
    };
    std::set<int> used;
    for (int k = 0; k < facts.num_digits; ++k) used.insert(tile(facts.boxes[k]));
    CHECK(static_cast<int>(used.size()) == facts.num_digits);
    if (facts.label == 1) ++targets.at(facts.sources[1]);
    ++(facts.label == 1 ? target_tiles : other_tiles).at(tile(facts.boxes[0]));
    ++distractors.at(facts.sources[facts.num_digits]);
  }
  CHECK(std::abs(uniform_deviate(answers)) < 5);
  CHECK(std::abs(uniform_deviate(sizes)) < 5);
  CHECK(std::abs(uniform_deviate(target_tiles)) < 5);
  CHECK(std::abs(uniform_deviate(other_tiles)) < 5);
  CHECK(std::abs(correlation_deviate(answer, size, 0)) < 5);
  CHECK(std::abs(correlation_deviate(answer, answer, 1)) < 5);
  CHECK(std::abs(correlation_deviate(answer, label, 0)) < 5);
  // Every picture is found and is in the way.
  CHECK(std::ranges::min(targets) > 0);
  CHECK(std::ranges::min(distractors) > 0);
}

TEST_CASE("search: scenes depend on seed and number alone, not on the batch or its rollouts") {
  const Dataset digits = plain_digits();
  const SceneConfig scene = search_scene();
  SearchEnvironment batch = make_search(scene, digits, 6, 3), one = make_search(scene, digits, 1);
  SearchEnvironment other = make_search(scene, digits, 6, 3, 2);
  for (const std::uint64_t first : {0ULL, 7ULL, (1ULL << 32) + 5}) {
    batch.reset(first);
    other.reset(first);
    batch.end_cue();
    other.end_cue();
    const GuardedMatrix canvases = view_of(batch);
    CHECK_FALSE(canvases == view_of(other));
    for (int b = 0; b < 6; ++b) {
      one.reset(first + b / 3);
      one.end_cue();
      CHECK(bytes_seen(view_of(one), 0) == bytes_seen(canvases, b));
      CHECK(one.facts()[0].boxes == batch.facts()[b].boxes);
    }
    CHECK_THROWS_AS(batch.end_cue(0), std::logic_error);
  }
}

TEST_CASE("search: training distorts the cue and the display, each digit in its own way") {
  const Dataset digits = noise_digits(kPictures, 10, 9, 1, kClasses);
  const SceneConfig scene = search_scene();
  const Retina retina({4, 2, 2}, scene.canvas[0], scene.canvas[1], 1);
  const auto seen = [&](const AugmentationConfig& augmentation) {
    SearchEnvironment search(scene, augmentation, digits, DigitOrder::shuffled, retina, 1, 1, 1);
    search.reset(4);
    std::vector<std::vector<int>> both = {bytes_seen(view_of(search), 0)};
    search.end_cue();
    both.push_back(bytes_seen(view_of(search), 0));
    search.end_cue();
    CHECK(bytes_seen(view_of(search), 0) == both.back());
    return both;
  };
  const AugmentationConfig shifts{.shift = 3.0};
  CHECK(seen({})[0] != seen(shifts)[0]);
  CHECK(seen({})[1] != seen(shifts)[1]);
  CHECK(seen(shifts) == seen(shifts));
}

TEST_CASE("search: an evaluation with room for every digit shows each as the cue once") {
  const Dataset set = plain_digits();
  const Digits digits{.train = set, .valid = set, .test = set, .class_names = {}, .checksums = {}};
  const SceneConfig scene = search_scene();
  const Retina retina({4, 2, 2}, scene.canvas[0], scene.canvas[1], 1);
  for (const int scenes : {kPictures, kPictures - 1}) {
    const auto search = find_task_kind("search").make({.scene = scene,
                                                       .augmentation = {},
                                                       .digits = digits,
                                                       .retina = &retina,
                                                       .split = Split::test,
                                                       .seed = 3,
                                                       .episodes = kPictures,
                                                       .rollouts = 1,
                                                       .scenes = scenes});
    search->reset(0);
    bool in_order = true;
    for (int b = 0; b < kPictures; ++b) in_order &= search->facts()[b].sources[0] == b;
    CHECK(in_order == (scenes == kPictures));
  }
}

TEST_CASE("search: displays that do not fit, and digits that cannot be searched, are refused") {
  const auto fault = [](const SceneConfig& scene, const Dataset& digits) {
    return message_of<InputError>([&] { make_search(scene, digits, 1); });
  };
  const Dataset digits = plain_digits();
  SceneConfig scene = search_scene();
  CHECK(fault(scene, digits) == "nothing thrown");
  scene.num_digits = 10;
  CHECK(fault(scene, digits) ==
        "scene.canvas: 33 x 31 with scene.border: 1 has room for 9 digits of 10 x 9 that do not "
        "overlap, and scene.num_digits is 10; needed: scene.canvas of at least 32 x 38, or fewer "
        "digits");
  scene.canvas = {32, 38};
  CHECK(fault(scene, digits) == "nothing thrown");
  scene.canvas = {8, 8};
  CHECK(
      fault(scene, digits).starts_with("scene.canvas: 8 x 8 with scene.border: 1 has room for 0"));
  scene = search_scene();
  scene.min_digits = 10;
  CHECK(fault(scene, digits) ==
        "scene.min_digits: 10 is more than scene.num_digits: 9; allowed: 0 to 9");
  scene.num_digits = 17;
  CHECK(fault(scene, digits) == "scene.num_digits: 17; allowed: 1 to 16");
  scene.num_digits = 0;
  CHECK(fault(scene, digits) == "scene.num_digits: 0; allowed: 1 to 16");

  scene = search_scene();
  CHECK(fault(scene, noise_digits(7, 10, 9, 1, 4)) ==
        "scene.kind: search shows one picture of a class as the cue and another one to be found, "
        "but class 3 has a single one; allowed: two and more");
  CHECK(fault(scene, noise_digits(7, 10, 9, 1, 1)) ==
        "scene.kind: search needs digits of other classes than the cue's, but there are 1 classes; "
        "allowed: two and more");
  // A class without pictures is never sought.
  Dataset gap = noise_digits(8, 10, 9, 1, 4);
  gap.classes = 6;
  CHECK(fault(scene, gap) == "nothing thrown");
}

}  // namespace saccade
