#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "env/scene.h"
#include "tests/env/digit_fixtures.h"

// Identity of scenes: numbers, random streams, digit order and labels.
namespace saccade {
namespace {

TEST_CASE("scene n is the same for every maker, and differs from all others") {
  const Dataset digits = noise_digits(7, 5, 5, 1, 7);
  const SceneConfig config{.canvas = {20, 20}, .num_distractors = 2, .distractor_size = 4};
  for (const AugmentationConfig& augmentation :
       {AugmentationConfig{}, AugmentationConfig{.rotation = 20.0, .shift = 1.0}}) {
    const SceneMaker maker(config, augmentation, digits, DigitOrder::shuffled, 1);
    std::map<std::uint64_t, Scene> scenes;
    std::set<std::vector<std::uint8_t>> canvases;
    constexpr auto kFar = (1ULL << 32) + 3;  // equals scene 3 in its lower half
    for (const std::uint64_t n : {0ULL, 1ULL, 2ULL, 3ULL, 100ULL, 1ULL << 40, kFar}) {
      scenes[n] = draw(maker, n);
      canvases.insert(scenes[n].canvas);
    }
    CHECK(canvases.size() == scenes.size());
    CHECK(scenes[3].facts.boxes != scenes[kFar].facts.boxes);
    CHECK(draw(SceneMaker(config, augmentation, digits, DigitOrder::shuffled, 2), 3).canvas !=
          scenes[3].canvas);

    // In one buffer, in another order, by another maker with the same settings.
    const SceneMaker other(config, augmentation, digits, DigitOrder::shuffled, 1);
    SceneMaker::Buffer buffer = other.make_buffer();
    for (const std::uint64_t n : {3ULL, 0ULL, 1ULL << 40, 3ULL, kFar, 100ULL}) {
      const SceneFacts facts = other.make(n, buffer);
      CHECK(buffer.canvas == scenes[n].canvas);
      CHECK(facts.boxes == scenes[n].facts.boxes);
      CHECK(facts.label == scenes[n].facts.label);
    }
  }
}

TEST_CASE("distortions change the digit but not its place") {
  const Dataset digits = noise_digits(7, 9, 9, 1, 7);
  const SceneConfig config{.canvas = {30, 30}, .num_distractors = 2, .distractor_size = 4};
  const SceneMaker plain(config, {}, digits, DigitOrder::fixed, 1);
  const SceneMaker distorted(config, {.rotation = 30.0, .distractors = false}, digits,
                             DigitOrder::fixed, 1);
  for (std::uint64_t n = 0; n < 20; ++n) {
    const Scene a = draw(plain, n), b = draw(distorted, n);
    CHECK(a.facts.boxes == b.facts.boxes);
    CHECK(a.facts.label == b.facts.label);
    CHECK(a.canvas != b.canvas);
    const Box& box = a.facts.boxes[0];
    for (int y = 0; y < 30; ++y)
      for (int x = 0; x < 30; ++x) {
        const bool in_box =
            x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
        if (!in_box) REQUIRE(a.canvas[y * 30 + x] == b.canvas[y * 30 + x]);
      }
  }
}

// By how far it smooths black and white digits, an agent would tell them from distractors that are
// not distorted.
TEST_CASE("distractors are distorted as digits are, at the same places") {
  Dataset digits = noise_digits(7, 9, 9, 1, 7);
  for (std::uint8_t& pixel : digits.images) pixel = pixel < 128 ? 0 : 255;
  const SceneConfig config{.canvas = {40, 40}, .num_distractors = 3, .distractor_size = 5};
  const auto maker = [&](const AugmentationConfig& augmentation) {
    return SceneMaker(config, augmentation, digits, DigitOrder::fixed, 1);
  };
  // Grey pixels outside the box of the digit.
  const auto greys = [&](const Scene& scene) {
    const Box& box = scene.facts.boxes[0];
    int count = 0;
    for (int i = 0; i < 40 * 40; ++i) {
      const int y = i / 40, x = i % 40;
      const bool in_box =
          x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
      count += !in_box && scene.canvas[i] > 0 && scene.canvas[i] < 255;
    }
    return count;
  };
  for (std::uint64_t n = 0; n < 20; ++n) {
    const Scene crisp = draw(maker({.shift = 1.0, .distractors = false}), n);
    const Scene smooth = draw(maker({.shift = 1.0}), n);
    CHECK(greys(crisp) == 0);
    CHECK(greys(smooth) > 10);
    CHECK(crisp.facts.boxes == smooth.facts.boxes);
    CHECK(greys(draw(maker({}), n)) == 0);
    // The digit, which is added last, has the same pixels where no distractor is below.
    const Box& box = crisp.facts.boxes[0];
    int same = 0;
    for (int y = box.y; y < box.y + box.height; ++y)
      for (int x = box.x; x < box.x + box.width; ++x)
        same += crisp.canvas[y * 40 + x] == smooth.canvas[y * 40 + x];
    CHECK(same > 9 * 9 / 3);
  }
}

TEST_CASE("distortions have their own random streams") {
  constexpr int kSide = 9;
  constexpr std::uint64_t kSeed = 4;
  const Dataset digits = noise_digits(7, kSide, kSide, 1, 7);
  const AugmentationConfig augmentation{.rotation = 30.0, .shift = 2.0};
  const SceneMaker maker({.kind = "translated", .canvas = {20, 20}}, augmentation, digits,
                         DigitOrder::fixed, kSeed);
  std::vector<std::uint8_t> digit(kSide * kSide);
  Augmentation::Scratch scratch(kSide, kSide);
  for (const std::uint64_t n : {0ULL, 5ULL, (7ULL << 32) + 5}) {
    RandomStream stream(kSeed, Purpose::augmentation, static_cast<std::uint32_t>(n >> 32),
                        static_cast<std::uint32_t>(n));
    Augmentation(augmentation)
        .apply(digit,
               {&digits.images(digit_at(n, 7, DigitOrder::fixed, kSeed), 0, 0, 0), digit.size()}, 1,
               stream, scratch);
    const Scene scene = draw(maker, n);
    const Box& box = scene.facts.boxes[0];
    for (int i = 0; i < kSide * kSide; ++i)
      REQUIRE(scene.canvas[(box.y + i / kSide) * 20 + box.x + i % kSide] == digit[i]);
  }
}

// Labels of scenes [first, first + count) with one digit each.
std::vector<int> labels(const SceneMaker& maker, int first, int count) {
  std::vector<int> all;
  for (int n = 0; n < count; ++n) all.push_back(draw(maker, first + n).facts.label);
  return all;
}

TEST_CASE("digits come in file order, or in a random order per pass") {
  constexpr int kDigits = 23;
  const Dataset digits = noise_digits(kDigits, 4, 4, 1, kDigits);  // every digit is its own class
  const SceneConfig config{.kind = "translated", .canvas = {8, 8}};
  std::vector<int> in_order(kDigits);
  std::iota(in_order.begin(), in_order.end(), 0);

  const SceneMaker fixed(config, {}, digits, DigitOrder::fixed, 1);
  CHECK(labels(fixed, 0, kDigits) == in_order);
  CHECK(labels(fixed, 5 * kDigits, kDigits) == in_order);

  const SceneMaker shuffled(config, {}, digits, DigitOrder::shuffled, 1);
  std::set<std::vector<int>> orders = {in_order};
  for (int pass = 0; pass < 5; ++pass) {
    std::vector<int> order = labels(shuffled, pass * kDigits, kDigits);
    CHECK(orders.insert(order).second);
    std::ranges::sort(order);
    CHECK(order == in_order);
  }
}

TEST_CASE("labels of several digits are their sum or their unordered pair") {
  const Dataset digits = noise_digits(30, 3, 3, 1, 10);
  const auto maker = [&](int count, const std::string& label) {
    return SceneMaker({.kind = "centered", .canvas = {12, 12}, .num_digits = count, .label = label},
                      {}, digits, DigitOrder::shuffled, 1);
  };
  CHECK(maker(1, "sum").num_classes() == 10);
  CHECK(maker(2, "sum").num_classes() == 19);
  CHECK(maker(4, "sum").num_classes() == 37);
  CHECK(maker(2, "pair").num_classes() == 55);

  // Scenes with one digit reveal the order in which the same seed shows digits.
  const std::vector<int> singles = labels(maker(1, "sum"), 0, 4000);
  for (const int count : {2, 3, 4}) {
    const SceneMaker sums = maker(count, "sum");
    for (int n = 0; n < 100; ++n) {
      int sum = 0;
      for (int k = 0; k < count; ++k) sum += singles[n * count + k];
      REQUIRE(draw(sums, n).facts.label == sum);
    }
  }
  const SceneMaker pairs = maker(2, "pair");
  std::map<std::set<int>, int> label_of;
  std::set<int> used;
  for (int n = 0; n < 2000; ++n) {
    const int label = draw(pairs, n).facts.label;
    const std::set<int> pair = {singles[2 * n], singles[2 * n + 1]};
    REQUIRE(label_of.emplace(pair, label).first->second == label);
    used.insert(label);
  }
  CHECK(label_of.size() == 55);
  CHECK(used.size() == 55);
  CHECK(*used.begin() == 0);
  CHECK(*used.rbegin() == 54);
}

}  // namespace
}  // namespace saccade
