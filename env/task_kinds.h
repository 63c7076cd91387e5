#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/own_settings.h"
#include "env/augmentation.h"
#include "env/digits.h"
#include "env/environment.h"
#include "env/scene_config.h"
#include "env/scene_source.h"
#include "env/split.h"

namespace saccade {

/// Arguments for making a task's environment.
struct EnvironmentRequest {
  const SceneConfig& scene;
  const AugmentationConfig& augmentation;  // applied to training digits
  const Digits& digits;                    // for tasks with digits
  const Retina* retina;                    // null for tasks without glimpses
  Split split;
  std::uint64_t seed;
  int episodes;
  int rollouts;
  int scenes = 0;                 // number of evaluation scenes; 0: unlimited
  SceneSource* source = nullptr;  // of the split, for tasks whose scenes are given (is_own), or
  const OwnWorldMaker* world = nullptr;  // if it gives glimpses
};

/// A task, named by scene.kind: makes its environments and describes them. What the agent has to
/// answer follows from the task.
struct TaskKind {
  /// Makes an environment. Training shows fresh scenes of shuffled and augmented digits; the other
  /// splits are fixed. An evaluation with room for every digit shows them in dataset order, so that
  /// each counts equally; a smaller one shows a random sample keyed by its seed, because the first
  /// digits of a set are not representative (in a folder they are of one class; the first MNIST
  /// test digits are the harder ones).
  std::unique_ptr<Environment> (*make)(const EnvironmentRequest& request);
  /// Returns the sizes of these environments. Throws InputError for scenes that cannot be made,
  /// with digits like these.
  EnvironmentSizes (*sizes)(const SceneConfig& scene, const Dataset& digits);
  /// Returns the name of a class, symbol or action, given the names of the digits' classes.
  std::string (*answer_name)(const SceneConfig& scene, const std::vector<std::string>& digit_names,
                             int label);
  /// Returns how many of the test scenes 0, 1, ... differ, given the number of test digits, if
  /// their contents repeat and nothing else varies; 0: no two are the same.
  std::int64_t (*distinct)(const SceneConfig& scene, int digits) = nullptr;
  AnswerKind answer = AnswerKind::one_class;
  bool has_digits = false;      // scenes are made from data.*
  bool has_shades = false;      // pixels are not just black and white: data.mean, deviation apply
  bool is_text = false;         // one character per row, viewed whole: there are no glimpses
  bool is_tiled = false;        // digits lie in the tiles of tile_grid(scene.num_digits)
  bool counts_digits = false;   // an episode counts as many looks as it has digits
  bool has_cue = false;         // the first look sees a cue (Environment::end_cue)
  bool is_own = false;          // scenes come from a program; `make` throws InputError without a
                                // source, or a world
  bool gives_glimpses = false;  // glimpses come from a program: there is no canvas and no retina
  /// For actions alone: the least number of acts before one can earn a reward, and the name of that
  /// event; null if it is not known.
  int (*first_event)(const SceneConfig& scene) = nullptr;
  const char* event = "";

  /// Whether the agent acts in the world, which moves it.
  bool acts() const { return answer == AnswerKind::actions; }
  /// Whether the world changes during an episode.
  bool moves() const { return acts() || has_cue; }
};

/// Throws InputError listing the valid names.
const TaskKind& find_task_kind(const std::string& name);
/// The allowed values of scene.kind: scene_kinds(), then the environments with code of their own.
std::vector<std::string> task_kinds();

/// TaskKind::make of an environment that is made from a request.
template <class T>
std::unique_ptr<Environment> make_environment(const EnvironmentRequest& request) {
  return std::make_unique<T>(request);
}

/// Adds a task of the program that calls it, before anything else is called: worlds of its own,
/// with settings scene.<name>.<..> that its functions read from scene.own. Throws as NameTable::add
/// and add_own_settings do, and InputError for a kind without make, sizes or answer_name, or with a
/// first_event though its answers are not actions.
void register_task_kind(const std::string& name, const TaskKind& kind,
                        const std::vector<OwnSetting>& settings = {});

}  // namespace saccade
