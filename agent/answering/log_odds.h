#pragma once

#include <span>

namespace saccade {

/// The log odds log(p / (1 - p)) of the most probable of C >= 2 classes, from their logits (C): the
/// largest less the logarithm of the sum of the exponentials of the others.
double log_odds_forward(std::span<const float> logits);

/// Adds to dlogits (C). The slope by the largest logit is 1, and by another one minus its share of
/// the others.
void log_odds_backward(std::span<float> dlogits, double dlog_odds, std::span<const float> logits);

}  // namespace saccade
