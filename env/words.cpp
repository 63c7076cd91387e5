#include "env/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/error.h"
#include "env/scene.h"

namespace saccade {
namespace {

// Symbols: 0 .. 19 stand for themselves, followed by the tens from twenty on.
constexpr int kTwenty = 20, kHundred = 28, kThousand = 29, kEnd = 30;

// The splits do not depend on the seed, so that all runs are tested on the same numbers.
constexpr std::uint64_t kPartingSeed = 1;

// Writes the symbols of a number below 1000, none for 0. Returns how many.
int write_hundreds(int number, int* symbols) {
  int count = 0;
  if (number >= 100) {
    symbols[count++] = number / 100;
    symbols[count++] = kHundred;
  }
  int rest = number % 100;
  if (rest >= 20) {
    symbols[count++] = kTwenty + rest / 10 - 2;
    rest %= 10;
  }
  if (rest > 0) symbols[count++] = rest;
  return count;
}

// Writes the symbols of a number without the end mark. Returns how many.
int write_number(int number, std::span<int, kMaxSymbols> symbols) {
  SACCADE_CHECK(number >= 0 && number <= kMaxNumber);
  symbols[0] = 0;
  if (number == 0) return 1;
  int count = 0;
  if (number >= 1000) {
    count = write_hundreds(number / 1000, symbols.data());
    symbols[count++] = kThousand;
  }
  return count + write_hundreds(number % 1000, symbols.data() + count);
}

int count_digits(int number) {
  int count = 1;
  for (; number >= 10; number /= 10) ++count;
  return count;
}

int longest_words(int max_number) {
  std::array<int, kMaxSymbols> symbols{};
  int longest = 0;
  for (int number = 0; number <= max_number; ++number)
    longest = std::max(longest, write_number(number, symbols));
  return longest;
}

}  // namespace

const std::vector<std::string>& word_names() {
  static const std::vector<std::string> names = {
      "zero",    "one",       "two",      "three",    "four",    "five",     "six",      "seven",
      "eight",   "nine",      "ten",      "eleven",   "twelve",  "thirteen", "fourteen", "fifteen",
      "sixteen", "seventeen", "eighteen", "nineteen", "twenty",  "thirty",   "forty",    "fifty",
      "sixty",   "seventy",   "eighty",   "ninety",   "hundred", "thousand", "<end>"};
  return names;
}

std::vector<std::string> number_words(int number) {
  std::array<int, kMaxSymbols> symbols{};
  const int count = write_number(number, symbols);
  std::vector<std::string> words;
  for (int i = 0; i < count; ++i) words.push_back(word_names()[symbols[i]]);
  return words;
}

int held_out_numbers(int max_number) { return (max_number + 1) / 10; }

void check_max_number(int max_number) {
  if (max_number < kLeastMaxNumber || max_number > kMaxNumber)
    throw SettingError({"scene.max_number"}, fmt::format("scene.max_number: {}; allowed: {} to {}",
                                                         max_number, kLeastMaxNumber, kMaxNumber));
}

EnvironmentSizes word_sizes(int max_number) {
  check_max_number(max_number);
  return {.num_classes = static_cast<int>(word_names().size()),
          .canvas = {1, count_digits(max_number), 10},
          .max_symbols = longest_words(max_number) + 1};
}

WordsEnvironment::WordsEnvironment(int max_number, Split split, std::uint64_t seed, int episodes,
                                   int rollouts)
    : sizes_(word_sizes(max_number)),
      parting_(max_number + 1, kPartingSeed, Purpose::number_split, 0),
      split_(split),
      seed_(seed),
      rollouts_(rollouts),
      facts_(episodes) {
  SACCADE_CHECK(episodes % rollouts == 0);
  const int tenth = held_out_numbers(max_number), train = max_number + 1 - 2 * tenth;
  first_ = split == Split::train ? 0 : split == Split::valid ? train : train + tenth;
  size_ = split == Split::train ? train : tenth;
}

void WordsEnvironment::begin(std::uint64_t first_scene) {
  for (int s = 0; s < episodes() / rollouts_; ++s)
    std::fill_n(facts_.begin() + static_cast<std::ptrdiff_t>(s) * rollouts_, rollouts_,
                describe(pick_number(first_scene + s)));
}

int WordsEnvironment::pick_number(std::uint64_t scene) const {
  const DigitOrder order = split_ == Split::train ? DigitOrder::shuffled : DigitOrder::fixed;
  return parting_(first_ + digit_at(scene, size_, order, seed_));
}

SceneFacts WordsEnvironment::describe(int number) const {
  SceneFacts facts;
  facts.sources[0] = number;
  facts.num_sources = 1;
  facts.num_digits = facts.length = count_digits(number);
  for (int k = facts.length - 1, rest = number; k >= 0; --k, rest /= 10) {
    facts.boxes[k] = {.x = 0, .y = k, .width = canvas().cols, .height = 1};
    facts.regions[k] = to_region(facts.boxes[k], canvas().cols, canvas().rows);
    facts.classes[k] = rest % 10;
    facts.is_answer[k] = true;
  }
  const int words = write_number(number, facts.symbols);
  facts.symbols[words] = kEnd;
  facts.num_symbols = words + 1;
  return facts;
}

void WordsEnvironment::observe_canvases(Matrix canvases) {
  for (int b = 0; b < episodes(); ++b) {
    float* canvas = canvases.row(b);  // (rows, 10)
    std::fill_n(canvas, canvases.cols, 0.0F);
    for (int k = 0; k < facts_[b].length; ++k) canvas[k * 10 + facts_[b].classes[k]] = 1.0F;
  }
}

}  // namespace saccade
