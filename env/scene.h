#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/area_resize.h"
#include "env/augmentation.h"
#include "env/digits.h"
#include "env/scene_config.h"
#include "env/scene_facts.h"
#include "nn/random.h"

namespace saccade {

struct SceneKind;

/// In which order scenes show the digits of a set.
enum class DigitOrder {
  shuffled,  // a new random permutation in every pass over the set
  fixed,     // as they stand
};

/// Draws the number of digits of a scene: uniform in [min_digits, num_digits]; num_digits without a
/// random number if it does not vary.
int draw_digit_count(const SceneConfig& config, RandomStream& stream);

/// Returns the digit at a position of the endless sequence of passes over a set of `size` digits.
/// Each 2^32 positions begin anywhere in it, so that the environments of all seeds show all digits.
int digit_at(std::uint64_t position, int size, DigitOrder order, std::uint64_t seed);

/// Makes scenes by the rule of deepmind/mnist-cluttered: from black, distractors first - each a
/// square cut at a uniform corner of a uniformly drawn digit of the same split, added at a uniform
/// corner of the canvas - then the digits at uniform corners; after each addition pixels are
/// clamped to white. All corners are inclusive ranges. Pixels are bytes (255 = 1.0), so the sums
/// are exact. With a digit_scale other than 1, digits are resized (AreaResize) before they are
/// added; distractors are not.
///
/// A bag has n digits, n uniform in [min_digits, num_digits]: digit k in the middle of tile k of
/// tile_grid(num_digits); the other tiles and all between are black. Its label is the largest
/// class, the answer are all digits of that class, and the episode is n steps long.
///
/// transcribe has n digits, drawn alike, whose columns do not overlap: along x all such placements
/// are equally likely, along y all places. The symbols are their classes from left to right, then
/// the end mark, which is the last of num_classes() symbols; the label is 0.
///
/// Scenes are numbered: scene n of a seed is the same whoever asks for it, in whatever batch.
class SceneMaker {
 public:
  /// The memory that one scene is made in.
  struct Buffer {
    std::vector<std::uint8_t> canvas;  // (channels, rows, cols)
    std::vector<std::uint8_t> digit;   // (rows, cols, channels) of one distorted digit
    Augmentation::Scratch scratch;
    std::optional<ByteResize> resize;  // if digits are not as large as their images
  };

  /// Keeps a reference to `digits`. Settles the configuration and throws InputError as check()
  /// does, and naming the keys of what these digits do not fit.
  SceneMaker(const SceneConfig& config, const AugmentationConfig& augmentation,
             const Dataset& digits, DigitOrder order, std::uint64_t seed);

  int rows() const { return config_.canvas[0]; }
  int cols() const { return config_.canvas[1]; }
  int channels() const { return digits_.channels(); }
  int num_classes() const { return classes_; }
  int max_symbols() const { return max_symbols_; }  // 0: the answer is a class

  Buffer make_buffer() const;
  /// Draws scene `number` into buffer.canvas.
  SceneFacts make(std::uint64_t number, Buffer& buffer) const;

 private:
  void check_distractors() const;
  void add_distractors(Buffer& buffer, RandomStream& stream, RandomStream& distortion) const;
  const std::uint8_t* distorted(const std::uint8_t* pixels, RandomStream& distortion,
                                Buffer& buffer) const;
  void add_digit(int index, const Box& box, RandomStream& distortion, Buffer& buffer) const;
  void set_answer(SceneFacts& facts) const;

  const SceneKind* kind_;
  SceneConfig config_;
  Augmentation augmentation_;
  const Dataset& digits_;
  DigitOrder order_;
  std::uint64_t seed_;
  Box digit_;  // size of a digit on the canvas
  int (*label_)(std::span<const int> digit_labels);
  int classes_;
  int max_symbols_ = 0;
};

}  // namespace saccade
