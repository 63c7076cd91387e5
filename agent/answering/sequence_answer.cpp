#include <algorithm>
#include <cmath>

#include "agent/answering/answer.h"
#include "agent/answering/beam_search.h"
#include "agent/answering/decoder.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// A sequence of symbols at the end, by a decoder that attends over the states. In training it is
// told the symbols before each one (teacher forcing); else it goes on from its own.
class SequenceAnswer final : public Answer {
 public:
  SequenceAnswer(const Model& model, Environment& environment, CoreMemory& core)
      : model_(model),
        environment_(environment),
        core_(core),
        memory_(model.decoder->make_memory(environment.max_symbols(), core.episodes())),
        lengths_(core.episodes()),
        previous_(core.episodes()),
        said_(static_cast<std::size_t>(core.episodes()) * symbols()),
        credits_(core.episodes()),
        dlogits_(zeros<3>(symbols(), core.episodes(), model.num_classes())) {
    probabilities = zeros<3>(symbols(), core.episodes(), model.num_classes());
    rewards.resize(core.episodes());
  }

  void begin() override {
    for (int b = 0; b < core_.episodes(); ++b)
      lengths_[b] = counted_steps(environment_.facts()[b], core_.steps);
  }

  void step(const Turn& turn) override {
    if (turn.t < core_.steps - 1) return;
    const bool forced = turn.request.readout == Readout::training;
    model_.decoder->begin(memory_, core_.states(), lengths_, turn.parameters);
    for (int j = 0; j < symbols(); ++j) {
      model_.decoder->step(memory_, j, previous_, core_.states(), turn.parameters);
      const ConstMatrix p = saccade::step(memory_.probabilities, j);
      for (int b = 0; b < p.rows; ++b) {
        const int most = static_cast<int>(std::max_element(p.row(b), p.row(b) + p.cols) - p.row(b));
        said_[b * symbols() + j] = most;
        previous_[b] = forced ? true_symbol(b, j) : most;
      }
    }
    probabilities = memory_.probabilities;
    if (!forced && turn.request.beam > 1)
      beam_search(said_, *model_.decoder, symbols(), turn.request.beam, core_.states(), lengths_,
                  core_.steps, turn.parameters);
    environment_.answer_sequence(said_, rewards);
    credit(forced);
  }

  void returns(Matrix returns) const override {
    for (int t = 0; t < returns.rows; ++t) std::ranges::copy(credits_, returns.row(t));
  }

  // Cross-entropy, summed over the symbols.
  AnswerLoss backward(std::span<float> gradient, const Credit& credit,
                      std::span<const float> parameters) override {
    const double weight = model_.config().training.classifier_weight;
    const float scale = static_cast<float>(weight) * credit.scale;
    dlogits_.fill(0.0F);
    AnswerLoss loss;
    for (int j = 0; j < symbols(); ++j)
      for (int b = 0; b < core_.episodes(); ++b) {
        if (j >= facts(b).num_symbols) continue;
        const float* p = &probabilities(j, b, 0);
        float* dlogits = &dlogits_(j, b, 0);
        loss.classifier -= weight * std::log(p[true_symbol(b, j)]);
        for (int c = 0; c < model_.num_classes(); ++c) dlogits[c] = scale * p[c];
        dlogits[true_symbol(b, j)] -= scale;
      }
    model_.decoder->backward(gradient, matrix(core_.dstate), memory_, matrix(dlogits_),
                             core_.states(), parameters);
    return loss;
  }

  void logit_backward(std::span<float> scratch, int s, std::span<const int> chosen,
                      std::span<const float> parameters) override {
    dlogits_.fill(0.0F);
    choose_logits(saccade::step(dlogits_, s), chosen);
    model_.decoder->backward(scratch, matrix(core_.dstate), memory_, matrix(dlogits_),
                             core_.states(), parameters);
  }

  ConstMatrix logits(int s) const override { return saccade::step(memory_.logits, s); }

  std::span<const int> said(int b) const override {
    const int* first = &said_[b * symbols()];
    const int* end = std::find(first, first + symbols(), model_.num_classes() - 1);
    return {first, end};
  }
  std::span<const int> truth(int b) const override {
    return {facts(b).symbols.data(), static_cast<std::size_t>(facts(b).num_symbols - 1)};
  }
  float error(int b) const override { return 1.0F - rewards[b]; }

  StateWeights state_weights() const override {
    return {memory_.attend ? &memory_.attend->weights : nullptr, 1};
  }

 private:
  int symbols() const { return memory_.symbols(); }
  const SceneFacts& facts(int b) const { return environment_.facts()[b]; }
  // After the end mark, the end mark.
  int true_symbol(int b, int j) const {
    return j < facts(b).num_symbols ? facts(b).symbols[j] : model_.num_classes() - 1;
  }

  // What the looks are credited with: mean over the symbols that were to be said.
  void credit(bool forced) {
    const bool probability = model_.config().reinforce.reward == "probability";
    for (int b = 0; b < core_.episodes(); ++b) {
      const int count = facts(b).num_symbols;
      float sum = 0.0F;
      for (int j = 0; j < count; ++j)
        sum += probability ? probabilities(j, b, true_symbol(b, j))
                           : static_cast<float>(said_[b * symbols() + j] == true_symbol(b, j));
      credits_[b] = forced ? sum / static_cast<float>(count) : rewards[b];
    }
  }

  const Model& model_;
  Environment& environment_;
  CoreMemory& core_;
  DecoderMemory memory_;
  std::vector<int> lengths_;    // (B): states that count
  std::vector<int> previous_;   // (B)
  std::vector<int> said_;       // (B, J)
  std::vector<float> credits_;  // (B)
  Tensor<3> dlogits_;           // (J, B, V)
};

}  // namespace

std::unique_ptr<Answer> make_sequence_answer(const Model& model, Environment& environment,
                                             CoreMemory& core) {
  return std::make_unique<SequenceAnswer>(model, environment, core);
}

}  // namespace saccade
