#include "attention/categorical.h"

#include <algorithm>
#include <cmath>

#include "nn/softmax.h"

namespace saccade {

void softmax_forward(Matrix p, ConstMatrix logits, float temperature) {
  SACCADE_CHECK(p.rows == logits.rows && p.cols == logits.cols);
  for (int r = 0; r < p.rows; ++r) softmax(p.row(r), logits.row(r), p.cols, temperature);
}

void masked_softmax(float* p, const float* mask, int n) {
  float largest = -INFINITY, sum = 0.0F;
  for (int k = 0; k < n; ++k)
    if (mask[k] != 0.0F) largest = std::max(largest, p[k]);
  for (int k = 0; k < n; ++k) sum += p[k] = mask[k] != 0.0F ? std::exp(p[k] - largest) : 0.0F;
  for (int k = 0; k < n; ++k) p[k] /= sum;
}

void softmax_backward(Matrix dlogits, ConstMatrix dp, ConstMatrix p, float temperature) {
  SACCADE_CHECK(p.rows == dp.rows && p.cols == dp.cols);
  for (int r = 0; r < p.rows; ++r) {
    const float* p_row = p.row(r);
    const float* dp_row = dp.row(r);
    float mean = 0.0F;
    for (int k = 0; k < p.cols; ++k) mean += p_row[k] * dp_row[k];
    float* dz = dlogits.row(r);
    for (int k = 0; k < p.cols; ++k) dz[k] = p_row[k] * (dp_row[k] - mean) / temperature;
  }
}

float entropy_forward(const float* p, int n) {
  float sum = 0.0F;
  for (int k = 0; k < n; ++k)
    if (p[k] > 0.0F) sum -= p[k] * std::log(p[k]);
  return sum;
}

void entropy_backward(float* dlogits, const float* p, int n, float temperature, float scale) {
  const float entropy = entropy_forward(p, n);
  for (int k = 0; k < n; ++k)
    if (p[k] > 0.0F) dlogits[k] -= scale / temperature * p[k] * (std::log(p[k]) + entropy);
}

void log_probability_backward(float* dlogits, const float* p, int n, int choice, float temperature,
                              float scale) {
  for (int k = 0; k < n; ++k) dlogits[k] -= scale / temperature * p[k];
  dlogits[choice] += scale / temperature;
}

int draw(const float* p, int n, RandomStream& stream) {
  const float threshold = stream.uniform();
  float sum = 0.0F;
  int last = 0;  // last candidate with p > 0: rounding may leave the sum below 1
  for (int k = 0; k < n; ++k) {
    if (p[k] > 0.0F) last = k;
    sum += p[k];
    if (threshold < sum) return k;
  }
  return last;
}

int quantile(const float* p, int n, float u, float spread) {
  const float largest = *std::max_element(p, p + n);
  const auto weight = [&](int k) { return std::pow(p[k] / largest, 1.0F / spread); };
  float total = 0.0F;
  for (int k = 0; k < n; ++k) total += weight(k);
  float below = 0.0F;
  for (int k = 0; k + 1 < n; ++k)
    if ((below += weight(k)) > u * total) return k;
  return n - 1;
}

float coverage_penalty(Matrix dw, ConstMatrix w, float scale) {
  float penalty = 0.0F;
  for (int k = 0; k < w.cols; ++k) {
    float missing = 1.0F;
    for (int t = 0; t < w.rows; ++t) missing -= w(t, k);
    penalty += missing * missing;
    for (int t = 0; t < w.rows; ++t) dw(t, k) -= 2.0F * scale * missing;
  }
  return penalty;
}

float row_penalty(Matrix dw, ConstMatrix w, float scale) {
  float penalty = 0.0F;
  for (int i = 0; i < w.rows; ++i)
    for (int j = 0; j < w.rows; ++j) {
      float difference = i == j ? -1.0F : 0.0F;
      for (int k = 0; k < w.cols; ++k) difference += w(i, k) * w(j, k);
      penalty += difference * difference;
      for (int k = 0; k < w.cols; ++k) dw(i, k) += 4.0F * scale * difference * w(j, k);
    }
  return penalty;
}

}  // namespace saccade
