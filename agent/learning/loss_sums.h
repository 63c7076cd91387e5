#pragma once

#include <span>
#include <string>

namespace saccade {

/// Sums over the episodes of one or more updates. As long as a cache line, but not aligned to one:
/// of a type that is, GCC puts a result that nobody takes where it may be crooked (GCC 12).
struct LossSums {
  double episodes = 0;
  double classifier = 0;  // weighted cross-entropy, nats
  double reinforce = 0;   // - weight sum_t log pi(l_t) A_t - entropy bonus
  double baseline = 0;    // weighted squared error, mean over actions
  double penalty = 0;     // of soft attention: coverage, rows, - entropy bonus
  double entropy = 0;     // of what placed the glimpses, nats, mean over the glimpses
  double errors = 0;      // episodes answered wrongly
  double reward = 0;

  LossSums& operator+=(const LossSums& other);
  /// The terms that are minimised, together.
  double loss() const;
};

/// One of the sums, and what becomes of it.
struct LossTerm {
  const char* name;  // in words
  double LossSums::*sum;
  bool minimised;      // whether it is a part of loss(), and has to be finite
  const char* metric;  // of its mean over the episodes; none of their number
};

/// Every sum, in the order of a checkpoint's note: a new one comes last.
std::span<const LossTerm> loss_terms();

/// The sums as a note of a checkpoint, exact, and back.
std::string to_note(const LossSums& sums);
LossSums loss_sums_of(const std::string& note);

}  // namespace saccade
