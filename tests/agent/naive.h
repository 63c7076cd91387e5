#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "agent/model/rollout.h"
#include "tests/agent/naive_answers.h"

namespace saccade::naive {

// An agent that looks at points, and its loss.

// ---- Looking ----

/// Filter output of a glimpse (scale, channel, row, col): (scale, row, col, filter). The glimpse
/// alone does not tell the number and side of its scales; they follow from `model` and the size of
/// the next layer's input.
inline Row filtered(const ModelConfig& model, const Parameters& p, const Row& glimpse) {
  const Weight &w = p.at("glimpse.filters.weight"), &b = p.at("glimpse.filters.bias");
  const int kernel = model.glimpse_kernel, stride = model.glimpse_stride;
  const int channels = w.rows / (kernel * kernel);
  const auto positions = [&](int side) { return (side - kernel) / stride + 1; };
  const auto scales_of = [&](int side) {
    return static_cast<int>(glimpse.size()) / (channels * side * side);
  };
  int side = kernel;
  while (scales_of(side) * channels * side * side != static_cast<int>(glimpse.size()) ||
         scales_of(side) * positions(side) * positions(side) * w.cols !=
             p.at("glimpse.what.weight").rows)
    ++side;
  Row all;
  for (int s = 0; s < scales_of(side); ++s)
    for (int row = 0; row < positions(side); ++row)
      for (int col = 0; col < positions(side); ++col)
        for (int filter = 0; filter < w.cols; ++filter) {
          double z = b(0, filter);
          for (int i = 0; i < kernel; ++i)
            for (int j = 0; j < kernel; ++j)
              for (int c = 0; c < channels; ++c)
                z += glimpse[((s * channels + c) * side + stride * row + i) * side + stride * col +
                             j] *
                     w((i * kernel + j) * channels + c, filter);
          all.push_back(z);
        }
  return relu(all);
}

/// g_t from the observation and the location.
inline Row feature(const ModelConfig& model, const Parameters& p, const Row& glimpse,
                   const Row& location) {
  const Row seen = model.glimpse_network == "conv" ? filtered(model, p, glimpse) : glimpse;
  const Row what = relu(affine(seen, p.at("glimpse.what.weight"), p.at("glimpse.what.bias")));
  const Row where =
      relu(affine(location, p.at("glimpse.where.weight"), p.at("glimpse.where.bias")));
  return relu(affine(join(what, where), p.at("glimpse.joint.weight"), p.at("glimpse.joint.bias")));
}

/// Returns the locator's output for a state, before it is used as a mean, logits or a window. With
/// a thumbnail the input is [h | c], where c is a layer that reads the thumbnail (Ba et al. 2015,
/// section 3.1).
inline Row locate(const Parameters& p, const std::string& output, const Row& h,
                  const Row& thumbnail) {
  Row z = affine(h, p.at("locator.hidden.weight"), p.at("locator.hidden.bias"));
  if (!thumbnail.empty()) {
    const Row c =
        relu(affine(thumbnail, p.at("locator.context.weight"), p.at("locator.context.bias")));
    const Weight& u = p.at("locator.context.hidden.weight");
    for (int i = 0; i < u.rows; ++i)
      for (int j = 0; j < u.cols; ++j) z[j] += c[i] * u(i, j);
  }
  const Row hidden = relu(z);
  const std::string name = "locator." + output;
  return affine(hidden, p.at(name + ".weight"), p.at(name + ".bias"));
}

// ---- An episode ----

/// What an episode saw and did; constants of the loss.
struct Episode {
  std::vector<Row> glimpses, locations, samples;  // (T, D), (T, 2), (T, 2)
  Row thumbnail;                                  // with a context, otherwise empty
  Truth truth;
};

inline std::vector<Episode> read_episodes(const Rollout& rollout) {
  std::vector<Episode> all(rollout.episodes());
  const int steps = rollout.core.steps;
  for (int b = 0; b < rollout.episodes(); ++b) {
    const auto row = [&](const Tensor<3>& tensor, int t) {
      const ConstMatrix m = step(tensor, t);
      return Row(m.row(b), m.row(b) + m.cols);
    };
    for (int t = 0; t < steps; ++t) {
      all[b].glimpses.push_back(row(rollout.look->glimpses, t));
      all[b].locations.push_back(row(rollout.look->locations, t));
      all[b].samples.push_back(row(rollout.look->actions, t));
    }
    all[b].truth = read_truth(rollout.environment->facts()[b], *rollout.answer, b, steps);
  }
  return all;
}

/// Returns the states h_0 .. h_T.
inline std::vector<Row> states(const AgentConfig& config, const Parameters& p, const Episode& e) {
  State state = initial_state(config.model.hidden_size);
  std::vector<Row> all = {state.h};
  for (std::size_t t = 0; t < e.glimpses.size(); ++t) {
    state = advance(config, p, feature(config.model, p, e.glimpses[t], e.locations[t]), state);
    all.push_back(state.h);
  }
  return all;
}

/// mu of glimpse t, from the state h_t; for glimpse 0 the learned first location, unless there is a
/// context.
inline Row mean(const Parameters& p, int t, const Row& h, const Row& thumbnail) {
  if (t == 0 && thumbnail.empty()) return tanh(p.at("locator.first").values);
  return tanh(locate(p, "mean", h, thumbnail));
}

// ---- The loss ----

/// One batch of episodes and the loss's other inputs.
struct Batch {
  const AgentConfig& config;
  double std;           // if it is not learned
  Row average_returns;  // (T), for advantage `ema`
  std::vector<Episode> episodes;

