#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "agent/answering/answering.h"
#include "agent/answering/log_odds.h"
#include "agent/answering/stopping.h"
#include "agent/credit/reward.h"
#include "attention/hidden.h"
#include "base/own_part.h"
#include "nn/layers.h"
#include "nn/linear_head.h"

namespace saccade {
namespace {

struct ClassParts {
  std::optional<StopRule> stop_rule;  // if it may answer before the last look
  std::unique_ptr<const HiddenAttention> hidden;
  LinearHead classifier;
  int num_classes;
  bool weighs;  // attends over the states, so there are weights to show
  double classifier_weight, step_loss;
  RewardKind reward;
  OwnValues own;  // reinforce.<reward>.*
};

// Predicts one class at the end, or when it stops, from the hidden-state attention's read of the
// states so far.
class ClassAnswer final : public Answer {
 public:
  ClassAnswer(const ClassParts& parts, Environment& environment, CoreMemory& core)
      : parts_(parts),
        environment_(environment),
        core_(core),
        memory_(parts.hidden->make_memory(core.steps, core.episodes())) {
    const int steps = core.steps, batch = core.episodes(), classes = parts.num_classes;
    probabilities = zeros<3>(steps, batch, classes);
    rewards.resize(batch);
    labels_.resize(batch);
    classes_.resize(batch);
    lengths_.resize(batch);
    reads_ = zeros<3>(steps, batch, parts.hidden->output_size());
    dreads_ = zeros<3>(steps, batch, parts.hidden->output_size());
    logits_ = zeros<3>(steps, batch, classes);
    dlogits_ = zeros<3>(steps, batch, classes);
    losses_ = zeros<2>(steps, batch);
    if (!parts.stop_rule) return;
    stop_.emplace(*parts.stop_rule, steps, batch);
    sureness_ = zeros<2>(steps, batch);
    if (parts.stop_rule->kind().sampled) stop_rewards_ = zeros<2>(steps, batch);
  }

  void begin() override {}

  void step(const StepContext& now) override {
    const int last = core_.steps - 1;
    if (now.t < last) return;
    take_labels();
    const SamplingMode sampling = now.request.sampling;
    const bool pays = parts_.reward.by_step && sampling == SamplingMode::training;
    stops_ = stop_ && stop_->acts_in(sampling);
    first_ = now.request.classify_every_step || pays || stops_ ? 0 : last;
    parts_.hidden->prepare(memory_, core_.states(), lengths_, now.parameters);
    for (int t = first_; t <= last; ++t) classify(t, now.parameters);
    if (stops_) {
      write_sureness();
      stop_->decide(core_.states(), matrix(sureness_), now);
    }
    if (stops_ && sampling == SamplingMode::training) judge_stops();
    for (int b = 0; b < core_.episodes(); ++b) classes_[b] = most_probable(stopped_at(b) - 1, b);
    environment_.answer(classes_, rewards);
  }

  // The states after look t are not read, whatever they are.
  void answer_after(int t, std::span<const float> parameters) override {
    stops_ = false;
    std::ranges::fill(labels_, 0);
    for (int b = 0; b < core_.episodes(); ++b)
      lengths_[b] = counted_steps(environment_.facts()[b], core_.steps);
    parts_.hidden->prepare(memory_, core_.states(), lengths_, parameters);
    classify(t, parameters);
  }

  int stopped_at(int b) const override { return stops_ ? stop_->stopped_at(b) : core_.steps; }

  float sureness(int t, int b) const override {
    if (stops_ && parts_.stop_rule->kind().learned()) return stop_->stopped_by(t, b);
    return probabilities(t, b, most_probable(t, b));
  }
  bool right(int t, int b) const override { return most_probable(t, b) == labels_[b]; }

  void step_rewards(Matrix step_rewards) const override {
    const auto worth = [this](int t, int b) { return worth_of(t, b); };
    if (!stops_) return write_step_rewards(step_rewards, parts_.reward, parts_.num_classes, worth);
    write_step_rewards(step_rewards, parts_.reward, parts_.num_classes, worth, stop_->chances(),
                       static_cast<float>(parts_.stop_rule->price()));
  }

  StopCredit stop_credit() const override {
    if (!stops_) return {};
    return {.chances = stop_->chances(), .reach = stop_->reach(), .rewards = matrix(stop_rewards_)};
  }

