#include <algorithm>

#include "agent/answering/answering.h"
#include "agent/credit/reward.h"
#include "attention/hidden.h"
#include "nn/layers.h"
#include "nn/linear_head.h"

namespace saccade {
namespace {

struct ClassParts {
  std::unique_ptr<const HiddenAttention> hidden;
  LinearHead classifier;
  int num_classes;
  bool weighs;  // attends over the states, so there are weights to show
  double classifier_weight, step_loss;
  RewardKind reward;
};

// Predicts one class at the end, from the hidden-state attention's read of the states.
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
  }

  void begin() override {
    const std::span<const SceneFacts> facts = environment_.facts();
    for (int b = 0; b < core_.episodes(); ++b) {
      labels_[b] = facts[b].label;
      lengths_[b] = counted_steps(facts[b], core_.steps);
    }
  }

  void step(const StepContext& now) override {
    const int last = core_.steps - 1;
    if (now.t < last) return;
    const bool pays = parts_.reward.by_step && now.request.sampling == SamplingMode::training;
    first_ = now.request.classify_every_step || pays ? 0 : last;
    parts_.hidden->prepare(memory_, core_.states(), lengths_, now.parameters);
    for (int t = first_; t <= last; ++t) classify(t, now.parameters);
    const ConstMatrix p = saccade::step(probabilities, last);
    for (int b = 0; b < p.rows; ++b)
      classes_[b] = static_cast<int>(std::max_element(p.row(b), p.row(b) + p.cols) - p.row(b));
    environment_.answer(classes_, rewards);
  }

  void step_rewards(Matrix step_rewards) const override {
    write_step_rewards(step_rewards, parts_.reward, parts_.num_classes, [this](int t, int b) {
      return parts_.reward.of_answer(rewards[b] == 1.0F, probabilities(t, b, labels_[b]));
    });
  }

  // Cross-entropy of the last step plus, if step_loss is set, the mean over the earlier ones.
  AnswerLoss backward(std::span<float> gradient, const Credit& credit,
                      std::span<const float> parameters) override {
    const int steps = core_.steps, batch = core_.episodes();
    const int first = parts_.step_loss > 0.0 ? 0 : steps - 1;
    AnswerLoss loss;
    for (int t = first; t < steps; ++t) {
      const double weight =
          t == steps - 1 ? parts_.classifier_weight : parts_.step_loss / (steps - 1);
      for (int b = 0; b < batch; ++b) loss.classifier += weight * losses_(t, b);
      cross_entropy_backward(saccade::step(dlogits_, t), saccade::step(probabilities, t), labels_,
                             static_cast<float>(weight) * credit.scale);
    }
    loss.penalty = reads_backward(gradient, first, credit.scale, parameters);
    return loss;
  }

  void logit_backward(std::span<float> scratch, int s, std::span<const int> chosen,
                      std::span<const float> parameters) override {
    dlogits_.fill(0.0F);
    choose_logits(saccade::step(dlogits_, s), chosen);
    reads_backward(scratch, s, 0.0F, parameters);
  }

  ConstMatrix logits(int s) const override { return saccade::step(logits_, s); }
  int chosen(int s, int b) const override {
    const float* row = logits(s).row(b);
    return static_cast<int>(std::max_element(row, row + parts_.num_classes) - row);
  }

  std::span<const int> predictions(int b) const override { return {&classes_[b], 1}; }
  std::span<const int> labels(int b) const override { return {&labels_[b], 1}; }
  float error(int b) const override { return 1.0F - rewards[b]; }

  StateWeights state_weights() const override {
    if (!parts_.weighs) return {};
    return {&memory_.weights, parts_.hidden->hops()};
  }

 private:
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
  }

  std::unique_ptr<Answer> make_answer(Environment& environment, CoreMemory& core) const override {
    return std::make_unique<ClassAnswer>(parts_, environment, core);
  }

  Work work() const override {
    const bool learns_every_step = parts_.step_loss > 0.0;
    Work total = work_of(learns_every_step ? traits_.outputs : 1);
    if (parts_.reward.by_step) total.forward = work_of(traits_.outputs).forward;
    return total;
  }

 private:
  // Work of reading and classifying at that many steps.
  Work work_of(int classified) const {
    return parts_.hidden->work(traits_.outputs, classified) +
           linear_work(parts_.hidden->output_size(), parts_.num_classes) * classified;
  }

  static ClassParts make_parts(const AgentConfig& config, const ObservationSpec& spec,
                               int state_size, int steps, ParameterLayout& layout) {
    auto hidden = make_hidden_attention(config.hidden, "hidden", state_size, steps, layout);
    const int inputs = hidden->output_size();
    return {.hidden = std::move(hidden),
            .classifier =
                LinearHead("classifier", inputs, spec.num_classes, uniform_fan_in(inputs), layout),
            .num_classes = spec.num_classes,
            .weighs = config.hidden.kind != "last",
            .classifier_weight = config.training.classifier_weight,
            .step_loss = config.training.step_loss,
            .reward = find_reward(config.reinforce.reward)};
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
