#pragma once

#include "nn/random.h"
#include "nn/tensor.h"

namespace saccade {

// One distribution over G candidates in each of R rows: hard attention samples from it, soft
// attention takes the expectation over it.

/// p (R, G) = softmax(logits / temperature). p may be logits.
void softmax_forward(Matrix p, ConstMatrix logits, float temperature);
/// In place: softmax over those of n logits whose mask is not 0, at least one; 0 elsewhere. A NaN
/// logit makes every probability NaN, so that the loss reveals it.
void masked_softmax(float* p, const float* mask, int n);
/// dlogits = p (dp - sum_k p_k dp_k) / temperature, for any mask. May overwrite dp.
void softmax_backward(Matrix dlogits, ConstMatrix dp, ConstMatrix p, float temperature);

/// Returns the entropy of n probabilities, in nats.
float entropy_forward(const float* p, int n);
/// Adds scale * d entropy / d logits, temperature included, to dlogits (n).
void entropy_backward(float* dlogits, const float* p, int n, float temperature, float scale);

/// Adds scale * d log p[choice] / d logits, temperature included, to dlogits (n).
void log_probability_backward(float* dlogits, const float* p, int n, int choice, float temperature,
                              float scale);

/// Draws a candidate from n probabilities.
int draw(const float* p, int n, RandomStream& stream);
/// Returns the candidate at quantile u in [0, 1) of the distribution proportional to p^(1 / spread)
/// of n candidates, in their order: the first whose cumulative probability is above u. `spread` > 0
/// is 1 for p itself, less for a narrower distribution. NaN leads to the last candidate.
int quantile(const float* p, int n, float u, float spread);

/// sum_k (1 - sum_t w_tk)^2: encourages looking at every candidate once in total (Xu et al. 2015,
/// equation 14). `w` (T, n) are the weights of one episode. Adds scale * its gradient to dw.
float coverage_penalty(Matrix dw, ConstMatrix w, float scale);
/// |W W' - I|_F^2 of W (T, n): encourages glimpses that are sharp and differ from each other (Lin
/// et al. 2017, equation 8). Adds scale * its gradient to dw.
float row_penalty(Matrix dw, ConstMatrix w, float scale);

}  // namespace saccade
