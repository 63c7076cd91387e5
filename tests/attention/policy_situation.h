#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "attention/policy.h"
#include "nn/random.h"
#include "tests/guarded_matrix.h"

namespace saccade {

/// The inputs of a policy. All differ from episode to episode.
struct PolicySituation {
  explicit PolicySituation(int episodes, std::uint32_t update = 0)
      : mean(episodes, 2), target(episodes, 2) {
    for (int b = 0; b < episodes; ++b) {
      RandomStream values(1, Purpose::scene, 0, static_cast<std::uint32_t>(b));
      for (int axis = 0; axis < 2; ++axis) {
        mean(b, axis) = values.uniform(-1.0F, 1.0F);
        target(b, axis) = values.uniform(-1.0F, 1.0F);
      }
      streams.emplace_back(1, Purpose::policy_noise, update, static_cast<std::uint32_t>(b));
    }
  }
  /// Samples (B, 2) of glimpse t; the streams advance.
  GuardedMatrix sample(Policy policy, int t, int num_glimpses, float std) {
    GuardedMatrix samples(static_cast<int>(streams.size()), 2);
    samples.fill(std::numeric_limits<float>::quiet_NaN());
    policy(samples.view(), {.t = t,
                            .num_glimpses = num_glimpses,
                            .mean = mean.view(),
                            .std = std,
                            .target = target.view(),
                            .streams = streams});
    return samples;
  }

  GuardedMatrix mean, target;
  std::vector<RandomStream> streams;
};

}  // namespace saccade
