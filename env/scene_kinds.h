#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/name_table.h"
#include "env/scene_config.h"
#include "env/scene_layout.h"

namespace saccade {

/// What a scene asks about its digits.
enum class Question { label, largest, sequence };

/// A kind of scenes with digits.
struct SceneKind {
  Layout layout;
  bool clutter;  // whether there are distractors
  Question question;
  int max_digits;
};

const NameTable<SceneKind>& scene_kind_table();
/// Null for tasks with code of their own. Throws InputError for what is no task.
const SceneKind* find_scene_kind(const std::string& name);

/// How the classes of a scene's digits combine into one label, and how many labels there are.
struct Labelling {
  int (*classes)(int digit_classes, int num_digits);
  int (*label)(std::span<const int> digit_labels);
  std::string (*name)(const std::vector<std::string>& digit_names, int label);
  int num_digits = 0;  // required number of digits; 0: any
};

const NameTable<Labelling>& labellings();

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

}  // namespace saccade
