#include "nn/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/name_table.h"
#include "nn/pairwise.h"
#include "nn/profile.h"
#include "nn/schedule.h"

namespace saccade {
namespace {

void update_adam(const ParameterBlock& block, const UpdateCoefficients& k) {
  float* __restrict w = block.weight;
  float* __restrict m = block.first;
  float* __restrict v = block.second;
  float* __restrict mean = block.averaged;
  const float* __restrict gradient = block.gradient;
  for (std::size_t i = 0; i < block.size; ++i) {
    const float g = k.clip * gradient[i] + k.decay * w[i];
    m[i] += k.new1 * (g - m[i]);
    v[i] += k.new2 * (g * g - v[i]);
    w[i] = k.keep * w[i] - k.rate * m[i] / (std::sqrt(v[i]) + k.epsilon);
    mean[i] += k.average * (w[i] - mean[i]);
  }
}

void update_sgd(const ParameterBlock& block, const UpdateCoefficients& k) {
  float* __restrict w = block.weight;
  float* __restrict m = block.first;
  float* __restrict mean = block.averaged;
  const float* __restrict gradient = block.gradient;
  for (std::size_t i = 0; i < block.size; ++i) {
    const float g = k.clip * gradient[i] + k.decay * w[i];
    m[i] = k.momentum * m[i] + g;
    w[i] -= k.rate * m[i];
    mean[i] += k.average * (w[i] - mean[i]);
  }
}

NameTable<OptimizerKind>& kinds() {
  static NameTable<OptimizerKind> table{
      "training.optimizer",
      {{"adam", {.update = update_adam, .has_second = true}},
       {"adamw", {.update = update_adam, .has_second = true, .decoupled_decay = true}},
       {"sgd", {.update = update_sgd}}}};
  return table;
}

// In as many partial sums as a vector has places, so that the compiler can use vectors.
double sum_of_squares(const float* x, std::size_t size) {
  constexpr std::size_t kPlaces = 16;
  float partial[kPlaces] = {};
  std::size_t i = 0;
  for (; i + kPlaces <= size; i += kPlaces)
    for (std::size_t k = 0; k < kPlaces; ++k) partial[k] += x[i + k] * x[i + k];
  double sum = 0.0;
  for (const float value : partial) sum += value;
  for (; i < size; ++i) sum += x[i] * x[i];
  return sum;
}

}  // namespace

Settings describe(OptimizerConfig& config) {
  const auto has_second = [](const std::string& name) { return kinds().at(name).has_second; };
  const Condition adam = when(&config.optimizer, optimizers(), has_second);
  Settings all = {
      {"training.optimizer", &config.optimizer, optimizers(), "Update rule"},
      {"training.learning_rate", &config.learning_rate, closed(1e-30, 10),
       "Learning rate after the warm-up"},
      {"training.schedule", &config.schedule, learning_rate_schedules(),
       "Schedule of the learning rate"},
      {"training.warmup", &config.warmup, below(0, 1),
       "Share of the training in which the learning rate rises from 0"},
      {"training.final_learning_rate", &config.final_learning_rate, closed(0, 10),
       "Learning rate at the end",
       when(&config.schedule, learning_rate_schedules(), schedule_has_end)},
      {"training.weight_decay", &config.weight_decay, closed(0, 10),
       "Weight decay: decoupled in adamw, else added to the gradient"},
      {"training.momentum", &config.momentum, kDecayRate, "Momentum of the gradient",
       when(&config.optimizer, optimizers(), std::not_fn(has_second))},
      {"training.beta1", &config.beta1, kDecayRate, "Decay of the first moment", {adam}},
      {"training.beta2", &config.beta2, kDecayRate, "Decay of the second moment", {adam}},
      {"training.epsilon", &config.epsilon, closed(1e-30, 1),
       "Number added to the root of the second moment", adam},
      {"training.max_grad_norm", &config.max_grad_norm, closed(0, 1e6),
       "Norm to which the gradient is clipped. 0: no clipping"},
      {"training.ema", &config.ema, kDecayRate,
       "Decay of the averaged weights. 0: the last weights"}};
  append(all, describe(config.own, "training", &config.optimizer));
  return all;
}

void check(const OptimizerConfig& config) {
  kinds().at(config.optimizer);
  if (!schedule_has_end(config.schedule)) return;
  const double first = config.learning_rate, last = config.final_learning_rate;
  if (last > first)
    throw SettingError(
        {"training.final_learning_rate", "training.learning_rate"},
        fmt::format("training.final_learning_rate: {} is above training.learning_rate: {}", last,
                    first));
  if (const bool may_be_zero = schedule_may_end_at_zero(config.schedule);
      last <= 0.0 && !may_be_zero)
    throw SettingError(
        {"training.final_learning_rate", "training.schedule"},
        fmt::format("training.final_learning_rate: {} is never reached by training.schedule: {}; "
                    "allowed: a number > 0",
                    last, config.schedule));
}

std::vector<std::string> optimizers() { return kinds().names(); }
void register_optimizer(const std::string& name, const OptimizerKind& kind,
                        const std::vector<OwnSetting>& settings) {
  if (kind.update == nullptr)
    throw InputError("training.optimizer: '" + name + "' cannot be registered: needed: update");
  kinds().add(name, kind);
  add_own_settings("training", name, settings);
}

Optimizer::Optimizer(OptimizerConfig config, std::size_t size, const std::vector<RateRange>& rates)
    : averaged(zeros<1>(size)),
      first(zeros<1>(size)),
      config_(std::move(config)),
      chunk_squares_((size + kSumChunk - 1) / kSumChunk) {
  check(config_);
  second = zeros<1>(kinds().at(config_.optimizer).has_second ? size : 0);
  for (const RateRange& rate : rates) {
    if (rates_.empty() || rates_.back().factor != rate.factor)
      rates_.push_back(rate);
    else
      rates_.back().end = rate.end;
  }
  if (rates.empty()) rates_ = {{0, size, 1.0}};
  coefficients_.resize(rates_.size());
}

double Optimizer::learning_rate(double progress) const {
  return rate_factor * config_.learning_rate *
         learning_rate_factor(config_.schedule, progress, config_.warmup,
                              config_.final_learning_rate / config_.learning_rate);
}

double Optimizer::step(Workers& workers, std::span<float> parameters,
                       std::span<Tensor<1>* const> gradients, double progress) {
  const double norm = reduce(workers, gradients);
  if (!std::isfinite(norm)) return norm;

  ++updates;
  for (std::size_t i = 0; i < rates_.size(); ++i)
    coefficients_[i] = coefficients(rates_[i].factor, norm, progress);
  const OptimizerKind& kind = kinds().at(config_.optimizer);
  const auto update = [&](std::size_t begin, std::size_t end, const UpdateCoefficients& k) {
    if (begin >= end) return;
    kind.update({.size = end - begin,
                 .weight = parameters.data() + begin,
                 .gradient = gradients[0]->data() + begin,
                 .first = first.data() + begin,
                 .second = kind.has_second ? second.data() + begin : nullptr,
                 .averaged = averaged.data() + begin},
                k);
  };
  workers.for_each(static_cast<int>(chunk_squares_.size()), [&](int chunk) {
    const StageScope scope(Stage::optimizer);
    const std::size_t begin = chunk * kSumChunk,
                      end = std::min(begin + kSumChunk, parameters.size());
    for (std::size_t i = 0; i < rates_.size(); ++i)
      update(std::max(begin, rates_[i].begin), std::min(end, rates_[i].end), coefficients_[i]);
  });
  return norm;
}

UpdateCoefficients Optimizer::coefficients(double factor, double norm, double progress) const {
  const OptimizerKind& kind = kinds().at(config_.optimizer);
  const auto n = static_cast<double>(updates);
  const double rate = factor * learning_rate(progress);
  const double correction1 = kind.has_second ? 1.0 - std::pow(config_.beta1, n) : 1.0;
  const double correction2 = kind.has_second ? std::sqrt(1.0 - std::pow(config_.beta2, n)) : 1.0;
  const bool clip = config_.max_grad_norm > 0.0 && norm > config_.max_grad_norm;
  // The average follows quickly at first: a long memory of the initial weights helps nobody.
  const double average = std::min(config_.ema, (1.0 + n) / (10.0 + n));
  return {
      .clip = static_cast<float>(clip ? config_.max_grad_norm / norm : 1.0),
      .rate = static_cast<float>(rate * correction2 / correction1),
      .epsilon = static_cast<float>(config_.epsilon * correction2),
      .keep = static_cast<float>(kind.decoupled_decay ? 1.0 - rate * config_.weight_decay : 1.0),
      .decay = static_cast<float>(kind.decoupled_decay ? 0.0 : config_.weight_decay),
      .momentum = static_cast<float>(config_.momentum),
      .new1 = static_cast<float>(1.0 - config_.beta1),
      .new2 = static_cast<float>(1.0 - config_.beta2),
      .average = static_cast<float>(1.0 - average),
      .own = &config_.own,
  };
}

double Optimizer::reduce(Workers& workers, std::span<Tensor<1>* const> gradients) {
  const std::size_t size = gradients[0]->size();
  workers.for_each(static_cast<int>(chunk_squares_.size()), [&](int chunk) {
    const StageScope scope(Stage::gradient_sum);
    const std::size_t begin = chunk * kSumChunk;
    const std::size_t end = std::min(begin + kSumChunk, size);
    for_each_pair(static_cast<int>(gradients.size()), [&](int into, int from) {
      add_range(gradients[into]->data(), gradients[from]->data(), begin, end);
    });
    for (const RateRange& rate : rates_)
      if (rate.factor == 0.0 && rate.begin < end && rate.end > begin)
        std::fill(gradients[0]->data() + std::max(begin, rate.begin),
                  gradients[0]->data() + std::min(end, rate.end), 0.0F);
    chunk_squares_[chunk].sum = sum_of_squares(gradients[0]->data() + begin, end - begin);
  });
  double total = 0.0;
  for (const Squares& squares : chunk_squares_) total += squares.sum;
  return std::sqrt(total);
}

}  // namespace saccade