  // Cross-entropy of the step that answers (of an expected stop, the expectation over these) plus,
  // if step_loss is set, the mean over the earlier ones.
  AnswerLoss backward(std::span<float> gradient, const Credit& credit,
                      std::span<const float> parameters) override {
    const int steps = core_.steps, batch = core_.episodes();
    const int first = parts_.step_loss > 0.0 || stops_ ? 0 : steps - 1;
    AnswerLoss loss;
    for (int t = first; t < steps; ++t)
      for (int b = 0; b < batch; ++b) {
        const double weight = weight_of(t, b);
        loss.classifier += weight * losses_(t, b);
        cross_entropy_backward(one_row(saccade::step(dlogits_, t), b),
                               one_row(saccade::step(probabilities, t), b), {&labels_[b], 1},
                               static_cast<float>(weight) * credit.scale);
      }
    if (stops_) {
      const StopLoss stop = stop_->backward(gradient, matrix(core_.dstate), credit, matrix(losses_),
                                            core_.states(), matrix(sureness_), parameters);
      if (parts_.stop_rule->kind().expected) sureness_backward();
      loss.reinforce = stop.reinforce;
      loss.penalty = stop.penalty;
    }
    loss.penalty += reads_backward(gradient, first, credit.scale, parameters);
    return loss;
  }

  void logits_backward(std::span<float> gradient, ConstMatrix dlogits,
                       std::span<const float> parameters) override {
    copy_rows(matrix(dlogits_), dlogits);
    reads_backward(gradient, 0, 0.0F, parameters);
  }

  ConstMatrix logits(int s) const override { return saccade::step(logits_, s); }
  int chosen(int s, int b) const override { return largest(logits(s).row(b)); }

  std::span<const int> predictions(int b) const override { return {&classes_[b], 1}; }
  std::span<const int> labels(int b) const override { return {&labels_[b], 1}; }
  float error(int b) const override { return 1.0F - rewards[b]; }

  StateWeights state_weights() const override {
    if (!parts_.weighs) return {};
    return {&memory_.weights, parts_.hidden->hops()};
  }

 private:
  // Own worlds may tell the class of an episode as late as with its last look.
  void take_labels() {
    const std::span<const SceneFacts> facts = environment_.facts();
    for (int b = 0; b < core_.episodes(); ++b) {
      labels_[b] = facts[b].label;
      lengths_[b] = counted_steps(facts[b], core_.steps);
      if (labels_[b] < 0)
        throw OwnPartError(fmt::format(
            "labels: neither the reset nor one of {} looks told the class of episode {} of a lane",
            core_.steps, b));
    }
  }
  int largest(const float* row) const {
    return static_cast<int>(std::max_element(row, row + parts_.num_classes) - row);
  }
  int most_probable(int t, int b) const { return largest(&probabilities(t, b, 0)); }

  // The reward of the answer after look t.
  float worth_of(int t, int b) const {
    return parts_.reward.of_answer(most_probable(t, b) == labels_[b],
                                   probabilities(t, b, labels_[b]), chance_of(parts_.num_classes),
                                   parts_.own);
  }

  // What its stop reads of the answer after each look but the last.
  void write_sureness() {
    const bool learned = parts_.stop_rule->kind().learned();
    for (int t = 0; t + 1 < core_.steps; ++t)
      for (int b = 0; b < core_.episodes(); ++b)
        sureness_(t, b) = learned ? static_cast<float>(log_odds_forward(row_of(logits_, t, b)))
                                  : probabilities(t, b, most_probable(t, b));
  }
  void sureness_backward() {
    for (int t = 0; t + 1 < core_.steps; ++t)
      for (int b = 0; b < core_.episodes(); ++b)
        log_odds_backward(row_of(dlogits_, t, b), stop_->dlog_odds(t, b), row_of(logits_, t, b));
  }
  std::span<float> row_of(Tensor<3>& tensor, int t, int b) const {
    return {&tensor(t, b, 0), static_cast<std::size_t>(parts_.num_classes)};
  }

  // What it earns to stop after look t: nothing beyond what is earned look by look.
  void judge_stops() {
    for (int t = 0; stop_rewards_.size() > 0 && t < core_.steps; ++t)
      for (int b = 0; b < core_.episodes(); ++b)
        stop_rewards_(t, b) = parts_.reward.by_step ? 0.0F : worth_of(t, b);
  }

  // The weight of the cross-entropy after look t.
  double weight_of(int t, int b) const {
    const int last = core_.steps - 1;
    const double share = stops_ ? stop_->share(t, b) : t == last ? 1.0 : 0.0;
    const double earlier = t < last ? parts_.step_loss / last : 0.0;
    return parts_.classifier_weight * share + earlier;
  }

