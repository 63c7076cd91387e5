#include <algorithm>
#include <cmath>

#include "agent/answering/answering.h"
#include "agent/answering/beam_search.h"
#include "agent/answering/decoder.h"
#include "agent/credit/reward.h"
#include "nn/layers.h"

namespace saccade {
namespace {

struct SequenceParts {
  Decoder decoder;
  double classifier_weight;
  RewardKind reward;
};

// Predicts a sequence of symbols at the end, by a decoder that attends over the states. Training
// feeds it the true preceding symbols (teacher forcing), otherwise its own.
class SequenceAnswer final : public Answer {
 public:
  SequenceAnswer(const SequenceParts& parts, Environment& environment, CoreMemory& core)
      : parts_(parts),
        environment_(environment),
        core_(core),
        memory_(parts.decoder.make_memory(environment.max_symbols(), core.episodes())),
        lengths_(core.episodes()),
        length_so_far_(core.episodes()),
        previous_(core.episodes()),
        predictions_(static_cast<std::size_t>(core.episodes()) * symbols()),
        worth_(zeros<2>(core.steps, core.episodes())),
        dlogits_(zeros<3>(symbols(), core.episodes(), parts.decoder.num_symbols())) {
    probabilities = zeros<3>(symbols(), core.episodes(), parts.decoder.num_symbols());
    rewards.resize(core.episodes());
  }

  void begin() override {
    for (int b = 0; b < core_.episodes(); ++b)
      lengths_[b] = counted_steps(environment_.facts()[b], core_.steps);
  }

  void step(const StepContext& now) override {
    if (now.t < core_.steps - 1) return;
    const bool forced = now.request.sampling == SamplingMode::training;
    const bool by_step = parts_.reward.by_step && (forced || now.request.classify_every_step);
    if (by_step)
      for (int t = 0; t < now.t; ++t) {
        for (int b = 0; b < core_.episodes(); ++b) length_so_far_[b] = std::min(t + 1, lengths_[b]);
        say(length_so_far_, forced, now.parameters);
        judge(t);
      }
    say(lengths_, forced, now.parameters);
    probabilities = memory_.probabilities;
    if (!forced && now.request.beam > 1)
      beam_search(predictions_, parts_.decoder, symbols(), now.request.beam, core_.states(),
                  lengths_, core_.steps, now.parameters);
    environment_.answer_sequence(predictions_, rewards);
    if (forced || by_step)
      judge(now.t);
    else
      std::ranges::copy(rewards, &worth_(now.t, 0));
  }

  int stopped_at(int) const override { return core_.steps; }

  void step_rewards(Matrix step_rewards) const override {
    write_step_rewards(step_rewards, parts_.reward, parts_.decoder.num_symbols(),
                       [this](int t, int b) { return worth_(t, b); });
  }

  // Cross-entropy, summed over the symbols.
  AnswerLoss backward(std::span<float> gradient, const Credit& credit,
                      std::span<const float> parameters) override {
    const double weight = parts_.classifier_weight;
    const float scale = static_cast<float>(weight) * credit.scale;
    dlogits_.fill(0.0F);
    AnswerLoss loss;
    for (int j = 0; j < symbols(); ++j)
      for (int b = 0; b < core_.episodes(); ++b) {
        if (j >= facts(b).num_symbols) continue;
        const float* p = &probabilities(j, b, 0);
        float* dlogits = &dlogits_(j, b, 0);
        loss.classifier -= weight * std::log(p[true_symbol(b, j)]);
        for (int c = 0; c < parts_.decoder.num_symbols(); ++c) dlogits[c] = scale * p[c];
        dlogits[true_symbol(b, j)] -= scale;
      }
    parts_.decoder.backward(gradient, matrix(core_.dstate), memory_, matrix(dlogits_),
                            core_.states(), parameters);
    return loss;
  }

  void logit_backward(std::span<float> scratch, int s, std::span<const int> chosen,
                      std::span<const float> parameters) override {
    dlogits_.fill(0.0F);
    choose_logits(saccade::step(dlogits_, s), chosen);
    parts_.decoder.backward(scratch, matrix(core_.dstate), memory_, matrix(dlogits_),
                            core_.states(), parameters);
  }

