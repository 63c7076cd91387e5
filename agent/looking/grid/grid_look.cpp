#include "agent/looking/grid/grid_look.h"

#include <algorithm>
#include <cmath>

#include "agent/looking/grid/candidates.h"
#include "agent/looking/look_base.h"
#include "attention/categorical.h"
#include "attention/grid.h"
#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// A distribution over the G candidates of a grid. Actions are weights: one-hot for a choice. If
// moves are relative, the candidates are steps from the last location, which are read between
// pixels; those of the first look, which has no last location, are spread over the canvas.
class GridLook : public LookBase {
 public:
  GridLook(const GridParts& parts, Environment& environment, CoreMemory& core)
      : LookBase(static_cast<int>(parts.places.shape()[0]),
                 reads_embeddings(parts) ? 0 : parts.glimpse.shape.size, environment, core),
        parts_(parts),
        first_learned_(parts.first_learned()),
        candidates_(parts.glimpse, matrix(parts.places), parts.sees_all, parts.embeds, environment),
        read_(reads_embeddings(parts) ? make_embedding_read(candidates_, *this, core)
              : parts.expects_pixels  ? make_pixel_read(candidates_, parts.glimpse, *this, core)
                                     : make_glimpse_read(parts.glimpse, *this, parts.moves.relative,
                                                         environment, core)),
        center_(nearest_place(candidates_.places(), 0.0F, 0.0F)),
        address_memory_(parts.addressing->make_memory(steps(), episodes(), candidates_.size())),
        policy_samples_(zeros<2>(episodes(), 2)),
        reached_(zeros<2>(candidates_.size(), 2)),
        context_(parts.context, environment),
        dlogits_(zeros<3>(steps(), episodes(), candidates_.size())) {}

  void begin(std::span<const float> parameters) override {
    candidates_.look(parameters);
    context_.forward(parameters);
    parts_.addressing->prepare(address_memory_, keys(), parameters);
  }

  void decide(const StepContext& now) override {
    const Matrix p = step(decisions, now.t);
    if (now.request.policy != nullptr) {
      follow(now, p);
    } else if (now.t < first_learned_) {
      const bool uniform = first_is_drawn(parts_.config.first);
      for (int b = 0; b < p.rows; ++b) {
        std::fill_n(p.row(b), p.cols, uniform ? 1.0F / static_cast<float>(p.cols) : 0.0F);
        if (!uniform) p(b, center_) = 1.0F;
      }
    } else {
      parts_.addressing->forward(p, address_memory_, now.t, core_.state(now.t), keys(),
                                 now.parameters);
      softmax_forward(p, p, exploration.temperature);
    }
    choose(step(actions, now.t), p, now);
  }

  void locate(int t) override {
    const Matrix places = step(locations, t);
    multiply(places, step(actions, t), candidates_.places());
    if (parts_.moves.relative) move_forward(places, places, from(t), parts_.moves);
  }

