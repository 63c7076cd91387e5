#pragma once

#include <filesystem>
#include <string>

#include "experiments/files/progress_bar.h"

namespace saccade {

/// `saccade eval`
struct EvalOptions {
  std::filesystem::path run_folder;
  int scenes = 0;  // 0: as the run's configuration says
  int draws = 0;   // likewise
  bool json = false;
  std::filesystem::path weights = {};  // .npz of all attention to write; empty: none
  int threads = 0;
  std::string data = {};  // see Trained
};

/// Tests the best checkpoint of a run (its last, where there is no best yet) on the test set and
/// returns the table, or with `json` one document whose keys are the metric names. `weights` gets
/// the attention of the single deterministic pass (experiments/evaluation/attention_weights.h).
/// Throws InputError before anything is computed if there is a file already, or not an .npz is to
/// be written.
std::string eval(const EvalOptions& options, const ProgressCallback& on_progress = nullptr);

}  // namespace saccade