  ConstMatrix logits(int s) const override { return saccade::step(memory_.logits, s); }
  int chosen(int s, int b) const override {
    const std::span<const int> symbols = predictions(b);
    const int length = static_cast<int>(symbols.size());
    return s < length ? symbols[s] : s == length ? parts_.decoder.num_symbols() - 1 : -1;
  }

  std::span<const int> predictions(int b) const override {
    const int* first = &predictions_[b * symbols()];
    const int* end = std::find(first, first + symbols(), parts_.decoder.num_symbols() - 1);
    return {first, end};
  }
  std::span<const int> labels(int b) const override {
    return {facts(b).symbols.data(), static_cast<std::size_t>(facts(b).num_symbols - 1)};
  }
  float error(int b) const override { return 1.0F - rewards[b]; }

  StateWeights state_weights() const override {
    return {memory_.attend ? &memory_.attend->weights : nullptr, 1};
  }

 private:
  int symbols() const { return memory_.symbols(); }
  const SceneFacts& facts(int b) const { return environment_.facts()[b]; }
  // Returns the end mark for positions after the end mark.
  int true_symbol(int b, int j) const {
    return j < facts(b).num_symbols ? facts(b).symbols[j] : parts_.decoder.num_symbols() - 1;
  }

  // Decodes symbol by symbol, from the given number of states of each episode.
  void say(std::span<const int> lengths, bool forced, std::span<const float> parameters) {
    parts_.decoder.begin(memory_, core_.states(), lengths, parameters);
    for (int j = 0; j < symbols(); ++j) {
      parts_.decoder.step(memory_, j, previous_, core_.states(), parameters);
      const ConstMatrix p = saccade::step(memory_.probabilities, j);
      for (int b = 0; b < p.rows; ++b) {
        const int most = static_cast<int>(std::max_element(p.row(b), p.row(b) + p.cols) - p.row(b));
        predictions_[b * symbols() + j] = most;
        previous_[b] = forced ? true_symbol(b, j) : most;
      }
    }
  }

  // The value of the prediction after look t: mean over the symbols of the label.
  void judge(int t) {
    for (int b = 0; b < core_.episodes(); ++b) {
      const int count = facts(b).num_symbols;
      float sum = 0.0F;
      for (int j = 0; j < count; ++j)
        sum += parts_.reward.of_answer(predictions_[b * symbols() + j] == true_symbol(b, j),
                                       memory_.probabilities(j, b, true_symbol(b, j)));
      worth_(t, b) = sum / static_cast<float>(count);
    }
  }

  const SequenceParts& parts_;
  Environment& environment_;
  CoreMemory& core_;
  DecoderMemory memory_;
  std::vector<int> lengths_;        // (B): states that count
  std::vector<int> length_so_far_;  // (B): states that count after a look
  std::vector<int> previous_;       // (B)
  std::vector<int> predictions_;    // (B, J)
  Tensor<2> worth_;                 // (T, B): value of the prediction after each look
  Tensor<3> dlogits_;               // (J, B, V)
};

class SequenceAnswering final : public Answering {
 public:
  SequenceAnswering(const AgentConfig& config, const ObservationSpec& spec, int state_size,
                    int steps, ParameterLayout& layout)
      : steps_(steps),
        parts_{.decoder = Decoder(config.decoder, config.hidden, spec.num_classes, state_size,
                                  steps, layout),
               .classifier_weight = config.training.classifier_weight,
               .reward = find_reward(config.reinforce.reward)} {
    traits_ = {.outputs = spec.max_symbols,
               .answer_size = spec.max_symbols,
               .spells = true,
               .attends = parts_.decoder.attends()};
  }

  std::unique_ptr<Answer> make_answer(Environment& environment, CoreMemory& core) const override {
    return std::make_unique<SequenceAnswer>(parts_, environment, core);
  }

  Work work() const override {
    Work total = parts_.decoder.work(traits_.outputs);
    if (parts_.reward.by_step) total.forward += (steps_ - 1) * total.forward;
    return total;
  }

 private:
  int steps_;
  const SequenceParts parts_;
};

}  // namespace

std::unique_ptr<const Answering> make_sequence_answering(const AgentConfig& config,
                                                         const ObservationSpec& spec,
                                                         int state_size, int steps,
                                                         ParameterLayout& layout) {
  return std::make_unique<SequenceAnswering>(config, spec, state_size, steps, layout);
}

}  // namespace saccade