  // Backward pass from the logits of the steps from `first` on to the states. The penalty counts
  // only for the last read, which gives the answer, with factor `scale`. (Earlier reads have fewer
  // states than hops, so no weights could satisfy it.)
  double reads_backward(std::span<float> gradient, int first, float scale,
                        std::span<const float> parameters) {
    const int steps = core_.steps, batch = core_.episodes();
    const int rows = (steps - first) * batch;
    const ConstMatrix dlogits = matrix(dlogits_).row_range(first * batch, rows);
    parts_.classifier.backward(gradient, dlogits, matrix(reads_).row_range(first * batch, rows));
    dreads_.fill(0.0F);
    parts_.classifier.state_backward(matrix(dreads_).row_range(first * batch, rows), dlogits,
                                     parameters);
    double penalty = 0.0;
    const Matrix dstates = matrix(core_.dstate);
    for (int t = steps - 1; t >= first; --t)
      penalty += parts_.hidden->backward(dstates, memory_, t, saccade::step(dreads_, t),
                                         core_.states(), t == steps - 1 ? scale : 0.0F, parameters);
    parts_.hidden->finish(gradient, dstates, memory_, first, core_.states(), parameters);
    return penalty;
  }

  void classify(int t, std::span<const float> parameters) {
    const Matrix read = saccade::step(reads_, t), logits = saccade::step(logits_, t);
    parts_.hidden->forward(read, memory_, t, core_.states(), parameters);
    parts_.classifier.forward(logits, read, parameters);
    cross_entropy_forward(saccade::step(probabilities, t),
                          {&losses_(t, 0), static_cast<std::size_t>(core_.episodes())}, logits,
                          labels_);
  }

  const ClassParts& parts_;
  Environment& environment_;
  CoreMemory& core_;
  HiddenMemory memory_;
  std::optional<StopPass> stop_;
  bool stops_ = false;          // these episodes may stop early
  Tensor<2> sureness_;          // (T, B): of the answer after each look, as the stop reads it
  Tensor<2> stop_rewards_;      // (T, B): of a sampled stop, what it earns to stop after a look
  int first_ = 0;               // first classified step
  std::vector<int> labels_;     // (B)
  std::vector<int> classes_;    // (B): most probable class after the last step
  std::vector<int> lengths_;    // (B): steps that count
  Tensor<3> reads_, dreads_;    // (T, B, R): input of the classifier
  Tensor<3> logits_, dlogits_;  // (T, B, C)
  Tensor<2> losses_;            // (T, B): cross-entropy, nats
};

class ClassAnswering final : public Answering {
 public:
  ClassAnswering(const AgentConfig& config, const ObservationSpec& spec, int state_size, int steps,
                 ParameterLayout& layout)
      : parts_(make_parts(config, spec, state_size, steps, layout)) {
    traits_ = {.outputs = steps,
               .classifies = true,
               .attends = parts_.weighs,
               .hops = parts_.hidden->hops()};
    set_stop(traits_, parts_.stop_rule);
  }

  std::unique_ptr<Answer> make_answer(Environment& environment, CoreMemory& core) const override {
    return std::make_unique<ClassAnswer>(parts_, environment, core);
  }

  Work work() const override {
    const bool stops = parts_.stop_rule && parts_.stop_rule->kind().learned();
    const bool learns_every_step = parts_.step_loss > 0.0 || stops;
    Work total = work_of(learns_every_step ? traits_.outputs : 1);
    if (parts_.reward.by_step) total.forward = work_of(traits_.outputs).forward;
    return stops ? total + parts_.stop_rule->work() : total;
  }

 private:
  // Work of reading and classifying at that many steps.
  Work work_of(int classified) const {
    return parts_.hidden->work(traits_.outputs, classified) +
           linear_work(parts_.hidden->output_size(), parts_.num_classes) * classified;
  }

  static ClassParts make_parts(const AgentConfig& config, const ObservationSpec& spec,
                               int state_size, int steps, ParameterLayout& layout) {
    std::optional<StopRule> stop_rule =
        make_stop_rule(config, state_size, steps, /*reads_odds=*/true, layout);
    auto hidden = make_hidden_attention(config.hidden, "hidden", state_size, steps, layout);
    const int inputs = hidden->output_size();
    return {.stop_rule = std::move(stop_rule),
            .hidden = std::move(hidden),
            .classifier =
                LinearHead("classifier", inputs, spec.num_classes, uniform_fan_in(inputs), layout),
            .num_classes = spec.num_classes,
            .weighs = hidden_weighs(config.hidden.kind),
            .classifier_weight = config.training.classifier_weight,
            .step_loss = config.training.step_loss,
            .reward = find_reward(config.reinforce.reward),
            .own = config.reinforce.own};
  }

  const ClassParts parts_;
};

}  // namespace

std::unique_ptr<const Answering> make_class_answering(const AgentConfig& config,
                                                      const ObservationSpec& spec, int state_size,
                                                      int steps, ParameterLayout& layout) {
  return std::make_unique<ClassAnswering>(config, spec, state_size, steps, layout);
}

}  // namespace saccade
