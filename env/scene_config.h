#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/own_settings.h"
#include "base/setting.h"

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

/// Resets settings that have no effect with the kind: of distractors, the label of several digits,
/// a varying number of digits, their size, a target.
void settle(SceneConfig& config);

/// Throws InputError naming the keys of settings that contradict each other, whatever the digits.
void check(const SceneConfig& config);

}  // namespace saccade