  void read(int t, std::span<const float> parameters) override { read_->forward(t, parameters); }

  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float> parameters) override {
    read_->embeddings_backward(dfeatures);
    addressing_backward(gradient, parameters);
    if (candidates_.embedded()) candidates_.backward(gradient, parameters);
    read_->finish_backward(gradient, dfeatures, parameters);
  }

  void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix,
                      std::span<const float> parameters) override {
    read_->input_backward(dcanvases, dglimpses, parameters);
  }

  float entropy(int t, int b) const override {
    return entropy_forward(&decisions(t, b, 0), candidates_.size());
  }

  Gaze gaze(int t, int b) override {
    static constexpr float kOne = 1.0F;
    const auto [half_width, half_height] = parts_.half_sides;
    if (parts_.moves.relative)
      return {{&locations(t, b, 0), 1, 2, 2}, {&kOne, 1}, half_width, half_height};
    return {candidates_.places(),
            {&actions(t, b, 0), static_cast<std::size_t>(candidates_.size())},
            half_width,
            half_height};
  }

  void picture(int t, int b, float* glimpse) const override { read_->picture(t, b, glimpse); }

 protected:
  /// Writes the weights (B, G) to use, given the probabilities p (B, G).
  virtual void choose(Matrix weights, ConstMatrix p, const StepContext& now) const = 0;
  /// In finish_backward: the backward pass from dlogits to the addressing, unless it was done
  /// earlier.
  virtual void addressing_backward(std::span<float> gradient,
                                   std::span<const float> parameters) = 0;

  // From dlogits_ of step t to the addressing, and to dstate if it has data.
  void logits_backward(Matrix dstate, int t, std::span<const float> parameters) {
    parts_.addressing->backward(dstate, address_memory_, t, step(dlogits_, t), core_.state(t),
                                keys(), parameters);
  }
  // After logits_backward of all learned steps; dembeddings (B G, F) may have no data.
  void finish_addressing(std::span<float> gradient, Matrix dembeddings,
                         std::span<const float> parameters) {
    parts_.addressing->finish(gradient, parts_.by_content ? dembeddings : context_.dadded(),
                              address_memory_, first_learned_, core_.all_states(), keys(),
                              parameters);
    context_.backward(gradient, parameters);
  }

  static void choose_one(float* weights, int choice, int count) {
    std::fill_n(weights, count, 0.0F);
    weights[choice] = 1.0F;
  }
  /// Writes the one-hot weights (B, G) of a sample, or of the deterministic choice. A first look
  /// that is not learned is always sampled.
  void choose_one(Matrix weights, ConstMatrix p, bool samples, const StepContext& now) const {
    const bool draws = samples || (now.t < first_learned_ && now.request.policy == nullptr);
    for (int b = 0; b < p.rows; ++b)
      choose_one(weights.row(b),
                 draws ? draw(p.row(b), p.cols, now.streams[b]) : decided(p.row(b), p.cols, now),
                 p.cols);
  }
  // The most probable candidate; looks after the first spread over the others, too.
  int decided(const float* p, int count, const StepContext& now) const {
    const auto spread = static_cast<float>(parts_.config.spread);
    if (now.t == 0 || spread == 0.0F || now.request.policy != nullptr ||
        now.request.sampling != SamplingMode::deterministic)
      return most_probable(p, count);
    return quantile(p, count, spread_quantile(now.t), spread);
  }
  static int most_probable(const float* p, int count) {
    return static_cast<int>(std::max_element(p, p + count) - p);
  }

  const GridParts& parts_;
  const int first_learned_;
  Candidates candidates_;
  std::unique_ptr<GridRead> read_;

 private:
  static bool reads_embeddings(const GridParts& parts) {
    return parts.embeds && !parts.expects_pixels;
  }

  // Input of the addressing besides the state.
  ConstMatrix keys() const {
    return parts_.by_content ? candidates_.embeddings() : context_.added();
  }

  // Takes the candidates nearest to the locations of another kind's policy.
  void follow(const StepContext& now, Matrix p) {
    const Matrix samples = matrix(policy_samples_);
    const Moves& moves = parts_.moves;
    now.request.policy(samples, {.t = now.t,
                                 .num_glimpses = steps(),
                                 .mean = samples,
                                 .target = now.targets,
                                 .streams = now.streams,
                                 .moves = moves.relative ? &moves : nullptr,
                                 .from = from(now.t)});
    if (moves.relative) move_forward(samples, samples, from(now.t), moves);
    for (int b = 0; b < p.rows; ++b)
      choose_one(p.row(b),
                 nearest_place(places_within_reach(now.t, b), samples(b, 0), samples(b, 1)),
                 p.cols);
  }

  // The locations (G, 2) to which the candidates of look t of episode b lead. Valid until the next
  // call.
  ConstMatrix places_within_reach(int t, int b) {
    const ConstMatrix candidates = candidates_.places(), last = from(t);
    if (!parts_.moves.relative) return candidates;
    const ConstMatrix start =
        t > 0 ? ConstMatrix{last.row(b), candidates.rows, 2, /*stride=*/0} : ConstMatrix{};
    move_forward(matrix(reached_), candidates, start, parts_.moves);
    return matrix(reached_);
  }

  const int center_;
  ScoreMemory address_memory_;
  Tensor<2> policy_samples_;  // (B, 2)
  Tensor<2> reached_;         // (G, 2)

 protected:
  ContextPass context_;
  Tensor<3> dlogits_;  // (T, B, G)
};

// Samples one candidate and learns by REINFORCE: the states and the addressing's keys are
// constants.
class HardGridLook final : public GridLook {
 public:
  using GridLook::GridLook;

  float log_probability(int t, int b) const override {
    if (t < first_learned_) return 0.0F;
    return std::log(decisions(t, b, most_probable(&actions(t, b, 0), candidates_.size())));
  }

