#pragma once

#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "agent/config.h"
#include "agent/rollout.h"
#include "nn/name_table.h"

namespace saccade::naive {

// The agent once more, in double precision and plain loops, one episode at a time, shaped like the
// formulas and not like the fast code. Only the forward direction: gradients come from finite
// differences.

using Row = std::vector<double>;

/// A parameter, (rows, cols).
struct Weight {
  int rows = 0, cols = 0;
  Row values;

  double operator()(int r, int c) const { return values[r * cols + c]; }
};

using Parameters = std::map<std::string, Weight>;

inline Parameters read_parameters(std::span<const float> block, const ParameterLayout& layout) {
  Parameters all;
  for (const Parameter& p : layout.parameters()) {
    const auto values = block.subspan(p.offset, p.size());
    all[p.name] = {p.rows, p.cols, {values.begin(), values.end()}};
  }
  return all;
}

// ---- Arithmetic ----

inline Row affine(const Row& x, const Weight& w, const Weight& b) {
  if (static_cast<int>(x.size()) != w.rows || w.cols != b.cols)
    throw std::logic_error("naive: sizes do not fit");
  Row y = b.values;
  for (int r = 0; r < w.rows; ++r)
    for (int c = 0; c < w.cols; ++c) y[c] += x[r] * w(r, c);
  return y;
}

template <class F>
Row map(Row x, F f) {
  for (double& value : x) value = f(value);
  return x;
}
inline Row relu(const Row& x) {
  return map(x, [](double z) { return z > 0.0 ? z : 0.0; });
}
inline Row tanh(const Row& x) {
  return map(x, [](double z) { return std::tanh(z); });
}
inline Row sigmoid(const Row& x) {
  return map(x, [](double z) { return 1.0 / (1.0 + std::exp(-z)); });
}
inline Row join(Row a, const Row& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline Row part(const Row& x, std::size_t index, std::size_t width) {
  return {x.begin() + static_cast<std::ptrdiff_t>(index * width),
          x.begin() + static_cast<std::ptrdiff_t>((index + 1) * width)};
}
inline Row log_softmax(const Row& logits) {
  double sum = 0.0;
  for (const double z : logits) sum += std::exp(z);
  return map(logits, [&](double z) { return z - std::log(sum); });
}

// ---- The cores ----

struct State {
  Row h;
  Row cell;                    // of an lstm
  std::vector<Row> seen = {};  // of attention: g_1 .. g_t
};

using Core = State (*)(const ModelConfig& model, const Parameters& p, const Row& g,
                       const State& old);

inline State rnn(const ModelConfig&, const Parameters& p, const Row& g, const State& old) {
  return {.h = relu(affine(join(g, old.h), p.at("core.weight"), p.at("core.bias"))), .cell = {}};
}

inline State lstm(const ModelConfig&, const Parameters& p, const Row& g, const State& old) {
  const std::size_t n = old.h.size();
  const Row z = affine(join(g, old.h), p.at("core.weight"), p.at("core.bias"));
  const Row in = sigmoid(part(z, 0, n)), forget = sigmoid(part(z, 1, n));
  const Row out = sigmoid(part(z, 2, n)), content = tanh(part(z, 3, n));
  State state = old;
  for (std::size_t j = 0; j < n; ++j) {
    state.cell[j] = forget[j] * old.cell[j] + in[j] * content[j];
    state.h[j] = out[j] * std::tanh(state.cell[j]);
  }
  return state;
}

inline State gru(const ModelConfig&, const Parameters& p, const Row& g, const State& old) {
  const std::size_t n = old.h.size();
  const Row gates =
      sigmoid(affine(join(g, old.h), p.at("core.gates.weight"), p.at("core.gates.bias")));
  const Row reset = part(gates, 0, n), keep = part(gates, 1, n);
  const Row q = affine(old.h, p.at("core.recurrent.weight"), p.at("core.recurrent.bias"));
  const Row c = affine(g, p.at("core.content.weight"), p.at("core.content.bias"));
  State state = old;
  for (std::size_t j = 0; j < n; ++j)
    state.h[j] = (1.0 - keep[j]) * std::tanh(c[j] + reset[j] * q[j]) + keep[j] * old.h[j];
  return state;
}

inline Row layer_norm(const Parameters& p, const std::string& name, const Row& x) {
  const Weight &gain = p.at(name + ".gain"), &shift = p.at(name + ".shift");
  const double n = static_cast<double>(x.size());
  double mean = 0.0, variance = 0.0;
  for (const double value : x) mean += value / n;
  for (const double value : x) variance += (value - mean) * (value - mean) / n;
  Row y = x;
  for (std::size_t j = 0; j < x.size(); ++j)
    y[j] = gain.values[j] * (x[j] - mean) / std::sqrt(variance + 1e-5) + shift.values[j];
  return y;
}

inline void add(Row& x, const Row& y) {
  for (std::size_t j = 0; j < x.size(); ++j) x[j] += y[j];
}

/// Causal multi-head attention of a whole sequence.
inline std::vector<Row> multihead(const Parameters& p, const std::string& name, int heads,
                                  const std::vector<Row>& x) {
  const std::size_t width = x[0].size(), head = width / heads;
  std::vector<Row> query, key, value, y;
  for (const Row& row : x) {
    const Row qkv = affine(row, p.at(name + ".qkv.weight"), p.at(name + ".qkv.bias"));
    query.push_back(part(qkv, 0, width));
    key.push_back(part(qkv, 1, width));
    value.push_back(part(qkv, 2, width));
  }
  for (std::size_t t = 0; t < x.size(); ++t) {
    Row context(width);
    for (std::size_t j = 0; j < width; ++j) {
      Row scores(t + 1);
      for (std::size_t k = 0; k <= t; ++k)
        for (std::size_t i = j / head * head; i < (j / head + 1) * head; ++i)
          scores[k] += query[t][i] * key[k][i] / std::sqrt(static_cast<double>(head));
      const Row log_weights = log_softmax(scores);
      for (std::size_t k = 0; k <= t; ++k) context[j] += std::exp(log_weights[k]) * value[k][j];
    }
    y.push_back(affine(context, p.at(name + ".output.weight"), p.at(name + ".output.bias")));
  }
  return y;
}

/// The whole sequence from its beginning: only the glimpses seen are carried along.
inline State attention(const ModelConfig& model, const Parameters& p, const Row& g,
                       const State& old) {
  State state = old;
  state.seen.push_back(g);
  std::vector<Row> x;
  for (std::size_t t = 0; t < state.seen.size(); ++t) {
    x.push_back(affine(state.seen[t], p.at("core.input.weight"), p.at("core.input.bias")));
    for (std::size_t j = 0; j < x[t].size(); ++j) {
      const double angle = static_cast<double>(t) /
                           std::pow(10000.0, static_cast<double>(j - j % 2) / model.hidden_size);
      x[t][j] += j % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  for (int layer = 0; layer < model.depth; ++layer) {
    const std::string name = "core.layer" + std::to_string(layer);
    std::vector<Row> input;
    for (const Row& row : x) input.push_back(layer_norm(p, name + ".attention.norm", row));
    const std::vector<Row> read = multihead(p, name + ".attention", model.heads, input);
    for (std::size_t t = 0; t < x.size(); ++t) {
      add(x[t], read[t]);
      const Row hidden =
          relu(affine(layer_norm(p, name + ".forward.norm", x[t]),
                      p.at(name + ".forward.hidden.weight"), p.at(name + ".forward.hidden.bias")));
      add(x[t], affine(hidden, p.at(name + ".forward.output.weight"),
                       p.at(name + ".forward.output.bias")));
    }
  }
  state.h = layer_norm(p, "core.norm", x.back());
  return state;
}

inline State feedforward(const ModelConfig&, const Parameters& p, const Row& g, const State&) {
  return {relu(affine(g, p.at("core.weight"), p.at("core.bias"))), {}, {}};
}

inline const NameTable<Core>& cores() {
  static const NameTable<Core> table{"naive core",
                                     {{"rnn", rnn},
                                      {"lstm", lstm},
                                      {"gru", gru},
                                      {"feedforward", feedforward},
                                      {"attention", attention}}};
  return table;
}

// ---- Seeing and answering ----

/// g_t of what was seen and where.
inline Row feature(const Parameters& p, const Row& glimpse, const Row& location) {
  const Row what = relu(affine(glimpse, p.at("glimpse.what.weight"), p.at("glimpse.what.bias")));
  const Row where =
      relu(affine(location, p.at("glimpse.where.weight"), p.at("glimpse.where.bias")));
  return relu(affine(join(what, where), p.at("glimpse.joint.weight"), p.at("glimpse.joint.bias")));
}

/// Log-probabilities of the classes.
inline Row classify(const Parameters& p, const Row& h) {
  return log_softmax(affine(h, p.at("classifier.weight"), p.at("classifier.bias")));
}

/// What the locator says of a state, before it is read as a mean, as logits or as a window.
inline Row locate(const Parameters& p, const std::string& output, const Row& h) {
  const Row hidden = relu(affine(h, p.at("locator.hidden.weight"), p.at("locator.hidden.bias")));
  const std::string name = "locator." + output;
  return affine(hidden, p.at(name + ".weight"), p.at(name + ".bias"));
}

inline double baseline(const Parameters& p, const Row& h) {
  return affine(h, p.at("baseline.weight"), p.at("baseline.bias"))[0];
}

// ---- An episode ----

/// What an episode saw and did: constants of the loss.
struct Episode {
  std::vector<Row> glimpses, locations, samples;  // (T, D), (T, 2), (T, 2)
  int label = 0;
  double correct = 0.0;
};

inline std::vector<Episode> read_episodes(const Rollout& rollout) {
  std::vector<Episode> all(rollout.episodes());
  for (int b = 0; b < rollout.episodes(); ++b) {
    const auto row = [&](const Tensor<3>& tensor, int t) {
      const ConstMatrix m = step(tensor, t);
      return Row(m.row(b), m.row(b) + m.cols);
    };
    for (int t = 0; t < rollout.core.steps; ++t) {
      all[b].glimpses.push_back(row(rollout.look->glimpses, t));
      all[b].locations.push_back(row(rollout.look->locations, t));
      all[b].samples.push_back(row(rollout.look->actions, t));
    }
    all[b].label = rollout.answer->truth(b)[0];
    all[b].correct = rollout.answer->rewards[b];
  }
  return all;
}

/// States h_0 .. h_T.
inline std::vector<Row> states(const AgentConfig& config, const Parameters& p, const Episode& e) {
  const Core core = cores().at(config.model.core);
  State state{Row(config.model.hidden_size), Row(config.model.hidden_size)};
  std::vector<Row> all = {state.h};
  for (std::size_t t = 0; t < e.glimpses.size(); ++t) {
    state = core(config.model, p, feature(p, e.glimpses[t], e.locations[t]), state);
    all.push_back(state.h);
  }
  return all;
}

/// mu of glimpse t, placed by the state h_t; of glimpse 0 by a learned first location.
inline Row mean(const Parameters& p, int t, const Row& h) {
  if (t == 0) return tanh(p.at("locator.first").values);
  return tanh(locate(p, "mean", h));
}

// ---- The loss ----

/// One batch of episodes and what else the loss depends on.
struct Batch {
  const AgentConfig& config;
  double std;             // where it is not learned
  double average_reward;  // of advantage `ema`
  std::vector<Episode> episodes;

  int steps() const { return config.glimpse.num_glimpses; }
  int first_action() const { return config.glimpse.first == "learned" ? 0 : 1; }
};

/// What the locator and the baseline read but send no gradient to.
struct Detached {
  std::vector<std::vector<Row>> states;  // (B, T + 1, H)
  Row rewards;                           // (B)
  std::vector<Row> advantages;           // (B, T)
};

inline double reward(const AgentConfig& config, const Parameters& p, const Row& h, int label,
                     double correct) {
  return config.reinforce.reward == "probability" ? std::exp(classify(p, h)[label]) : correct;
}

inline double advantage(const ReinforceConfig& config, double average_reward, const Row& rewards,
                        std::size_t b, double baseline) {
  if (config.advantage == "none") return rewards[b];
  if (config.advantage == "constant") return rewards[b] - config.constant;
  if (config.advantage == "ema") return rewards[b] - average_reward;
  if (config.advantage == "learned") return rewards[b] - baseline;
  if (config.advantage != "leave_one_out") throw std::logic_error("no naive " + config.advantage);
  const std::size_t m = config.rollouts, first = b / m * m;
  double others = 0.0;
  for (std::size_t i = first; i < first + m; ++i) others += i == b ? 0.0 : rewards[i];
  return rewards[b] - others / static_cast<double>(m - 1);
}

inline Detached detach(const Batch& batch, const Parameters& p) {
  Detached all;
  for (const Episode& e : batch.episodes) {
    all.states.push_back(states(batch.config, p, e));
    all.rewards.push_back(reward(batch.config, p, all.states.back().back(), e.label, e.correct));
  }
  for (std::size_t b = 0; b < batch.episodes.size(); ++b) {
    all.advantages.emplace_back();
    for (int t = 0; t < batch.steps(); ++t)
      all.advantages[b].push_back(advantage(batch.config.reinforce, batch.average_reward,
                                            all.rewards, b, baseline(p, all.states[b][t])));
  }
  return all;
}

/// Sums over the episodes.
struct Loss {
  double classifier = 0, reinforce = 0, baseline = 0, penalty = 0;

  double total() const { return classifier + reinforce + baseline + penalty; }
};

/// Cross-entropy of the last of the states h_0 .. h_T, and of the earlier ones.
inline double classifier_loss(const AgentConfig& config, const Parameters& p,
                              const std::vector<Row>& h, int label) {
  const std::size_t steps = h.size() - 1;
  double loss = -config.training.classifier_weight * classify(p, h[steps])[label];
  for (std::size_t t = 1; t < steps; ++t)
    loss -= config.training.step_loss / static_cast<double>(steps - 1) * classify(p, h[t])[label];
  return loss;
}

inline Loss loss(const Batch& batch, const Parameters& p, const Detached& detached) {
  const AgentConfig& config = batch.config;
  const int steps = batch.steps(), first = batch.first_action(), actions = steps - first;
  const double std = config.glimpse.learn_std ? std::exp(p.at("locator.log_std")(0, 0)) : batch.std;
  const double log_2_pi = std::log(2.0 * std::numbers::pi);

  Loss sum;
  for (std::size_t b = 0; b < batch.episodes.size(); ++b) {
    const Episode& e = batch.episodes[b];
    const std::vector<Row> h = states(config, p, e);
    sum.classifier += classifier_loss(config, p, h, e.label);

    for (int t = first; t < steps; ++t) {
      const Row& constant_h = detached.states[b][t];
      const Row mu = mean(p, t, constant_h);
      double log_probability = 0.0, entropy = 0.0;
      for (int axis = 0; axis < 2; ++axis) {
        const double deviation = (e.samples[t][axis] - mu[axis]) / std;
        log_probability -= 0.5 * deviation * deviation + std::log(std) + 0.5 * log_2_pi;
        entropy += 0.5 * (1.0 + log_2_pi) + std::log(std);
      }
      sum.reinforce -= config.reinforce.weight * detached.advantages[b][t] * log_probability;
      sum.reinforce -= config.reinforce.entropy * entropy;
      if (config.reinforce.advantage == "learned") {
        const double difference = baseline(p, constant_h) - detached.rewards[b];
        sum.baseline += config.reinforce.baseline_weight / actions * difference * difference;
      }
    }
  }
  return sum;
}

}  // namespace saccade::naive
