#include <algorithm>
#include <optional>

#include "agent/answering/answering.h"
#include "agent/answering/beam_search.h"
#include "agent/answering/decoder.h"
#include "agent/answering/spelling.h"
#include "agent/answering/stopping.h"
#include "agent/credit/reward.h"
#include "nn/layers.h"

namespace saccade {
namespace {

struct SequenceParts {
  Decoder decoder;
  std::optional<StopRule> stop_rule;  // if it may answer before the last look
  double classifier_weight;
  RewardKind reward;
  OwnValues own;  // reinforce.<reward>.*

  bool expects_stops() const { return stop_rule && stop_rule->kind().expected; }
};

// Predicts a sequence of symbols at the end, or when it stops, by a decoder that attends over the
// states so far. Training feeds it the true preceding symbols (teacher forcing), otherwise its own.
class SequenceAnswer final : public Answer {
 public:
  SequenceAnswer(const SequenceParts& parts, Environment& environment, CoreMemory& core)
      : parts_(parts),
        environment_(environment),
        core_(core),
        decoded_(parts.decoder, environment, core.steps, /*versions=*/1),
        lengths_(core.episodes()),
        lengths_read_(core.episodes()),
        weights_(core.episodes(), parts.classifier_weight),
        predictions_(static_cast<std::size_t>(core.episodes()) * environment.max_symbols()),
        worth_(zeros<2>(core.steps, core.episodes())) {
    probabilities =
        zeros<3>(environment.max_symbols(), core.episodes(), parts.decoder.num_symbols());
    rewards.resize(core.episodes());
    if (!parts.stop_rule) return;
    stop_.emplace(*parts.stop_rule, core.steps, core.episodes());
    sureness_ = right_ = nothing_ = zeros<2>(core.steps, core.episodes());
    if (!parts.expects_stops()) return;
    decoded_each_.emplace(parts.decoder, environment, core.steps, /*versions=*/core.steps);
    losses_ = nothing_;
    lengths_each_.resize(core.rows());
    weights_.resize(core.rows());
  }

  void begin() override {
    for (int b = 0; b < core_.episodes(); ++b)
      lengths_[b] = counted_steps(environment_.facts()[b], core_.steps);
  }

  void step(const StepContext& now) override {
    if (now.t < core_.steps - 1) return;
    const SamplingMode sampling = now.request.sampling;
    const bool every_step = now.request.classify_every_step;
    forced_ = sampling == SamplingMode::training;
    stops_ = stop_ && stop_->acts_in(sampling);
    if (forced_ && decoded_each_) return expect_stops(now);
    const bool by_step = parts_.reward.by_step && (forced_ || every_step);
    const bool by_confidence = stops_ && !parts_.stop_rule->kind().learned();
    if (by_step || by_confidence || (stops_ && every_step)) try_each(now.parameters);
    if (stops_) stop_->decide(core_.states(), matrix(sureness_), now);
    answer_at_stop(now);
    judge_answer(by_step);
  }

  void answer_after(int t, std::span<const float> parameters) override {
    stops_ = forced_ = false;
    for (int b = 0; b < core_.episodes(); ++b) lengths_read_[b] = std::min(t + 1, lengths_[b]);
    if (!parts_.decoder.may_read(lengths_read_)) return probabilities.fill(0.0F);
    decoded_.decode(core_.states(), lengths_read_, /*forced=*/false, parameters);
    take(decoded_, [](int b) { return b; });
  }

  int stopped_at(int b) const override { return stops_ ? stop_->stopped_at(b) : core_.steps; }

  float sureness(int t, int b) const override {
    if (stops_ && parts_.stop_rule->kind().learned()) return stop_->stopped_by(t, b);
    return sureness_(t, b);
  }
  bool right(int t, int b) const override { return right_(t, b) == 1.0F; }

  void step_rewards(Matrix step_rewards) const override {
    const auto worth = [this](int t, int b) { return worth_(t, b); };
    const int symbols = parts_.decoder.num_symbols();
    if (!stops_) return write_step_rewards(step_rewards, parts_.reward, symbols, worth);
    write_step_rewards(step_rewards, parts_.reward, symbols, worth, stop_->chances(),
                       static_cast<float>(parts_.stop_rule->price()));
  }

  StopCredit stop_credit() const override {
    if (!stops_) return {};
    return {.chances = stop_->chances(),
            .reach = stop_->reach(),
            .rewards = matrix(parts_.reward.by_step ? nothing_ : worth_)};
  }

