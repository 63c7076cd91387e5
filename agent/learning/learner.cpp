#include "agent/learning/learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "agent/model/check.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/name_table.h"
#include "base/stop.h"
#include "nn/layers.h"
#include "nn/profile.h"

namespace saccade {
namespace {

// Whether a parameter belongs to a part of the model, such as "locator" or "locator.context".
bool is_of(const Parameter& p, const std::string& part) {
  return p.name == part || p.name.starts_with(part + ".");
}

void check_frozen(const std::vector<std::string>& frozen, const ParameterLayout& layout) {
  for (const std::string& part : frozen) {
    if (std::ranges::any_of(layout.parameters(),
                            [&](const Parameter& p) { return is_of(p, part); }))
      continue;
    std::vector<std::string> parts;
    for (const Parameter& p : layout.parameters())
      if (const std::string first = p.name.substr(0, p.name.find('.'));
          std::ranges::find(parts, first) == parts.end())
        parts.push_back(first);
    throw SettingError(
        {"training.freeze"},
        fmt::format("training.freeze: '{}' is not a part of this model; allowed: {}, and parts of "
                    "them by their names in the checkpoint",
                    part, join(parts)));
  }
}

// Parts of the model that learn at another rate than the rest, or are frozen.
std::vector<RateRange> rates_of(const TrainingConfig& training, const ParameterLayout& layout) {
  check_frozen(training.freeze, layout);
  std::vector<RateRange> rates;
  for (const Parameter& p : layout.parameters()) {
    const bool frozen = std::ranges::any_of(
        training.freeze, [&](const std::string& part) { return is_of(p, part); });
    const double factor = frozen                            ? 0.0
                          : p.name.starts_with("locator.")  ? training.locator_factor
                          : p.name.starts_with("baseline.") ? training.baseline_factor
                                                            : 1.0;
    rates.push_back({p.offset, p.offset + p.size(), factor});
  }
  return rates;
}

// Returns the number of parameters. Throws InputError if the settings do not fit together, or if
// memory is too small for the minimum that training with this many ranks needs: the parameters,
// their averages and moments, a gradient per lane, and the canvas, features and states of each
// episode that is played at the same time.
std::size_t affordable_parameters(const Model& model, int ranks, int threads) {
  check_learning(model.config());
  const TrainingConfig& training = model.config().training;
  const int lanes = std::max(1, training.batch_size / training.lane_size / ranks);
  const auto floats = static_cast<double>(model.layout().size());
  const double episode = static_cast<double>(sizeof(float)) * 2 * model.num_glimpses() *
                             (model.look().feature_size + model.state_size()) +
                         model.canvas().pixels();
  const double episodes = static_cast<double>(std::min(lanes, threads)) * training.lane_size;
  require_memory(sizeof(float) * floats * (4 + lanes) + episodes * episode,
                 fmt::format("a model of {} parameters, trained in {} lanes of {} episodes",
                             model.layout().size(), lanes, training.lane_size),
                 "less takes a smaller model.hidden_size and other widths, training.batch_size, "
                 "attention.glimpse.num_glimpses and scene.canvas");
  return model.layout().size();
}

}  // namespace

Lane::Lane(const Model& model, std::unique_ptr<Environment> environment,
           const RewardFunction* own_reward)
    : model_(model),
      advantage_(find_advantage(model.config().reinforce.advantage)),
      rollout_(model, std::move(environment)),
      backward_(model, rollout_.episodes()),
      credit_(model, rollout_.episodes(), own_reward),
      dbaselines_(zeros<2>(model.num_glimpses(), rollout_.episodes())) {
  rollout_.look->detached = model.config().glimpse.detach_state;
}

LossSums Lane::run(std::span<float> gradient, std::span<const float> parameters,
                   const RolloutRequest& request, std::span<const double> average_returns,
                   int batch_size) {
  const ReinforceConfig& reinforce = model_.config().reinforce;
  {
    const StageScope scope(Stage::forward_elementwise);
    rollout_.run(parameters, request);
    credit_.observe(rollout_, parameters, advantage_.reads_baseline);
    credit_.estimate(advantage_, reinforce.rollouts, average_returns);
  }
  const StageScope scope(Stage::backward_elementwise);
  const Credit credit{.advantages = matrix(credit_.advantages),
                      .stops = matrix(credit_.stops),
                      .reach = credit_.reach(),
                      .weight = static_cast<float>(reinforce.weight),
                      .entropy = static_cast<float>(reinforce.entropy),
                      .scale = 1.0F / static_cast<float>(batch_size)};

  rollout_.core.dstate.fill(0.0F);
  const AnswerLoss answer_loss = rollout_.answer->backward(gradient, credit, parameters);
  const LookLoss look_loss = rollout_.look->loss_backward(gradient, credit, parameters);
  LossSums sums;
  sums.classifier = answer_loss.classifier;
  sums.reinforce = answer_loss.reinforce + look_loss.reinforce;
  sums.penalty = answer_loss.penalty + look_loss.penalty;
  sums.baseline = baseline_backward(gradient, parameters, credit.scale);
  steps_backward(gradient, backward_, model_, rollout_, parameters);

  sums.entropy = mean_entropy();
  sums.episodes = rollout_.episodes();
  for (int b = 0; b < rollout_.episodes(); ++b) {
    sums.errors += rollout_.answer->error(b);
    sums.reward += credit_.returns(0, b);
  }
  return sums;
}

// Returns weight * mean over the decisions of (b_t - R_t)^2, of those that an episode came to.
double Lane::baseline_backward(std::span<float> gradient, std::span<const float> parameters,
                               float scale) {
  const ReinforceConfig& config = model_.config().reinforce;
  const int batch = rollout_.episodes();
  const int first = model_.first_decision();
  const int actions = model_.num_glimpses() - first;
  if (actions == 0 || !advantage_.reads_baseline) return 0.0;

  const double weight = config.baseline_weight / actions;
  double loss = 0.0;
  for (int t = first; t < first + actions; ++t) {
    for (int b = 0; b < batch; ++b) {
      const float difference = credit_.baselines(t, b) - credit_.returns(t, b);
      const float reach = reach_at(credit_.reach(), t, b);
      loss += reach * weight * difference * difference;
      dbaselines_(t, b) = reach * 2.0F * static_cast<float>(weight) * scale * difference;
    }
  }
  const Matrix dbaseline = {&dbaselines_(first, 0), actions * batch, 1, 1};
  CoreMemory& core = rollout_.core;
  model_.baseline->backward(gradient, dbaseline, credit_.critic, parameters);
  if (config.shared_baseline && core.steps > 1) {
    const int from = std::max(first, 1);  // before the first glimpse there is no state
    model_.baseline->state_backward(
        matrix(core.dstate).row_range((from - 1) * batch, (core.steps - from) * batch),
        {&dbaselines_(from, 0), (core.steps - from) * batch, 1, 1}, credit_.critic, parameters);
  }
  return loss;
}

double Lane::mean_entropy() const {
  double sum = 0.0;
  for (int t = 0; t < rollout_.core.steps; ++t)
    for (int b = 0; b < rollout_.episodes(); ++b) sum += rollout_.look->entropy(t, b);
  return sum / rollout_.core.steps;
}

Learner::Learner(const Model& model, const EnvironmentFactory& environments, std::uint64_t seed,
                 Workers& workers, Ranks& ranks, const RewardFunction* own_reward)
    : parameters(zeros<1>(affordable_parameters(model, ranks.count(), workers.threads()))),
      optimizer(model.config().training.optimizer, model.layout().size(),
                rates_of(model.config().training, model.layout())),
      model_(model),
      workers_(workers),
      ranks_(ranks),
      seed_(seed),
      environments_(environments),
      own_reward_(own_reward) {
  const TrainingConfig& training = model.config().training;
  total_updates_ = saccade::total_updates(training);
  model.layout().initialize(flat(parameters), seed);
  optimizer.averaged = parameters;
  average_returns.assign(model.num_glimpses(), 0.0);
  const int lanes = training.batch_size / training.lane_size;
  if (ranks.count() > lanes)
    throw InputError(fmt::format(
        "{} ranks; allowed: 1 to {}, the lanes of a batch: training.batch_size: {} in lanes of "
        "training.lane_size: {}",
        ranks.count(), lanes, training.batch_size, training.lane_size));
  share_ = ranks.share(lanes);
  add_lanes();
  lane_gradients_.assign(share_.size(), zeros<1>(model.layout().size()));
  for (Tensor<1>& gradient : lane_gradients_) gradients_.push_back(&gradient);
  lane_sums_.resize(lanes);
  if (find_advantage(model.config().reinforce.advantage).averages)
    lane_returns_.resize(static_cast<std::size_t>(lanes) * model.num_glimpses());
  if (!ranks.alone()) gradient_sum_.emplace(ranks, lanes, parameters.size());
}

void Learner::add_lanes() {
  const AgentConfig& config = model_.config();
  while (static_cast<int>(lanes_.size()) < std::min(workers_.threads(), share_.size()))
    lanes_.push_back(std::make_unique<Lane>(
        model_, environments_(config.training.lane_size, config.reinforce.rollouts), own_reward_));
}

// Runs the lane `i` of share_.
void Learner::run_lane(Lane& memory, int i) {
  const TrainingConfig& training = model_.config().training;
  const int rollouts = model_.config().reinforce.rollouts;
  const auto update = static_cast<std::uint64_t>(updates());
  const int lane = share_.begin + i;
  const int first_episode = lane * training.lane_size;
  const RolloutRequest request{
      .first_scene = (update * training.batch_size + first_episode) / rollouts,
      .seed = seed_,
      .update = static_cast<std::uint32_t>(update),
      .first_episode = static_cast<std::uint32_t>(first_episode),
      .progress = progress(),
      .classify_every_step = training.step_loss > 0.0};
  lane_sums_[lane] = memory.run(flat(lane_gradients_[i]), flat(parameters), request,
                                average_returns, training.batch_size);
  if (!lane_returns_.empty())
    memory.credit().sum_returns(
        std::span(lane_returns_).subspan(lane * average_returns.size(), average_returns.size()));
}

UpdateReport Learner::step() {
  const Exploration exploration = model_.looking->exploration_at(progress(), flat(parameters));

  add_lanes();
  std::atomic<int> next = 0;
  workers_.for_each(static_cast<int>(lanes_.size()), [&](int memory) {
    for (int i = next++; i < share_.size(); i = next++) {
      stop_if_asked();
      run_lane(*lanes_[memory], i);
    }
  });
  // Gather everything before changing anything, so that a lost rank leaves the state of the
  // previous update.
  ranks_.gather(std::span(lane_sums_), static_cast<int>(lane_sums_.size()));
  if (!lane_returns_.empty())
    ranks_.gather(std::span(lane_returns_), static_cast<int>(lane_sums_.size()));

  UpdateReport report;
  for (const LossSums& sums : lane_sums_) report.sums += sums;
  report.location_std = exploration.std;
  report.temperature = exploration.temperature;
  report.learning_rate = optimizer.learning_rate(progress());
  check_finite(report.sums, 0.0);
  std::span<Tensor<1>* const> gradients = gradients_;
  if (gradient_sum_) {
    gradient_sum_->run(workers_, gradients);
    gradients = gradients.first(1);
  }
  report.gradient_norm = optimizer.step(workers_, flat(parameters), gradients, progress());
  check_finite(report.sums, report.gradient_norm);

  if (!lane_returns_.empty()) average(report.sums.episodes);
  return report;
}

// After an update: averages the returns from each step with those of earlier updates.
void Learner::average(double episodes) {
  const double decay = updates() == 1 ? 0.0 : model_.config().reinforce.ema_decay;
  const std::size_t steps = average_returns.size();
  for (std::size_t t = 0; t < steps; ++t) {
    double sum = 0.0;
    for (std::size_t at = t; at < lane_returns_.size(); at += steps) sum += lane_returns_[at];
    average_returns[t] = decay * average_returns[t] + (1.0 - decay) * (sum / episodes);
  }
}

std::int64_t Learner::episodes() const { return updates() * model_.config().training.batch_size; }

double Learner::progress() const {
  return static_cast<double>(updates()) / static_cast<double>(total_updates_);
}

void Learner::check_finite(const LossSums& sums, double gradient_norm) const {
  const auto check = [&](const char* term, double value) {
    if (!std::isfinite(value))
      throw NonFiniteError(fmt::format("update {}: the {} is {}", updates(), term, value));
  };
  for (const LossTerm& term : loss_terms())
    if (term.minimised) check(term.name, sums.*term.sum);
  check("gradient norm", gradient_norm);
}

}  // namespace saccade
