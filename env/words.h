#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/environment.h"
#include "env/split.h"

namespace saccade {

constexpr int kMaxNumber = 999999;

/// The words of a number in English, without "and" and hyphens: 1234 is "one", "thousand", "two",
/// "hundred", "thirty", "four". 0 <= number <= kMaxNumber.
std::vector<std::string> number_words(int number);

/// The names of all symbols, whatever the largest number: the words, and last the end mark,
/// "<end>".
const std::vector<std::string>& word_names();

/// How many of the numbers 0 .. max_number are for validation, and as many for testing.
int held_out_numbers(int max_number);

/// Numbers to words (scene.kind: digits_to_words): a sequence task without images.
///
/// An episode shows the decimal text of a number as a canvas (1, rows, 10), rows being the digits
/// of the largest number: row k is the one-hot of the k-th character, rows after the text are
/// black, and facts().length is the number of characters. It can be viewed and not looked at. The
/// answer are the words of the number and the end mark. In the facts each character is a digit
/// whose box is its row; the label is 0.
///
/// The numbers 0 .. max_number are parted at random, once and for all seeds: a tenth (rounded down)
/// is for validation, a tenth for testing, the rest to learn from. Scenes number the training
/// numbers in passes, each in a random order of its own keyed by the seed, and those of the other
/// parts in a fixed order again and again.
class WordsEnvironment final : public Environment {
 public:
  /// `rollouts` (M) episodes in a row share a number, so that B episodes use B / M scenes; episodes
  /// is a multiple of rollouts. Throws InputError (scene.max_number) unless 9 <= max_number <=
  /// kMaxNumber: of fewer than ten numbers a part would be empty.
  WordsEnvironment(int max_number, Split split, std::uint64_t seed, int episodes, int rollouts);

  int episodes() const override { return static_cast<int>(facts_.size()); }
  int glimpse_size() const override { return 0; }
  int num_classes() const override { return static_cast<int>(word_names().size()); }
  CanvasSize canvas() const override { return {1, rows_, 10}; }
  AnswerKind answer_kind() const override { return AnswerKind::sequence; }
  int max_symbols() const override { return max_symbols_; }
  std::span<const SceneFacts> facts() const override { return facts_; }

  /// How many numbers are in this part.
  int size() const { return size_; }

 private:
  void begin(std::uint64_t first_scene) override;
  void observe_canvases(Matrix canvases) override;
  int pick_number(std::uint64_t scene) const;
  SceneFacts describe(int number) const;

  RandomPermutation parting_;  // of 0 .. max_number
  Split split_;
  std::uint64_t seed_;
  int rollouts_;
  int first_, size_;  // of this part, in the permutation
  int rows_, max_symbols_;
  std::vector<SceneFacts> facts_;  // (B)
};

}  // namespace saccade
