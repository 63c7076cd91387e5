// What an evaluation must find, from a rollout of all its scenes.
#pragma once

#include <algorithm>
#include <cmath>

#include "experiments/evaluation/evaluator.h"
#include "tests/experiments/tiny_task.h"

namespace saccade {

/// The share of episodes answered wrongly.
inline double error_of(const Rollout& rollout) {
  int errors = 0;
  for (int b = 0; b < rollout.episodes(); ++b)
    errors += rollout.answer->predictions(b)[0] != rollout.answer->labels(b)[0];
  return static_cast<double>(errors) / rollout.episodes();
}

/// Expected statistics of the looks of a rollout, from the digits' boxes in pixels.
struct Looks {
  double on_target = 0.0, border = 0.0, distance = 0.0;

  explicit Looks(const Rollout& rollout) {
    const int steps = static_cast<int>(rollout.look->locations.shape()[0]);
    const double looks = static_cast<double>(steps) * rollout.episodes();
    for (int t = 0; t < steps; ++t)
      for (int b = 0; b < rollout.episodes(); ++b) {
        const SceneFacts& facts = rollout.environment->facts()[b];
        const double x = rollout.look->locations(t, b, 0), y = rollout.look->locations(t, b, 1);
        const double column = (x + 1) / 2 * kCols, row = (y + 1) / 2 * kRows;
        double nearest = 1e9;
        bool inside = false;
        for (const Box& box : std::span(facts.boxes).first(facts.num_digits)) {
          inside |= column >= box.x && column <= box.x + box.width && row >= box.y &&
                    row <= box.y + box.height;
          nearest = std::min(nearest, std::hypot((column - box.x - 0.5 * box.width) / (0.5 * kCols),
                                                 (row - box.y - 0.5 * box.height) / (0.5 * kRows)));
        }
        on_target += inside / looks;
        border += (std::abs(x) >= 0.98F || std::abs(y) >= 0.98F) / looks;
        distance += nearest / looks;
      }
  }
};

inline void check_looks(const Evaluation& found, const Looks& expected) {
  CHECK(found.on_target == doctest::Approx(expected.on_target));
  CHECK(found.border == doctest::Approx(expected.border));
  CHECK(found.distance == doctest::Approx(expected.distance));
}

}  // namespace saccade
