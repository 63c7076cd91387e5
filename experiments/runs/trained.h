#pragma once

#include <filesystem>
#include <string>

#include "agent/learning/checkpoint.h"
#include "experiments/task/task.h"

namespace saccade {

/// A run folder, or that of the trained agent of this name which comes with the program ("soft60").
std::filesystem::path find_run_folder(const std::filesystem::path& said);

/// The best checkpoint of a run folder or of a trained agent; the last one, where there is no best
/// yet; a .safetensors file stands for itself. Throws InputError for a folder without either.
std::filesystem::path find_checkpoint(const std::filesystem::path& run_folder);

/// A trained agent from its run folder: the task it learned and the weights that were best on the
/// validation scenes (the last ones, where there are no best yet), averaged as for evaluation.
struct Trained {
  /// Throws InputError for a folder without a checkpoint, or a checkpoint that cannot be used. With
  /// `data`, a name of digit_sources(), it sees digits of that source in place of its own.
  explicit Trained(const std::filesystem::path& run_folder, const std::string& data = "");

  const Task task;
  const Tensor<1> weights;  // one block of task.model.layout()

 private:
  Trained(const Checkpoint& checkpoint, const std::string& origin, const std::string& data);
};

}  // namespace saccade