  int steps() const { return config.glimpse.num_glimpses; }
  int first_action() const { return config.glimpse.first == "learned" ? 0 : 1; }
  int first_decision() const { return episodes[0].truth.actions.empty() ? first_action() : 0; }
};

/// Detached inputs of the locator and the baseline.
struct Detached {
  std::vector<std::vector<Row>> states;  // (B, T + 1, H)
  Outcomes outcomes;
  std::vector<Row> advantages;  // (B, T)
};

inline Detached detach(const Batch& batch, const Parameters& p) {
  Detached all;
  for (const Episode& e : batch.episodes) {
    all.states.push_back(states(batch.config, p, e));
    all.outcomes.add(batch.config, p, all.states.back(), e.truth);
  }
  for (std::size_t b = 0; b < batch.episodes.size(); ++b) {
    all.advantages.emplace_back();
    for (int t = 0; t < batch.steps(); ++t)
      all.advantages[b].push_back(advantage(batch.config, batch.average_returns, all.outcomes, b, t,
                                            !batch.episodes[b].truth.actions.empty()));
  }
  return all;
}

/// log pi of a sample of the Gaussian policy, and the entropy of the policy.
struct GaussianLook {
  double log_probability = 0.0, entropy = 0.0;
};

inline GaussianLook gaussian_look(const Row& sample, const Row& mean, double std) {
  const double log_2_pi = std::log(2.0 * std::numbers::pi);
  GaussianLook look;
  for (int axis = 0; axis < 2; ++axis) {
    const double deviation = (sample[axis] - mean[axis]) / std;
    look.log_probability -= 0.5 * deviation * deviation + std::log(std) + 0.5 * log_2_pi;
    look.entropy += 0.5 * (1.0 + log_2_pi) + std::log(std);
  }
  return look;
}

inline Loss loss(const Batch& batch, const Parameters& p, const Detached& detached) {
  const AgentConfig& config = batch.config;
  const double std = config.glimpse.learn_std ? std::exp(p.at("locator.log_std")(0, 0)) : batch.std;
  Loss sum;
  for (std::size_t b = 0; b < batch.episodes.size(); ++b) {
    const Episode& e = batch.episodes[b];
    const std::vector<Row>&constant_h = detached.states[b], h = states(config, p, e);
    const AnswerLoss answer = answer_loss(config, p, h, e.truth);
    sum.classifier += answer.classifier;
    sum.penalty += answer.penalty;
    sum.reinforce += action_loss(config, p, h, e.truth, detached.advantages[b]);
    sum.baseline += baseline_loss(config.reinforce, p, constant_h, e.truth,
                                  detached.outcomes.returns[b], batch.first_decision());
    for (int t = batch.first_action(); t < batch.steps(); ++t) {
      const GaussianLook look =
          gaussian_look(e.samples[t], mean(p, t, constant_h[t], e.thumbnail), std);
      sum.reinforce -= config.reinforce.weight * detached.advantages[b][t] * look.log_probability;
      sum.reinforce -= config.reinforce.entropy * look.entropy;
    }
  }
  return sum;
}

}  // namespace saccade::naive
