#pragma once

#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "agent/spec/config.h"
#include "base/name_table.h"
#include "tests/attention/naive_attend.h"

namespace saccade::naive {

// An independent implementation of the agent in double precision and plain loops, one episode at a
// time, structured like the formulas rather than the fast code. Forward pass only: gradients come
// from finite differences.

using naive_attention::Parameters;
using naive_attention::Row;
using Weight = NaiveMatrix;

inline Parameters read_parameters(std::span<const float> block, const ParameterLayout& layout) {
  return naive_parameters(layout, block);
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
inline void add(Row& x, const Row& y) {
  for (std::size_t j = 0; j < x.size(); ++j) x[j] += y[j];
}
inline double dot(const Row& a, const Row& b) {
  if (a.size() != b.size()) throw std::logic_error("naive: sizes do not fit");
  return naive_attention::product(a, b);
}
inline Row one_hot(std::size_t choice, std::size_t n) {
  Row row(n);
  row.at(choice) = 1.0;
  return row;
}
inline Row log_softmax(const Row& logits) {
  double sum = 0.0;
  for (const double z : logits) sum += std::exp(z);
  return map(logits, [&](double z) { return z - std::log(sum); });
}

// ---- The cores ----

struct State {
  Row h;
  Row cell;                    // for lstm
  std::vector<Row> seen = {};  // for attention: g_1 .. g_t
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

/// Causal multi-head attention over a whole sequence.
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

/// Recomputes the whole sequence at each step; only the features seen are kept.
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

// ---- Input of the core ----

/// gain x * softmax(alpha sigmoid(W_ha h + W_xa x + b)), if there is a gate.
inline Row gated(const InputConfig& config, const Parameters& p, const Row& x, const Row& h) {
  if (config.kind == "none") return x;
  Row a = affine(x, p.at("gate.input.weight"), p.at("gate.bias"));
  add(a, naive_attention::linear(h, p.at("gate.state.weight")));
  const double alpha = config.learn_alpha ? std::exp(p.at("gate.log_alpha")(0, 0)) : config.alpha;
  const Row log_gate = log_softmax(map(sigmoid(a), [&](double z) { return alpha * z; }));
  Row y = x;
  for (std::size_t i = 0; i < x.size(); ++i) y[i] *= config.gain * std::exp(log_gate[i]);
  return y;
}

inline State initial_state(int size) { return {Row(size), Row(size)}; }

/// The state after one more feature.
inline State advance(const AgentConfig& config, const Parameters& p, const Row& x,
                     const State& old) {
  return cores().at(config.model.core)(config.model, p, gated(config.input, p, x, old.h), old);
}

}  // namespace saccade::naive
