#include "agent/answering/log_odds.h"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

struct LogOdds {
  explicit LogOdds(std::span<const float> z)
      : most(static_cast<int>(std::ranges::max_element(z) - z.begin())) {
    for (int k = 0; k < static_cast<int>(z.size()); ++k)
      if (k != most) largest = std::max(largest, static_cast<double>(z[k]));
    for (int k = 0; k < static_cast<int>(z.size()); ++k)
      if (k != most) sum += std::exp(z[k] - largest);
    value = z[most] - largest - std::log(sum);
  }

  int most;
  double largest = -INFINITY;  // of the others
  double sum = 0.0;            // of their exponentials, relative to that
  double value = 0.0;
};

}  // namespace

double log_odds_forward(std::span<const float> logits) { return LogOdds(logits).value; }

void log_odds_backward(std::span<float> dlogits, double dlog_odds, std::span<const float> logits) {
  const LogOdds odds(logits);
  for (int k = 0; k < static_cast<int>(logits.size()); ++k)
    dlogits[k] += static_cast<float>(
        k == odds.most ? dlog_odds : -dlog_odds * std::exp(logits[k] - odds.largest) / odds.sum);
}

}  // namespace saccade
