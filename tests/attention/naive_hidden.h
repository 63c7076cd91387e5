#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "attention/hidden.h"
#include "tests/attention/naive_attend.h"

// Reads of the states of one episode, in double precision.
namespace saccade::naive_attention {

struct Read {
  Row output;
  std::vector<Row> weights;  // r hops over T states
  double penalty = 0.0;
};

inline Read pooled(const Row& a, const std::vector<Row>& states) {
  return {context(a, states), {a}};
}

inline Read self(const HiddenConfig& config, const Parameters& p, const std::string& name,
                 const std::vector<Row>& states, const std::vector<bool>& allowed, int count) {
  Read read;
  for (int hop = 0; hop < config.hops; ++hop) {
    Row logits, a(states.size());
    for (const Row& h : states)
      logits.push_back(linear(tanh_of(linear(h, p.at(name + ".hidden.weight"))),
                              p.at(name + ".hops.weight"))[hop]);
    if (count > 0) a = masked_softmax(logits, allowed);
    const Row m = context(a, states);
    read.output.insert(read.output.end(), m.begin(), m.end());
    read.weights.push_back(a);
  }
  if (count == 0) return read;
  for (int i = 0; i < config.hops; ++i)
    for (int j = 0; j < config.hops; ++j) {
      const double difference = product(read.weights[i], read.weights[j]) - (i == j ? 1.0 : 0.0);
      read.penalty += config.penalty * difference * difference;
    }
  return read;
}

/// The read after step t of an episode of `steps` steps with states h_1 .. h_T; parameters
/// `<name>.<..>`.
inline Read read(const HiddenConfig& config, const Parameters& p, const std::string& name, int t,
                 int episode_length, const std::vector<Row>& states) {
  const int steps = static_cast<int>(states.size()), length = std::min(t + 1, episode_length);
  std::vector<bool> allowed;
  int count = 0;
  for (int k = 0; k < steps; ++k) {
    allowed.push_back(k < length && (config.mask.empty() || config.mask[k] == '1'));
    count += allowed[k] ? 1 : 0;
  }
  Row last(steps), mean(steps);
  last[length - 1] = 1.0;
  for (int k = 0; k < steps; ++k) mean[k] = allowed[k] ? 1.0 / count : 0.0;
  if (config.kind == "last") return pooled(last, states);
  if (config.kind == "mean") return pooled(mean, states);
  if (config.kind == "self") return self(config, p, name, states, allowed, count);
  if (config.kind != "attend") throw std::logic_error("no naive read " + config.kind);

  Row a(steps);
  const Row query = context(config.query == "mean" ? mean : last, states);
  if (count > 0) a = weights(config.attend, p, name, t, query, states, allowed);
  Read read = pooled(a, states);
  if (config.output == "context_and_last")
    read.output.insert(read.output.end(), states[length - 1].begin(), states[length - 1].end());
  return read;
}

}  // namespace saccade::naive_attention
