#pragma once

#include <filesystem>
#include <string>

#include "agent/learning/checkpoint.h"
#include "experiments/runs/other_scenes.h"
#include "experiments/task/task.h"

namespace saccade {

/// Returns the run folder, or that of the shipped trained agent of this name ("soft60").
std::filesystem::path find_run_folder(const std::filesystem::path& given);

/// Returns the best checkpoint of a run folder or trained agent, or the last one if there is no
/// best yet; a .safetensors file is returned as it is. Throws InputError for a folder without
/// either.
std::filesystem::path find_checkpoint(const std::filesystem::path& run_folder);

/// A trained agent loaded from its run folder: the task it learned and the weights that were best
/// on the validation scenes (the last ones if there is no best yet), averaged as for evaluation.
struct Trained {
  /// Throws InputError for a folder without a checkpoint, or a checkpoint that cannot be used. With
  /// `data`, a name of digit_sources(), it reads digits of that source instead of its own; with
  /// `scenes` its scenes are others, as far as with_scenes() and check_same_agent() allow.
  explicit Trained(const std::filesystem::path& run_folder, const std::string& data = "",
                   const SceneOverrides& scenes = {});

  const Task task;
  const Tensor<1> weights;                      // one block of task.model.layout()
  const std::vector<Difference> from_training;  // scene_differences() of `task`

 private:
  Trained(const Checkpoint& checkpoint, const std::filesystem::path& run_folder,
          const std::string& data, const SceneOverrides& scenes);
  Trained(const Config& own, const Checkpoint& checkpoint, const std::string& data,
          const SceneOverrides& scenes);
};

}  // namespace saccade
