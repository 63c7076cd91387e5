#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/own_settings.h"
#include "base/setting.h"
#include "env/area_resize.h"
#include "env/augmentation.h"
#include "env/digits.h"
#include "env/scene_facts.h"
#include "nn/random.h"

namespace saccade {

/// Keys: scene.*
struct SceneConfig {
  std::string kind = "cluttered";        // a name of task_kinds()
  std::array<int, 2> canvas = {60, 60};  // rows, cols in pixels
  int num_digits = 1;                    // 1-4; bag, transcribe, search: the most, 1-16
  int min_digits = 0;                    // bag, transcribe, search: 0: always num_digits
  std::string label = "sum";             // of two digits and more: a name of scene_labels();
                                         // bag and transcribe have answers of their own
  int num_distractors = 4;               // cluttered and transcribe only
  int distractor_size = 8;               // side in pixels, at most the digit's
  double digit_scale = 1.0;              // sides of a digit, relative to its image; [0.25, 4]
  int border = 0;                        // pixels at each edge of the canvas that are left free
  std::string target = "shape";          // search: a name of search_targets()
  int max_number = 9999;                 // digits_to_words: 9-999999
  std::vector<std::string> classes = default_classes();  // own: their names; the labels, in order
  int channels = 1;                                      // own: of the canvases, 1 or 3 (RGB)
  int glimpse_size = 1;                                  // own_world, own_game: D
  double best_return = 1.0;                              // own_game: of an episode
  OwnValues own = {};                                    // scene.<kind>.*, of registered kinds

  static std::vector<std::string> default_classes();  // the digits, 0 to 9
};

Settings describe(SceneConfig& config);

/// Resets what the kind has none of: distractors, a label of all digits, a varying number or size
/// of digits, a target.
void settle(SceneConfig& config);

/// Throws InputError naming the keys of what contradicts each other, whatever the digits.
void check(const SceneConfig& config);

/// `centered` (digits side by side in the middle), `translated` (each digit at a uniform place),
/// `cluttered` (translated, over distractors); `bag` (digits in tiles: which is the largest?),
/// `transcribe` (digits from left to right over distractors: which are they?). The kinds of scenes
/// with digits; env/task_kinds.h has the others as well.
std::vector<std::string> scene_kinds();
/// Whether scenes of a task have distractors.
bool has_clutter(const std::string& kind);
/// `sum` (9 n + 1 classes for n sets of 10 classes), `pair` (unordered pair of two digits: 55).
std::vector<std::string> scene_labels();

/// What is true of all scenes of a kind.
struct SceneTraits {
  bool sequence = false;       // the answer is one, else a class
  bool tiled = false;          // digits lie in the tiles of tile_grid(num_digits)
  bool counts_digits = false;  // an episode counts as many looks as it has digits
};
SceneTraits scene_traits(const std::string& kind);

/// A class or symbol of such scenes in words, from the names of the digits' classes: that of a
/// digit, "<end>"; of several the sum, or the two of a pair, "1+2".
std::string scene_answer_name(const SceneConfig& config,
                              const std::vector<std::string>& digit_names, int label);

/// Scenes 0, 1, ... that differ, where the digits in their order are all there is to a scene and
/// are shown again after so many; 0: no two are the same.
std::int64_t distinct_scenes(const SceneConfig& config, int digits);

/// The parts of a canvas: rows x cols equal tiles, row by row from the upper left.
struct TileGrid {
  int rows = 1;
  int cols = 1;
};

/// Tiles for `count` > 0 digits: floor(sqrt(count)) rows, and as many columns as that takes. The
/// policy `scan` walks `count` glimpses over their centres by the same rule.
TileGrid tile_grid(int count);

/// In which order scenes show the digits of a set.
enum class DigitOrder {
  shuffled,  // a new random permutation in every pass over the set
  fixed,     // as they stand
};

/// Draws the number of digits of a scene: uniform in [min_digits, num_digits]; num_digits without a
/// random number if it does not vary.
int draw_digit_count(const SceneConfig& config, RandomStream& stream);

/// Returns the digit at a position of the endless sequence of passes over a set of `size` digits.
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

  /// The place of the digits and what is asked about them, by the name of the kind.
  struct Kind;

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

  const Kind* kind_;
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
