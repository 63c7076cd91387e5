#pragma once

#include <span>
#include <string>

namespace saccade {

/// Sums over the episodes of one or more updates. Has the size of a cache line but not its
/// alignment: GCC 12 may misalign the discarded result of an over-aligned type.
struct LossSums {
  double episodes = 0;
  double classifier = 0;  // weighted cross-entropy, nats
  double reinforce = 0;   // - weight sum_t log pi(l_t) A_t - entropy bonus
  double baseline = 0;    // weighted squared error, mean over actions
  double penalty = 0;     // soft attention: coverage, rows, - entropy bonus
  double entropy = 0;     // of the placement of glimpses, nats, mean over the glimpses
  double errors = 0;      // wrongly answered episodes
  double reward = 0;

  LossSums& operator+=(const LossSums& other);
  /// The sum of the minimised terms.
  double loss() const;
};

/// Describes one of the sums.
struct LossTerm {
  const char* name;  // readable name
  double LossSums::*sum;
  bool minimised;      // part of loss(), and so must be finite
  const char* metric;  // name of its mean over the episodes; null for their number
};

/// All sums, in the order of a checkpoint's note. Append new ones at the end.
std::span<const LossTerm> loss_terms();

/// Converts the sums to a checkpoint note and back, exactly.
std::string to_note(const LossSums& sums);
LossSums loss_sums_of(const std::string& note);

}  // namespace saccade