  LookLoss loss_backward(std::span<float> gradient, const Credit& credit,
                         std::span<const float> parameters) override {
    dlogits_.fill(0.0F);
    LookLoss loss;
    const int n = candidates_.size();
    const float temperature = exploration.temperature;
    for (int t = first_learned_; t < steps(); ++t)
      for (int b = 0; b < episodes(); ++b) {
        const float* p = &decisions(t, b, 0);
        const int choice = most_probable(&actions(t, b, 0), n);
        const float advantage = credit.weight * credit.advantages(t, b);
        const float bonus = credit.entropy_at(t, b);
        loss.reinforce -= advantage * std::log(p[choice]) + bonus * entropy_forward(p, n);
        float* dlogits = &dlogits_(t, b, 0);
        log_probability_backward(dlogits, p, n, choice, temperature, -advantage * credit.scale);
        if (bonus > 0.0F) entropy_backward(dlogits, p, n, temperature, -bonus * credit.scale);
      }
    for (int t = steps() - 1; t >= first_learned_; --t) logits_backward({}, t, parameters);
    finish_addressing(gradient, {}, parameters);
    return loss;
  }

 private:
  void choose(Matrix weights, ConstMatrix p, const StepContext& now) const override {
    const SamplingMode sampling = now.request.sampling;
    choose_one(weights, p, sampling == SamplingMode::sample || sampling == SamplingMode::training,
               now);
  }

  void addressing_backward(std::span<float>, std::span<const float>) override {}
};

// Takes the expectation over all candidates and learns by backpropagation.
class SoftGridLook final : public GridLook {
 public:
  using GridLook::GridLook;

  // Initialises the gradients of the weights with those of the penalties.
  LookLoss loss_backward(std::span<float>, const Credit& credit, std::span<const float>) override {
    dlogits_.fill(0.0F);
    const GlimpseConfig& config = parts_.config;
    LookLoss loss;
    const auto coverage = static_cast<float>(config.coverage);
    const auto rows = static_cast<float>(config.row_penalty);
    for (int b = 0; b < episodes(); ++b) {
      const Matrix dw = steps_of(dlogits_, b), w = steps_of(actions, b);
      if (coverage > 0.0F)
        loss.penalty += coverage * coverage_penalty(dw, w, coverage * credit.scale);
      if (rows > 0.0F) loss.penalty += rows * row_penalty(dw, w, rows * credit.scale);
    }
    entropy_scale_ = static_cast<float>(config.entropy) / static_cast<float>(steps());
    if (config.entropy > 0.0)
      for (int t = first_learned_; t < steps(); ++t)
        for (int b = 0; b < episodes(); ++b) loss.penalty -= entropy_scale_ * entropy(t, b);
    entropy_scale_ *= credit.scale;
    return loss;
  }

  void step_backward(int t, Matrix dfeature, std::span<const float> parameters) override {
    const Matrix dweights = step(dlogits_, t);
    read_->weights_backward(dweights, t, dfeature, parameters);
    if (t < first_learned_) return;
    // Turns the gradients of the weights into those of the logits, in place.
    const ConstMatrix p = step(decisions, t);
    softmax_backward(dweights, dweights, p, exploration.temperature);
    if (entropy_scale_ > 0.0F)
      for (int b = 0; b < episodes(); ++b)
        entropy_backward(dweights.row(b), p.row(b), p.cols, exploration.temperature,
                         -entropy_scale_);
    logits_backward(t > 0 ? step(core_.dstate, t - 1) : Matrix{}, t, parameters);
  }

  void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix dfeatures,
                      std::span<const float> parameters) override {
    GridLook::input_backward(dcanvases, dglimpses, dfeatures, parameters);
    context_.input_backward(dcanvases, parameters);
  }

 private:
  void choose(Matrix weights, ConstMatrix p, const StepContext& now) const override {
    const SamplingMode sampling = now.request.sampling;
    const bool samples = sampling == SamplingMode::sample;
    if (!samples && sampling != SamplingMode::argmax) return copy_rows(weights, p);
    choose_one(weights, p, samples, now);
  }

  void addressing_backward(std::span<float> gradient, std::span<const float> parameters) override {
    finish_addressing(gradient, candidates_.dembeddings(), parameters);
  }

  // Returns all T rows of episode b.
  Matrix steps_of(Tensor<3>& tensor, int b) const {
    const int width = candidates_.size();
    return {&tensor(0, b, 0), steps(), width, episodes() * width};
  }

  float entropy_scale_ = 0.0F;
};

}  // namespace

std::unique_ptr<Look> make_hard_grid_look(const GridParts& parts, Environment& environment,
                                          CoreMemory& core) {
  return std::make_unique<HardGridLook>(parts, environment, core);
}

std::unique_ptr<Look> make_soft_grid_look(const GridParts& parts, Environment& environment,
                                          CoreMemory& core) {
  return std::make_unique<SoftGridLook>(parts, environment, core);
}

}  // namespace saccade
