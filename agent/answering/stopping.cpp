#include "agent/answering/stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/name_table.h"

namespace saccade {
namespace {

const NameTable<StopKind>& stop_table() {
  static const NameTable<StopKind> table{
      "attention.glimpse.stop",
      {{"none", {}},
       {"confidence", {.stops = true, .threshold = 0.9}},
       {"sampled", {.stops = true, .sampled = true, .threshold = 0.5}},
       {"expected", {.stops = true, .expected = true, .threshold = 0.5}}}};
  return table;
}

double sigmoid_of(double z) { return 1.0 / (1.0 + std::exp(-z)); }
// log(1 + e^z)
double softplus(double z) { return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))); }
double logit(double p) { return std::log(p) - std::log1p(-p); }

}  // namespace

const StopKind& find_stop_kind(const std::string& name) { return stop_table().at(name); }
std::vector<std::string> stop_kinds() { return stop_table().names(); }

void check_stop(const GlimpseConfig& config, AnswerKind answer) {
  if (!find_stop_kind(config.stop).stops) return;
  if (answer == AnswerKind::actions)
    throw SettingError(
        {"attention.glimpse.stop"},
        fmt::format("attention.glimpse.stop: {} needs a task whose answer is one class or a "
                    "sequence; allowed for actions: none",
                    config.stop));
  if (config.num_glimpses < 2)
    throw SettingError(
        {"attention.glimpse.stop", "attention.glimpse.num_glimpses"},
        fmt::format("attention.glimpse.stop: {} needs attention.glimpse.num_glimpses > 1, not {}",
                    config.stop, config.num_glimpses));
}

StopRule::StopRule(const AgentConfig& config, int state_size, int steps, bool reads_odds,
                   ParameterLayout& layout)
    : kind_(&find_stop_kind(config.glimpse.stop)),
      price_(kind_->learned() ? config.glimpse.stop_price : 0.0),
      threshold_(config.glimpse.stop_threshold > 0.0 ? config.glimpse.stop_threshold
                                                     : kind_->threshold),
      prior_(config.glimpse.stop_prior),
      prior_weight_(config.glimpse.stop_prior_weight),
      answer_weight_(config.training.classifier_weight),
      state_size_(state_size),
      steps_(steps),
      layout_(&layout) {
  if (!kind_->learned()) return;
  head_.emplace("stop", state_size, 1, uniform_fan_in(state_size), layout,
                constant(static_cast<float>(logit(1.0 / steps))));
  if (reads_odds) sureness_ = layout.add("stop.sureness", 1, 1, constant(1));
}

std::optional<StopRule> make_stop_rule(const AgentConfig& config, int state_size, int steps,
                                       bool reads_odds, ParameterLayout& layout) {
  if (!find_stop_kind(config.glimpse.stop).stops) return {};
  return std::optional<StopRule>(std::in_place, config, state_size, steps, reads_odds, layout);
}

Work StopRule::work() const {
  if (!head_) return {};
  const Input input = kind_->expected ? Input::differentiated : Input::constant;
  return linear_work(state_size_, 1, input) * (steps_ - 1);
}

StopPass::StopPass(const StopRule& parts, int steps, int episodes)
    : parts_(parts),
      stopped_at_(episodes, steps),
      logits_(zeros<2>(steps, episodes)),
      dlogits_(logits_),
      chances_(logits_),
      reach_(logits_) {}

bool StopPass::acts_in(SamplingMode sampling) const {
  return parts_.kind().learned() || sampling != SamplingMode::training;
}

Matrix StopPass::decided(Tensor<2>& logits) const {
  return {logits.data(), (steps() - 1) * episodes(), 1, 1};
}

void StopPass::decide(ConstMatrix states, ConstMatrix sureness, const StepContext& now) {
  const StopKind& kind = parts_.kind();
  const SamplingMode sampling = now.request.sampling;
  if (kind.learned())
    write_halting(states, sureness, now.parameters);
  else
    follow_confidence(sureness);
  if (kind.learned() &&
      (sampling == SamplingMode::sample || (sampling == SamplingMode::training && kind.sampled)))
    draw(now);
  find_stops();
}

void StopPass::write_halting(ConstMatrix states, ConstMatrix log_odds,
                             std::span<const float> parameters) {
  const Matrix z = decided(logits_);
  parts_.head_->forward(z, states.row_range(0, z.rows), parameters);
  const bool reads_odds = parts_.sureness_ >= 0;
  if (reads_odds) slope_ = *parts_.layout_->view(parameters, parts_.sureness_).data;
  for (int t = 0; t + 1 < steps(); ++t)
    for (int b = 0; b < episodes(); ++b) {
      if (reads_odds) logits_(t, b) += slope_ * log_odds(t, b);
      chances_(t, b) = static_cast<float>(sigmoid_of(logits_(t, b)));
    }
}

