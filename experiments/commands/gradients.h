#pragma once

#include <filesystem>
#include <string>

#include "experiments/files/progress_bar.h"

namespace saccade {

/// `saccade gradients`
struct GradientsOptions {
  std::filesystem::path run_folder;
  int scenes = 64;    // in the batch, >= 1
  int samples = 128;  // draws of the policy's noise, >= 3
  int rollouts = 4;   // M: episodes that share a scene, for leave_one_out, >= 2
  bool json = false;
  std::string data = {};  // see Trained
  int threads = 0;        // 0: every processor this process may use
};

/// How noisy the locator's REINFORCE gradient is by each advantage estimator, those that read a
/// baseline with the agent's own critic, reward and trace, on one batch of test
/// scenes and the same draws of the policy: |mean gradient|, the trace of its covariance over the
/// draws, and their ratio |E g|^2 / tr Cov(g) (signal to noise) with a 95 % interval, of which the
/// table gives the upper end alone where it reaches to 0. For hard_categorical also the
/// gradient of the last glimpse alone, all earlier ones fixed, against the exact one by enumeration
/// of all candidates. A table, or JSON. Throws InputError for an agent that does not learn by
/// REINFORCE.
std::string gradients(const GradientsOptions& options,
                      const ProgressCallback& on_progress = nullptr);

}  // namespace saccade
