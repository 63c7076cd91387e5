#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "env/environment.h"
#include "env/split.h"

namespace saccade {

/// What environments of a task are made of, and which.
struct EnvironmentRequest {
  const SceneConfig& scene;
  const AugmentationConfig& augmentation;  // of the training digits
  const Digits& digits;                    // where the task has digits
  const Retina* retina;                    // where there is something to look at
  Split split;
  std::uint64_t seed;
  int episodes;
  int rollouts;
  int scenes = 0;  // of the evaluation that this is; 0: there is no end to them
};

/// What is to be learned, by its name scene.kind: what makes its environments, and what is true of
/// all of them. What a task asks of the agent follows from that.
struct TaskKind {
  /// Training shows fresh scenes, its digits shuffled and augmented; the other parts are fixed. An
  /// evaluation that has room for every digit shows them as they stand, so that all count alike; a
  /// smaller one shows a random sample of them by its seed, since the first ones of a set are not
  /// like the rest (a folder's are of one class, and of MNIST's test digits the harder ones).
  std::unique_ptr<Environment> (*make)(const EnvironmentRequest& request);
  /// A class, symbol or action in words, from the names of the digits' classes.
  std::string (*answer_name)(const SceneConfig& scene, const std::vector<std::string>& digit_names,
                             int label);
  /// How many of the test scenes 0, 1, ... differ, where what they show comes again and is all
  /// there is to them, of a test set of so many digits; 0: no two are the same.
  std::int64_t (*distinct)(const SceneConfig& scene, int digits) = nullptr;
  AnswerKind answer = AnswerKind::one_class;
  bool has_digits = false;  // scenes are made of data.*
  bool is_text = false;     // a row a character: it is read whole, there is nothing to look at
  bool is_tiled = false;    // digits lie in the tiles of tile_grid(scene.num_digits)
  /// Of actions: how many there are at least until one earns something, and what that one does.
  int (*first_event)(const SceneConfig& scene) = nullptr;
  const char* event = "";

  /// Whether the world moves while it is looked at.
  bool moves() const { return answer == AnswerKind::actions; }
};

/// Throws InputError listing the names.
const TaskKind& find_task_kind(const std::string& name);
/// The names that scene.kind takes: those of scene_kinds(), then environments of their own.
std::vector<std::string> task_kinds();

}  // namespace saccade