void StopPass::follow_confidence(ConstMatrix probabilities) {
  const auto threshold = static_cast<float>(parts_.threshold_);
  for (int t = 0; t + 1 < steps(); ++t)
    for (int b = 0; b < episodes(); ++b)
      chances_(t, b) = probabilities(t, b) > threshold ? 1.0F : 0.0F;
}

void StopPass::draw(const StepContext& now) {
  const Tensor<2>* given = now.request.stops;
  for (int t = 0; t + 1 < steps(); ++t)
    for (int b = 0; b < episodes(); ++b)
      chances_(t, b) = given != nullptr                            ? (*given)(t, b)
                       : now.streams[b].uniform() < chances_(t, b) ? 1.0F
                                                                   : 0.0F;
}

void StopPass::find_stops() {
  const auto threshold = static_cast<float>(parts_.threshold_);
  const int last = steps() - 1;
  for (int b = 0; b < episodes(); ++b) {
    chances_(last, b) = reach_(0, b) = 1.0F;
    stopped_at_[b] = steps();
    for (int t = 0; t <= last; ++t) {
      if (t < last) reach_(t + 1, b) = reach_(t, b) * (1.0F - chances_(t, b));
      if (stopped_by(t, b) > threshold) stopped_at_[b] = std::min(stopped_at_[b], t + 1);
    }
  }
}

StopLoss StopPass::backward(std::span<float> gradient, Matrix dstates, const Credit& credit,
                            ConstMatrix losses, ConstMatrix states, ConstMatrix sureness,
                            std::span<const float> parameters) {
  const bool expected = parts_.kind().expected;
  const StopLoss loss =
      expected ? expected_backward(losses, credit.scale) : sampled_backward(credit);
  const Matrix dlogits = decided(dlogits_);
  parts_.head_->backward(gradient, dlogits, states.row_range(0, dlogits.rows));
  if (expected)
    parts_.head_->state_backward(dstates.row_range(0, dlogits.rows), dlogits, parameters);
  if (parts_.sureness_ >= 0) slope_backward(gradient, sureness);
  return loss;
}

void StopPass::slope_backward(std::span<float> gradient, ConstMatrix log_odds) const {
  double slope = 0.0;
  for (int t = 0; t + 1 < steps(); ++t)
    for (int b = 0; b < episodes(); ++b)
      slope += static_cast<double>(dlogits_(t, b)) * log_odds(t, b);
  *parts_.layout_->view(gradient, parts_.sureness_).data = static_cast<float>(slope);
}

// The entropy of a decision is log(1 + e^z) - lambda z, and its slope - z lambda (1 - lambda).
StopLoss StopPass::sampled_backward(const Credit& credit) {
  StopLoss loss;
  for (int t = 0; t + 1 < steps(); ++t)
    for (int b = 0; b < episodes(); ++b) {
      const double z = logits_(t, b), lambda = sigmoid_of(z);
      const double stopped = chances_(t, b);
      const double advantage = credit.weight * credit.stops(t, b);
      const double bonus = credit.entropy * reach_(t, b);
      loss.reinforce -= advantage * (stopped * z - softplus(z));  // log pi
      loss.reinforce -= bonus * (softplus(z) - lambda * z);
      dlogits_(t, b) = static_cast<float>(
          credit.scale * (bonus * z * lambda * (1.0 - lambda) - advantage * (stopped - lambda)));
    }
  return loss;
}

// Backwards, with what is expected to follow look t, C_t = lambda_t L_t + (1 - lambda_t) (price +
// C_{t+1}) + beta KL_t, whose slope by the logit z_t of lambda_t is lambda_t (1 - lambda_t)
// (L_t - price - C_{t+1} + beta (z_t - z of the prior)).
StopLoss StopPass::expected_backward(ConstMatrix losses, float scale) {
  const double price = parts_.price_, weight = parts_.prior_weight_;
  const double prior_logit = logit(parts_.prior_), log_rest = std::log1p(-parts_.prior_);
  StopLoss loss;
  for (int b = 0; b < episodes(); ++b) {
    double following = parts_.answer_weight_ * losses(steps() - 1, b);
    for (int t = steps() - 2; t >= 0; --t) {
      const double z = logits_(t, b), lambda = sigmoid_of(z), reach = reach_(t, b);
      const double answer = parts_.answer_weight_ * losses(t, b);
      const double divergence = lambda * (z - prior_logit) - softplus(z) - log_rest;
      dlogits_(t, b) =
          static_cast<float>(scale * reach * lambda * (1.0 - lambda) *
                             (answer - price - following + weight * (z - prior_logit)));
      loss.penalty += reach * (weight * divergence + (1.0 - lambda) * price);
      following = lambda * answer + (1.0 - lambda) * (price + following) + weight * divergence;
    }
  }
  return loss;
}

}  // namespace saccade
