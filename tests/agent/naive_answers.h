#pragma once

#include <algorithm>

#include "agent/answering/answer.h"
#include "tests/agent/naive_core.h"
#include "tests/attention/naive_hidden.h"

namespace saccade::naive {

// Predictions from the states h_0 .. h_T, and their losses.

/// Truth and rewards of an episode; constants of the loss.
struct Truth {
  int label = 0;
  int length = 0;            // number of states that count
  Row target;                // initial x, y of the digit
  double correct = 0.0;      // reward for a class
  std::vector<int> symbols;  // of a sequence, including the end mark
  std::vector<int> actions;  // (T)
  Row earned;                // (T): for actions
};

inline Truth read_truth(const SceneFacts& facts, const Answer& answer, int b, int steps) {
  Truth truth;
  truth.label = facts.label;
  truth.target = {facts.regions[0].x, facts.regions[0].y};
  truth.length = counted_steps(facts, steps);
  truth.correct = answer.rewards[b];
  truth.symbols.assign(facts.symbols.begin(), facts.symbols.begin() + facts.num_symbols);
  return truth;
}

// ---- One class ----

inline naive_attention::Read read_after(const AgentConfig& config, const Parameters& p,
                                        const std::vector<Row>& h, std::size_t t, int length) {
  return naive_attention::read(config.hidden, p, "hidden", static_cast<int>(t) - 1, length,
                               {h.begin() + 1, h.end()});
}

/// Log-probabilities of the classes or actions.
inline Row classify(const Parameters& p, const Row& read) {
  return log_softmax(affine(read, p.at("classifier.weight"), p.at("classifier.bias")));
}

// ---- A sequence ----

/// Parameters `<name>.<..>`, renamed to `<..>`.
inline Parameters section(const Parameters& p, const std::string& name) {
  Parameters part;
  for (const auto& [key, value] : p)
    if (key.starts_with(name + ".")) part.emplace(key.substr(name.size() + 1), value);
  return part;
}

/// State of a decoder between two symbols.
struct Decoding {
  State state;
  Row context;
};

inline Decoding begin_decoding(const AgentConfig& config, const std::vector<Row>& h, int length) {
  return {initial_state(config.decoder.hidden_size), h[length]};
}

/// Log-probabilities of symbol j; `previous` (V) is the preceding symbol, one-hot, or empty. `p`
/// holds only the decoder's parameters.
inline Row say(Decoding& now, const AgentConfig& config, const Parameters& p,
               const std::vector<Row>& h, int length, int j, const Row& previous) {
  const std::vector<Row> values(h.begin() + 1, h.end());
  const int steps = static_cast<int>(values.size());
  now.state = cores().at(config.decoder.core)({}, p, join(previous, now.context), now.state);
  if (config.hidden.kind == "attend") {
    std::vector<bool> allowed;
    for (int k = 0; k < steps; ++k)
      allowed.push_back(k < length && (config.hidden.mask.empty() || config.hidden.mask[k] == '1'));
    now.context =
        naive_attention::context(naive_attention::weights(config.hidden.attend, p, "attend", j,
                                                          now.state.h, values, allowed),
                                 values);
  } else {
    now.context = naive_attention::read(config.hidden, p, "", steps - 1, length, values).output;
  }
  return log_softmax(
      affine(join(now.state.h, now.context), p.at("output.weight"), p.at("output.bias")));
}

/// Log-probabilities of every symbol, (J, V), given the preceding ones.
inline std::vector<Row> decode(const AgentConfig& config, const Parameters& p,
                               const std::vector<Row>& h, int length,
                               const std::vector<int>& symbols) {
  const Parameters own = section(p, "decoder");
  const std::size_t n = own.at("output.bias").cols;
  Decoding now = begin_decoding(config, h, length);
  Row previous(n);
  std::vector<Row> all;
  for (std::size_t j = 0; j < symbols.size(); ++j) {
    all.push_back(say(now, config, own, h, length, static_cast<int>(j), previous));
    previous = one_hot(symbols[j], n);
  }
  return all;
}

// ---- The losses ----

struct AnswerLoss {
  double classifier = 0.0, penalty = 0.0;
};

inline AnswerLoss answer_loss(const AgentConfig& config, const Parameters& p,
                              const std::vector<Row>& h, const Truth& truth) {
  const std::size_t steps = h.size() - 1;
  const TrainingConfig& training = config.training;
  AnswerLoss loss;
  if (!truth.actions.empty()) return loss;
  if (!truth.symbols.empty()) {
    const std::vector<Row> said = decode(config, p, h, truth.length, truth.symbols);
    for (std::size_t j = 0; j < said.size(); ++j)
      loss.classifier -= training.classifier_weight * said[j][truth.symbols[j]];
    return loss;
  }
  const bool every_step = training.step_loss > 0.0;
  for (std::size_t t = every_step ? 1 : steps; t <= steps; ++t) {
    const naive_attention::Read read = read_after(config, p, h, t, truth.length);
    const double weight = t == steps ? training.classifier_weight
                                     : training.step_loss / static_cast<double>(steps - 1);
    loss.classifier -= weight * classify(p, read.output)[truth.label];
    if (t == steps) loss.penalty = read.penalty;
  }
  return loss;
}

/// - sum_t A_t log pi(a_t) - entropy bonus, with the advantages (T) constant.
inline double action_loss(const AgentConfig& config, const Parameters& p, const std::vector<Row>& h,
                          const Truth& truth, const Row& advantages) {
  double loss = 0.0;
  for (std::size_t t = 0; t < truth.actions.size(); ++t) {
    const Row log_pi = classify(p, h[t + 1]);
    loss -= advantages[t] * log_pi[truth.actions[t]];
    for (const double z : log_pi) loss += config.reinforce.action_entropy * std::exp(z) * z;
  }
  return loss;
}

/// The worth of an answer after the first `steps` glimpses.
inline double worth(const AgentConfig& config, const Parameters& p, const std::vector<Row>& h,
                    const Truth& truth, std::size_t steps) {
  const bool correct = config.reinforce.reward == "correct";
  if (truth.symbols.empty()) {
    const Row read = read_after(config, p, h, steps, truth.length).output;
    return correct ? truth.correct : std::exp(classify(p, read)[truth.label]);
  }
  const int length = std::min(truth.length, static_cast<int>(steps));
  const std::vector<Row> said = decode(config, p, h, length, truth.symbols);
  double share = 0.0;
  for (std::size_t j = 0; j < said.size(); ++j) {
    const double right = said[j][truth.symbols[j]];
    share += !correct ? std::exp(right) : right == std::ranges::max(said[j]) ? 1.0 : 0.0;
  }
  return share / static_cast<double>(said.size());
}

/// The reward of each glimpse, (T).
inline Row earned(const AgentConfig& config, const Parameters& p, const std::vector<Row>& h,
                  const Truth& truth) {
  const std::size_t steps = h.size() - 1;
  if (!truth.actions.empty()) return {truth.earned.begin(), truth.earned.end()};
  Row all(steps);
  all[steps - 1] = worth(config, p, h, truth, steps);
  if (config.reinforce.reward != "gain") return all;
  const std::string said = truth.symbols.empty() ? "classifier" : "decoder.output";
  double before = 1.0 / p.at(said + ".bias").cols;
  for (std::size_t t = 0; t < steps; ++t) {
    const double now = worth(config, p, h, truth, t + 1);
    all[t] = now - before;
    before = now;
  }
  return all;
}

/// The discounted return of each step's decisions, (T).
inline Row returns(const AgentConfig& config, const Row& earned, bool acts) {
  const double discount = acts ? config.reinforce.discount : 1.0;
  const double lambda = config.reinforce.advantage == "gae" ? 1.0 : config.reinforce.trace;
  Row all(earned.size());
  for (std::size_t t = 0; t < earned.size(); ++t)
    for (std::size_t later = t; later < earned.size(); ++later)
      all[t] += std::pow(discount * lambda, later - t) * earned[later];
  return all;
}

inline double baseline(const Parameters& p, const Row& h, const Truth& truth) {
  if (p.contains("baseline.weight"))
    return affine(h, p.at("baseline.weight"), p.at("baseline.bias"))[0];
  const auto& weight = p.at("baseline.hidden.weight");
  Row x = h;
  if (weight.rows > static_cast<int>(h.size()))  // it also reads the true label
    x = join(join(h, one_hot(truth.label, weight.rows - h.size() - 2)), truth.target);
  return affine(relu(affine(x, weight, p.at("baseline.hidden.bias"))),
                p.at("baseline.output.weight"), p.at("baseline.output.bias"))[0];
}

/// Inputs of REINFORCE for episodes of T steps, all (B, T).
struct Outcomes {
  std::vector<Row> earned, returns, baselines;

