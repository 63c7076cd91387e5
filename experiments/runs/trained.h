#pragma once

#include <filesystem>
#include <string>

#include "agent/learning/checkpoint.h"
#include "experiments/task/task.h"

namespace saccade {

/// The best checkpoint of a run folder; the last one, where there is no best yet; a .safetensors
/// file stands for itself. Throws InputError for a folder without either.
std::filesystem::path find_checkpoint(const std::filesystem::path& run_folder);

/// A trained agent from its run folder: the task it learned and the weights that were best on the
/// validation scenes (the last ones, where there are no best yet), averaged as for evaluation.
struct Trained {
  /// Throws InputError for a folder without a checkpoint, or a checkpoint that cannot be used.
  explicit Trained(const std::filesystem::path& run_folder);

  const Task task;
  const Tensor<1> weights;  // one block of task.model.layout()

 private:
  Trained(const Checkpoint& checkpoint, const std::string& origin);
};

}  // namespace saccade