  // Cross-entropy, summed over the symbols; of an expected stop, its expectation.
  AnswerLoss backward(std::span<float> gradient, const Credit& credit,
                      std::span<const float> parameters) override {
    const int batch = core_.episodes();
    for (int row = 0; decoded_each_ && row < core_.rows(); ++row)
      weights_[row] = parts_.classifier_weight * stop_->share(row / batch, row % batch);
    Spelling& decoded = decoded_each_ ? *decoded_each_ : decoded_;
    AnswerLoss loss;
    loss.classifier = decoded.backward(gradient, matrix(core_.dstate), weights_, credit.scale,
                                       core_.states(), parameters);
    if (!stops_) return loss;
    const StopLoss stop =
        stop_->backward(gradient, matrix(core_.dstate), credit, matrix(losses_), core_.states(),
                        /*sureness=*/{}, parameters);
    loss.reinforce = stop.reinforce;
    loss.penalty = stop.penalty;
    return loss;
  }

  void logits_backward(std::span<float> gradient, ConstMatrix dlogits,
                       std::span<const float> parameters) override {
    decoded_.logits_backward(gradient, matrix(core_.dstate), dlogits, core_.states(), parameters);
  }

  ConstMatrix logits(int s) const override { return saccade::step(decoded_.memory().logits, s); }
  int chosen(int s, int b) const override {
    const std::span<const int> symbols = predictions(b);
    const int length = static_cast<int>(symbols.size());
    return s < length ? symbols[s] : s == length ? parts_.decoder.num_symbols() - 1 : -1;
  }

  std::span<const int> predictions(int b) const override {
    const std::span<const int> all = std::span(predictions_).subspan(b * symbols(), symbols());
    const auto end = std::ranges::find(all, parts_.decoder.num_symbols() - 1);
    return {all.begin(), end};
  }
  std::span<const int> labels(int b) const override {
    const SceneFacts& facts = environment_.facts()[b];
    return {facts.symbols.data(), static_cast<std::size_t>(facts.num_symbols - 1)};
  }
  float error(int b) const override { return 1.0F - rewards[b]; }

  StateWeights state_weights() const override {
    const std::optional<AttendMemory>& attend = decoded_.memory().attend;
    return {attend ? &attend->weights : nullptr, 1};
  }

 private:
  int symbols() const { return decoded_.memory().symbols(); }

  // Says what it would answer after each look, for the rewards of looks, for a stop by confidence
  // and for who asks; without a stop, the answer itself is that after the last.
  void try_each(std::span<const float> parameters) {
    const int looks = stops_ ? core_.steps : core_.steps - 1;
    for (int t = 0; t < looks; ++t) {
      for (int b = 0; b < core_.episodes(); ++b) lengths_read_[b] = std::min(t + 1, lengths_[b]);
      decoded_.decode(core_.states(), lengths_read_, forced_, parameters);
      for (int b = 0; b < core_.episodes(); ++b) {
        worth_(t, b) = decoded_.worth(b, parts_.reward, parts_.own);
        if (!stops_) continue;
        sureness_(t, b) = decoded_.probability(b);
        right_(t, b) = environment_.judge(b, decoded_.predictions(b));
      }
    }
  }

  void answer_at_stop(const StepContext& now) {
    for (int b = 0; b < core_.episodes(); ++b)
      lengths_read_[b] = std::min(stopped_at(b), lengths_[b]);
    decoded_.decode(core_.states(), lengths_read_, forced_, now.parameters);
    take(decoded_, [](int b) { return b; });
    if (!forced_ && now.request.beam > 1)
      beam_search(predictions_, parts_.decoder, symbols(), now.request.beam, core_.states(),
                  lengths_read_, core_.steps, now.parameters);
    environment_.answer_sequence(predictions_, rewards);
  }

  // The value of the answer: after the last look or, of an agent that stops, after any. Of a drawn
  // stop only the answer there is known. It stands for later ones, too, by which no decision of the
  // same episode is judged.
  void judge_answer(bool by_step) {
    if (stops_ && by_step) return;  // known after every look
    const bool told = forced_ || by_step;
    for (int t = stops_ ? 0 : core_.steps - 1; t < core_.steps; ++t)
      for (int b = 0; b < core_.episodes(); ++b)
        worth_(t, b) = told ? decoded_.worth(b, parts_.reward, parts_.own) : rewards[b];
  }