  void add(const AgentConfig& config, const Parameters& p, const std::vector<Row>& h,
           const Truth& truth) {
    earned.push_back(naive::earned(config, p, h, truth));
    returns.push_back(naive::returns(config, earned.back(), !truth.actions.empty()));
    baselines.emplace_back();
    if (p.contains("baseline.weight") || p.contains("baseline.hidden.weight"))
      for (std::size_t t = 0; t < earned.back().size(); ++t)
        baselines.back().push_back(baseline(p, h[t], truth));
  }
};

/// Advantage of step t of episode b.
inline double advantage(const AgentConfig& config, const Row& average_returns, const Outcomes& all,
                        std::size_t b, std::size_t t, bool acts) {
  const ReinforceConfig& reinforce = config.reinforce;
  const double own = all.returns[b][t];
  if (reinforce.advantage == "none") return own;
  if (reinforce.advantage == "constant") return own - reinforce.constant;
  if (reinforce.advantage == "ema") return own - average_returns[t];
  if (reinforce.advantage == "learned") return own - all.baselines[b][t];
  if (reinforce.advantage == "gae") {
    const double discount = acts ? reinforce.discount : 1.0;
    double sum = 0.0;
    for (std::size_t k = t; k < all.earned[b].size(); ++k) {
      const double next = k + 1 < all.earned[b].size() ? all.baselines[b][k + 1] : 0.0;
      const double error = all.earned[b][k] + discount * next - all.baselines[b][k];
      sum += std::pow(discount * reinforce.trace, k - t) * error;
    }
    return sum;
  }
  if (reinforce.advantage != "leave_one_out")
    throw std::logic_error("no naive " + reinforce.advantage);
  const std::size_t m = reinforce.rollouts, first = b / m * m;
  double others = 0.0;
  for (std::size_t i = first; i < first + m; ++i) others += i == b ? 0.0 : all.returns[i][t];
  return own - others / static_cast<double>(m - 1);
}

/// Weighted squared error of the baseline, averaged over the decisions from step `first` on; states
/// h_0 .. h_T and returns (T) are constants.
inline double baseline_loss(const ReinforceConfig& config, const Parameters& p,
                            const std::vector<Row>& h, const Truth& truth, const Row& returns,
                            int first) {
  const int steps = static_cast<int>(returns.size());
  if (config.advantage != "learned" && config.advantage != "gae") return 0.0;
  double loss = 0.0;
  for (int t = first; t < steps; ++t) {
    const double difference = baseline(p, h[t], truth) - returns[t];
    loss += config.baseline_weight / (steps - first) * difference * difference;
  }
  return loss;
}

/// Sums over the episodes.
struct Loss {
  double classifier = 0, reinforce = 0, baseline = 0, penalty = 0;

  double total() const { return classifier + reinforce + baseline + penalty; }
};

}  // namespace saccade::naive
