#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/environment.h"
#include "env/split.h"
#include "nn/random.h"

namespace saccade {

/// The range of the largest number: with fewer than ten numbers a split would be empty.
inline constexpr int kLeastMaxNumber = 9;
inline constexpr int kMaxNumber = 999999;

/// Throws SettingError (scene.max_number) for a largest number out of that range.
void check_max_number(int max_number);

/// Returns the English words of a number, without "and" and hyphens: 1234 is "one", "thousand",
/// "two", "hundred", "thirty", "four". 0 <= number <= kMaxNumber.
std::vector<std::string> number_words(int number);

/// The names of all symbols, for any largest number: the words, then the end mark "<end>".
const std::vector<std::string>& word_names();

/// How many of the numbers 0 .. max_number are for validation; the test split has as many.
int held_out_numbers(int max_number);

/// The sizes of a WordsEnvironment. Throws as check_max_number().
EnvironmentSizes word_sizes(int max_number);

/// Numbers to words (scene.kind: digits_to_words): a sequence task without images.
///
/// An episode shows the decimal text of a number as a canvas (1, rows, 10), where rows is the
/// number of digits of the largest number: row k is the one-hot code of the k-th character, rows
/// after the text are black, and facts().length is the number of characters. It supports viewing
/// but not looking. The answer is the words of the number and the end mark. In the facts each
/// character is a digit whose box is its row; the label is 0.
///
/// The numbers 0 .. max_number are split at random, in the same way for all seeds: a tenth (rounded
/// down) for validation, a tenth for testing, the rest for training. Training scenes go through the
/// training numbers in passes, each in a random order keyed by the seed; the other splits repeat
/// one fixed order.
class WordsEnvironment final : public Environment {
 public:
  /// `rollouts` (M) consecutive episodes share a number, so that B episodes use B / M scenes;
  /// episodes is a multiple of rollouts. Throws as check_max_number().
  WordsEnvironment(int max_number, Split split, std::uint64_t seed, int episodes, int rollouts);

  int episodes() const override { return static_cast<int>(facts_.size()); }
  int glimpse_size() const override { return 0; }
  int num_classes() const override { return sizes_.num_classes; }
  CanvasSize canvas() const override { return sizes_.canvas; }
  AnswerKind answer_kind() const override { return AnswerKind::sequence; }
  int max_symbols() const override { return sizes_.max_symbols; }
  std::span<const SceneFacts> facts() const override { return facts_; }

  /// The number of numbers in this split.
  int size() const { return size_; }

 private:
  void begin(std::uint64_t first_scene) override;
  void observe_canvases(Matrix canvases) override;
  int pick_number(std::uint64_t scene) const;
  SceneFacts describe(int number) const;

  EnvironmentSizes sizes_;
  RandomPermutation parting_;  // permutation of 0 .. max_number
  Split split_;
  std::uint64_t seed_;
  int rollouts_;
  int first_, size_;               // of this split, within the permutation
  std::vector<SceneFacts> facts_;  // (B)
};

}  // namespace saccade
