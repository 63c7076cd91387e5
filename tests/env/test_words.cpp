#include "env/words.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "env/scene_config.h"
#include "tests/env/environment_calls.h"
#include "tests/support.h"

namespace saccade {
namespace {

std::string words_of(int number) {
  std::string text;
  for (const std::string& word : number_words(number)) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The number shown in an episode.
int shown(const SceneFacts& facts) {
  int number = 0;
  for (int k = 0; k < facts.length; ++k) number = 10 * number + facts.classes[k];
  return number;
}

// The numbers of scenes [first, first + count).
std::vector<int> numbers(Environment& environment, std::uint64_t first, int count) {
  std::vector<int> all;
  for (int n = 0; n < count; n += environment.episodes()) {
    environment.reset(first + n);
    for (const SceneFacts& facts : environment.facts()) all.push_back(shown(facts));
  }
  return all;
}

TEST_CASE("numbers are spelled in English") {
  CHECK(words_of(0) == "zero");
  CHECK(words_of(7) == "seven");
  CHECK(words_of(13) == "thirteen");
  CHECK(words_of(20) == "twenty");
  CHECK(words_of(21) == "twenty one");
  CHECK(words_of(99) == "ninety nine");
  CHECK(words_of(100) == "one hundred");
  CHECK(words_of(101) == "one hundred one");
  CHECK(words_of(110) == "one hundred ten");
  CHECK(words_of(999) == "nine hundred ninety nine");
  CHECK(words_of(1000) == "one thousand");
  CHECK(words_of(1234) == "one thousand two hundred thirty four");
  CHECK(words_of(9999) == "nine thousand nine hundred ninety nine");
  CHECK(words_of(40000) == "forty thousand");
  CHECK(words_of(110019) == "one hundred ten thousand nineteen");
  CHECK(words_of(500068) == "five hundred thousand sixty eight");
  CHECK(words_of(999999) == "nine hundred ninety nine thousand nine hundred ninety nine");
}

TEST_CASE("no two numbers have the same words") {
  std::set<Names> spoken;
  for (int number = 0; number < 20000; ++number) spoken.insert(number_words(number));
  CHECK(spoken.size() == 20000);
}

TEST_CASE(
    "words: an episode's symbols are the words of the number on its canvas, and the end mark") {
  for (const int max_number : {9, 57, 9999, kMaxNumber}) {
    CAPTURE(max_number);
    const int rows = static_cast<int>(std::to_string(max_number).size());
    WordsEnvironment environment(max_number, Split::train, 3, 50, 1);
    std::size_t longest = 0;
    for (int number = 0; number <= max_number; ++number)
      longest = std::max(longest, number_words(number).size());
    CHECK(environment.max_symbols() == static_cast<int>(longest) + 1);
    environment.reset(0);
    const GuardedMatrix canvases = view_of(environment);
    for (int b = 0; b < environment.episodes(); ++b) {
      std::string text;
      for (int row = 0; row < rows; ++row)
        for (int col = 0; col < 10; ++col) {
          if (canvases(b, row * 10 + col) == 0.0F) continue;
          REQUIRE(canvases(b, row * 10 + col) == 1.0F);
          REQUIRE(static_cast<int>(text.size()) == row);  // one each, from the first row on
          text += static_cast<char>('0' + col);
        }
      const SceneFacts& facts = environment.facts()[b];
      const int number = std::stoi(text);
      CHECK(std::to_string(number) == text);
      CHECK(facts.length == static_cast<int>(text.size()));
      Names spoken;
      for (int i = 0; i < facts.num_symbols; ++i) spoken.push_back(word_names()[facts.symbols[i]]);
      Names expected = number_words(number);
      expected.emplace_back("<end>");
      CHECK(spoken == expected);
    }
  }
}

TEST_CASE("words: numbers are split into 80, 10 and 10 per cent, the same for every seed") {
  for (const int max_number : {9, 10, 29, 999}) {
    CAPTURE(max_number);
    const int tenth = (max_number + 1) / 10;
    std::vector<int> all;
    for (const Split split : {Split::train, Split::valid, Split::test}) {
      WordsEnvironment environment(max_number, split, 1, 1, 1);
      CHECK(environment.size() == (split == Split::train ? max_number + 1 - 2 * tenth : tenth));
      std::vector<int> part = numbers(environment, 0, environment.size());
      std::ranges::sort(part);
      all.insert(all.end(), part.begin(), part.end());

      WordsEnvironment other(max_number, split, 2, 1, 1);
      std::vector<int> again = numbers(other, 0, other.size());
      std::ranges::sort(again);
      CHECK(again == part);
    }
    std::ranges::sort(all);
    std::vector<int> once_each(max_number + 1);
    std::iota(once_each.begin(), once_each.end(), 0);
    CHECK(all == once_each);
  }
  // Randomly: about a tenth of the validation numbers is in each tenth of the range.
  WordsEnvironment valid(9999, Split::valid, 1, 1, 1);
  for (const int least : {0, 2000, 5000, 9000}) {
    const auto part = numbers(valid, 0, valid.size());
    const auto count =
        std::ranges::count_if(part, [&](int n) { return n >= least && n < least + 1000; });
    CHECK(count > 55);
    CHECK(count < 145);
  }
}

TEST_CASE("words: training numbers come in shuffled passes, the others in a fixed order") {
  WordsEnvironment train(99, Split::train, 1, 1, 1), reseeded(99, Split::train, 2, 1, 1);
  const int size = train.size();
  std::set<std::vector<int>> orders;
  for (const int pass : {0, 1, 2, 50}) {
    orders.insert(numbers(train, static_cast<std::uint64_t>(pass) * size, size));
    orders.insert(numbers(reseeded, static_cast<std::uint64_t>(pass) * size, size));
  }
  CHECK(orders.size() == 8);
  for (const Split split : {Split::valid, Split::test}) {
    WordsEnvironment fixed(99, split, 1, 1, 1), other(99, split, 2, 1, 1);
    const std::vector<int> once = numbers(fixed, 0, 10);
    CHECK(numbers(fixed, 10, 10) == once);
    CHECK(numbers(other, 70, 10) == once);
  }
}

TEST_CASE("words: rollouts share a number, whatever the batch") {
  WordsEnvironment single(999, Split::train, 1, 1, 1), batch(999, Split::train, 1, 12, 3);
  const std::vector<int> expected = numbers(single, 100, 4);
  batch.reset(100);
  for (int b = 0; b < 12; ++b) CHECK(shown(batch.facts()[b]) == expected[b / 3]);
}

TEST_CASE("words: a largest number that leaves a split empty or has no words is refused by key") {
  const auto fault = [](int max_number) {
    return message_of<InputError>([&] { WordsEnvironment(max_number, Split::train, 1, 1, 1); });
  };
  for (const int bad : {-1, 0, 8, kMaxNumber + 1})
    CHECK(fault(bad) == "scene.max_number: " + std::to_string(bad) + "; allowed: 9 to 999999");
  CHECK(fault(9) == "nothing thrown");

  // The check of the scenes and the description of the setting have the same range.
  SceneConfig config{.kind = "digits_to_words", .max_number = 8};
  CHECK(message_of<SettingError>([&] { check(config); }) == fault(8));
  config.kind = "cluttered";  // has no effect
  CHECK_NOTHROW(check(config));
  for (const Setting& setting : describe(config))
    if (setting.key == "scene.max_number") {
      const Interval& range = std::get<Interval>(setting.allowed);
      CHECK(range.low == kLeastMaxNumber);
      CHECK(range.high == kMaxNumber);
    } else if (setting.key == "scene.num_digits") {
      CHECK(std::get<Interval>(setting.allowed).low == 1);
    }
}

}  // namespace
}  // namespace saccade
