#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/range.h"
#include "experiments/analysis/gradient_noise.h"
#include "experiments/files/progress_bar.h"
#include "experiments/task/task.h"

namespace saccade {

struct GradientsRequest {
  static constexpr Range kScenes{1, 4096}, kSamples{3, 100'000}, kRollouts{2, 256};

  std::string agent;  // where it is from, for messages
  int scenes = 64;    // in the batch
  int samples = 128;  // draws of the policy's noise
  int rollouts = 4;   // M: episodes that share a scene, for leave_one_out
};

/// Noise of the locator's gradient over the draws, by one advantage estimator.
struct EstimatorNoise {
  std::string estimator;
  GradientNoise noise;
};

/// The gradient of the last glimpse alone, all earlier ones fixed, against the exact one.
struct LastGlimpseGradient {
  struct Line {
    std::string estimator;
    double mean_norm, variance;
    double distance;  // |mean g - g*| / |g*|; what the noise alone would cause:
    double expected_distance;
  };
  double norm;  // |g*|, by enumeration of all candidates
  std::vector<Line> estimators;
};

struct GradientReport {
  int scenes, rollouts, samples;
  std::string critic;
  std::vector<double> average_returns;  // (T): of what followed each step
  std::vector<EstimatorNoise> estimators;
  std::optional<LastGlimpseGradient> exact;  // of agents with candidates
};

/// How noisy the locator's REINFORCE gradient is by each advantage estimator, those that read a
/// baseline with the agent's own critic, reward and trace, on one batch of test scenes and the same
/// draws of the policy. `weights` is one block of task.model.layout(). The same for any number of
/// workers. Throws InputError for an agent that does not learn by REINFORCE.
GradientReport gradients(const Task& task, std::span<const float> weights,
                         const GradientsRequest& request, Workers& workers,
                         const ProgressCallback& on_progress = nullptr);

/// Table for the screen. Of a signal whose interval reaches to 0 it gives the upper end alone.
std::string to_table(const GradientReport& report);
nlohmann::ordered_json to_json(const GradientReport& report);

}  // namespace saccade
