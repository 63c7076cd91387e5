#include <algorithm>
#include <cmath>

#include "agent/answering/answering.h"
#include "attention/categorical.h"
#include "nn/layers.h"
#include "nn/linear_head.h"

namespace saccade {
namespace {

struct ActionParts {
  LinearHead classifier;
  int num_actions;
  float entropy;  // weight of the entropy bonus
};

// Acts after every glimpse by a policy of its own on the core's state, learned by REINFORCE only.
class ActionAnswer final : public Answer {
 public:
  ActionAnswer(const ActionParts& parts, Environment& environment, CoreMemory& core)
      : parts_(parts),
        environment_(environment),
        core_(core),
        step_rewards_(zeros<2>(core.steps, core.episodes())),
        logits_(zeros<3>(core.steps, core.episodes(), parts.num_actions)),
        dlogits_(logits_),
        taken_(static_cast<std::size_t>(core.steps) * core.episodes()),
        episode_(core.steps) {
    probabilities = zeros<3>(core.steps, core.episodes(), parts.num_actions);
    rewards.resize(core.episodes());
  }

  void begin() override { std::ranges::fill(rewards, 0.0F); }

  void answer_after(int t, std::span<const float> parameters) override {
    const Matrix logits = saccade::step(logits_, t);
    parts_.classifier.forward(logits, core_.state(t + 1), parameters);
    softmax_forward(saccade::step(probabilities, t), logits, 1.0F);
  }

  void step(const StepContext& now) override {
    answer_after(now.t, now.parameters);
    const Matrix p = saccade::step(probabilities, now.t);
    const SamplingMode sampling = now.request.sampling;
    const bool samples = sampling == SamplingMode::training || sampling == SamplingMode::sample;
    const std::span<int> actions = taken(now.t);
    for (int b = 0; b < p.rows; ++b) {
      const float* row = p.row(b);
      actions[b] = samples ? draw(row, p.cols, now.streams[b])
                           : static_cast<int>(std::max_element(row, row + p.cols) - row);
    }
    const std::span<float> step_rewards(&step_rewards_(now.t, 0), actions.size());
    environment_.act(actions, step_rewards);
    for (std::size_t b = 0; b < step_rewards.size(); ++b) rewards[b] += step_rewards[b];
  }

  int stopped_at(int) const override { return core_.steps; }

  void step_rewards(Matrix step_rewards) const override {
    copy_rows(step_rewards, matrix(step_rewards_));
  }

  AnswerLoss backward(std::span<float> gradient, const Credit& credit,
                      std::span<const float> parameters) override {
    const int classes = parts_.num_actions;
    const float entropy = parts_.entropy;
    dlogits_.fill(0.0F);
    AnswerLoss loss;
    for (int t = 0; t < core_.steps; ++t)
      for (int b = 0; b < core_.episodes(); ++b) {
        const float* p = &probabilities(t, b, 0);
        float* dlogits = &dlogits_(t, b, 0);
        const int action = taken(t)[b];
        const float advantage = credit.advantages(t, b);
        loss.reinforce -= advantage * std::log(p[action]) + entropy * entropy_forward(p, classes);
        log_probability_backward(dlogits, p, classes, action, 1.0F, -advantage * credit.scale);
        if (entropy > 0.0F) entropy_backward(dlogits, p, classes, 1.0F, -entropy * credit.scale);
      }
    parts_.classifier.backward(gradient, matrix(dlogits_), core_.states());
    parts_.classifier.state_backward(matrix(core_.dstate), matrix(dlogits_), parameters);
    return loss;
  }

  void logits_backward(std::span<float> gradient, ConstMatrix dlogits,
                       std::span<const float> parameters) override {
    parts_.classifier.backward(gradient, dlogits, core_.states());
    parts_.classifier.state_backward(matrix(core_.dstate), dlogits, parameters);
  }

  ConstMatrix logits(int s) const override { return saccade::step(logits_, s); }
  int chosen(int s, int b) const override { return taken(s)[b]; }

  std::span<const int> predictions(int b) const override {
    for (int t = 0; t < core_.steps; ++t) episode_[t] = taken(t)[b];
    return episode_;
  }
  std::span<const int> labels(int) const override { return {}; }
  float error(int b) const override {
    return std::clamp(1.0F - rewards[b] / environment_.best_return(core_.steps), 0.0F, 1.0F);
  }

 private:
  std::span<int> taken(int t) {
    return std::span(taken_).subspan(t * rewards.size(), rewards.size());
  }
  std::span<const int> taken(int t) const {
    return std::span(taken_).subspan(t * rewards.size(), rewards.size());
  }

  const ActionParts& parts_;
  Environment& environment_;
  CoreMemory& core_;
  Tensor<2> step_rewards_;            // (T, B): rewards
  Tensor<3> logits_, dlogits_;        // (T, B, C)
  std::vector<int> taken_;            // (T, B)
  mutable std::vector<int> episode_;  // (T): result of predictions()
};

class ActionAnswering final : public Answering {
 public:
  ActionAnswering(const AgentConfig& config, const ObservationSpec& spec, int state_size, int steps,
                  ParameterLayout& layout)
      : state_size_(state_size),
        parts_{.classifier = LinearHead("classifier", state_size, spec.num_classes,
                                        uniform_fan_in(state_size), layout),
               .num_actions = spec.num_classes,
               .entropy = static_cast<float>(config.reinforce.action_entropy)} {
    traits_ = {.outputs = steps, .answer_size = steps, .acts = true};
  }

  std::unique_ptr<Answer> make_answer(Environment& environment, CoreMemory& core) const override {
    return std::make_unique<ActionAnswer>(parts_, environment, core);
  }

  Work work() const override {
    return linear_work(state_size_, parts_.num_actions) * traits_.outputs;
  }

 private:
  int state_size_;
  const ActionParts parts_;
};

}  // namespace

std::unique_ptr<const Answering> make_action_answering(const AgentConfig& config,
                                                       const ObservationSpec& spec, int state_size,
                                                       int steps, ParameterLayout& layout) {
  return std::make_unique<ActionAnswering>(config, spec, state_size, steps, layout);
}

}  // namespace saccade