  // All answers that an expected stop weighs in training, after 1 .. T looks, as rows t B + b.
  void expect_stops(const StepContext& now) {
    const int batch = core_.episodes();
    for (int row = 0; row < core_.rows(); ++row)
      lengths_each_[row] = std::min(row / batch + 1, lengths_[row % batch]);
    decoded_each_->decode(core_.states(), lengths_each_, forced_, now.parameters);
    for (int row = 0; row < core_.rows(); ++row) {
      worth_(row / batch, row % batch) = decoded_each_->worth(row, parts_.reward, parts_.own);
      losses_(row / batch, row % batch) = static_cast<float>(decoded_each_->loss(row));
    }
    stop_->decide(core_.states(), /*sureness=*/{}, now);
    take(*decoded_each_, [&](int b) { return (stop_->stopped_at(b) - 1) * batch + b; });
    environment_.answer_sequence(predictions_, rewards);
  }

  // Takes row_of(b) as the answer of episode b.
  template <class RowOf>
  void take(const Spelling& decoded, const RowOf& row_of) {
    for (int b = 0; b < core_.episodes(); ++b) {
      const int row = row_of(b);
      std::ranges::copy(decoded.predictions(row), predictions_.begin() + b * symbols());
      for (int j = 0; j < symbols(); ++j)
        copy_rows(saccade::step(probabilities, j).row_range(b, 1),
                  saccade::step(decoded.memory().probabilities, j).row_range(row, 1));
    }
  }

  const SequenceParts& parts_;
  Environment& environment_;
  CoreMemory& core_;
  Spelling decoded_;                      // the answers
  std::optional<Spelling> decoded_each_;  // of an expected stop: those after 1 .. T looks
  std::optional<StopPass> stop_;
  bool stops_ = false;             // these episodes may stop early
  bool forced_ = false;            // they are told the true symbols
  std::vector<int> lengths_;       // (B): states that count
  std::vector<int> lengths_read_;  // (B): states that are read
  std::vector<int> lengths_each_;  // (T B): the same of decoded_each_
  std::vector<double> weights_;    // (B), or (T B) of decoded_each_: of the cross-entropy
  std::vector<int> predictions_;   // (B, J)
  Tensor<2> worth_;                // (T, B): value of the prediction after each look
  Tensor<2> losses_;               // (T, B): of an expected stop, the cross-entropy, nats
  Tensor<2> sureness_, right_;     // (T, B): its probability; 1 if it is right. If it may stop
  Tensor<2> nothing_;              // (T, B): zeros
};

class SequenceAnswering final : public Answering {
 public:
  SequenceAnswering(const AgentConfig& config, const ObservationSpec& spec, int state_size,
                    int steps, ParameterLayout& layout)
      : steps_(steps), parts_(make_parts(config, spec, state_size, steps, layout)) {
    traits_ = {.outputs = spec.max_symbols,
               .answer_size = spec.max_symbols,
               .spells = true,
               .attends = parts_.decoder.attends()};
    set_stop(traits_, parts_.stop_rule);
  }

  std::unique_ptr<Answer> make_answer(Environment& environment, CoreMemory& core) const override {
    return std::make_unique<SequenceAnswer>(parts_, environment, core);
  }

  Work work() const override {
    const Work once = parts_.decoder.work(traits_.outputs);
    Work total = parts_.expects_stops() ? once * steps_ : once;
    if (parts_.reward.by_step && !parts_.expects_stops())
      total.forward += (traits_.samples_stops ? steps_ : steps_ - 1) * once.forward;
    return traits_.stops ? total + parts_.stop_rule->work() : total;
  }

  // A stop by confidence needs the answer after every look, a learned one that at the stop alone.
  std::int64_t play_work() const override {
    if (!traits_.stops) return work().forward;
    const std::int64_t once = parts_.decoder.work(traits_.outputs).forward;
    const bool learned = parts_.stop_rule->kind().learned();
    return learned ? once + parts_.stop_rule->work().forward : once * steps_;
  }

 private:
  static SequenceParts make_parts(const AgentConfig& config, const ObservationSpec& spec,
                                  int state_size, int steps, ParameterLayout& layout) {
    return {.decoder =
                Decoder(config.decoder, config.hidden, spec.num_classes, state_size, steps, layout),
            .stop_rule = make_stop_rule(config, state_size, steps, /*reads_odds=*/false, layout),
            .classifier_weight = config.training.classifier_weight,
            .reward = find_reward(config.reinforce.reward),
            .own = config.reinforce.own};
  }

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
