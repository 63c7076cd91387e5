#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "agent/looking/look_base.h"
#include "attention/categorical.h"
#include "nn/gemm.h"
#include "nn/rows.h"

namespace saccade {
namespace {

// A distribution over the G candidates of a grid, sampled (hard_categorical) or averaged over
// (soft_grid). Actions are weights: one-hot for what is sampled.
class GridLook final : public LookBase {
 public:
  GridLook(const Model& model, Environment& environment, CoreMemory& core)
      : LookBase(model, environment, core, model.num_candidates(), model.sees_one_glimpse()),
        config_(model.config().glimpse),
        soft_(model.learns_by(GlimpseKind::Learning::backpropagation)),
        places_(matrix(model.places)),
        center_(nearest_place(places_, 0.0F, 0.0F)),
        policy_samples_(zeros<2>(episodes(), 2)),
        products_(places_.rows),
        dlogits_(zeros<3>(steps(), episodes(), places_.rows)) {
    const int batch = episodes(), count = places_.rows;
    if (model.looks_at_all_candidates()) candidates_ = zeros<3>(batch, count, model.glimpse_size());
    if (model.embeds_candidates()) {
      const ModelConfig& sizes = model.config().model;
      what_ = zeros<3>(batch, count, sizes.glimpse_hidden);
      embeddings_ = zeros<3>(batch, count, sizes.feature_size);
      dwhat_ = zeros<3>(batch, count, sizes.glimpse_hidden);
      dembeddings_ = zeros<3>(batch, count, sizes.feature_size);
      embedding_places_.emplace(model.glimpse_network->make_places(places_));
    }
    if (model.score != nullptr) {
      score_memory_.emplace(model.score->make_memory(steps(), batch, count));
    } else {
      hidden_ = zeros<3>(steps(), batch, model.locator->hidden_size());
      dhidden_ = zeros<3>(steps(), batch, model.locator->hidden_size());
    }
    if (model.looks_at_all_candidates()) dcandidates_ = zeros<2>(count, model.glimpse_size());
    if (!reads_embeddings() && soft_) {
      dglimpse_ = zeros<2>(batch, model.glimpse_size());
      dlocation_ = zeros<2>(batch, 2);
    }
  }

  void begin(std::span<const float> parameters) override {
    if (candidates_.size() > 0) environment_.look_at_all(places_, matrix(candidates_));
    if (embeddings_.size() > 0)
      model_.glimpse_network->forward(matrix(embeddings_), matrix(what_), *embedding_places_,
                                      matrix(candidates_), parameters);
    if (model_.score != nullptr)
      model_.score->prepare(*score_memory_, matrix(embeddings_), parameters);
  }

  void decide(const Turn& turn) override {
    const Matrix p = step(decisions, turn.t);
    const Matrix weights = step(actions, turn.t);
    if (turn.request.policy != nullptr) {
      follow(turn, p);
    } else if (turn.t < first_learned()) {
      const bool uniform = config_.first == "random";
      for (int b = 0; b < p.rows; ++b) {
        std::fill_n(p.row(b), p.cols, uniform ? 1.0F / static_cast<float>(p.cols) : 0.0F);
        if (!uniform) p(b, center_) = 1.0F;
      }
    } else {
      const ConstMatrix state = core_.state(turn.t);
      if (model_.score != nullptr)
        model_.score->forward(p, *score_memory_, turn.t, state, matrix(embeddings_),
                              turn.parameters);
      else
        model_.locator->forward(p, step(hidden_, turn.t), state, turn.parameters);
      softmax_forward(p, p, turn.request.temperature);
    }
    choose(weights, p, turn);
  }

  void read(int t, std::span<const float> parameters) override {
    const ConstMatrix weights = step(actions, t);
    multiply(step(locations, t), weights, places_);
    if (reads_embeddings()) {
      for (int b = 0; b < episodes(); ++b)
        weighted_rows(core_.glimpse_feature(t).row(b), weights.row(b), of_episode(embeddings_, b));
      return;
    }
    if (soft_)
      for (int b = 0; b < episodes(); ++b)
        weighted_rows(step(glimpses, t).row(b), weights.row(b), of_episode(candidates_, b));
    else
      environment_.look(step(locations, t), step(glimpses, t));
    feature_forward(t, parameters);
  }

  LookLoss loss_backward(std::span<float> gradient, const Credit& credit,
                         std::span<const float> parameters) override {
    temperature_ = credit.temperature;
    dlogits_.fill(0.0F);
    LookLoss loss;
    if (soft_)
      loss.penalty = penalties(credit.scale);
    else
      loss.reinforce = reinforce(gradient, credit, parameters);
    return loss;
  }

  bool differentiable() const override { return soft_; }

  void step_backward(int t, Matrix dfeature, std::span<const float> parameters) override {
    const Matrix dweights = step(dlogits_, t);  // begun by the penalties
    if (reads_embeddings()) {
      for (int b = 0; b < episodes(); ++b)
        add_products(dweights.row(b), of_episode(embeddings_, b), dfeature.row(b));
    } else {
      activation_backward(dfeature, t, 1, parameters);
      model_.glimpse_network->input_backward(matrix(dglimpse_), matrix(dlocation_),
                                             step(djoint_, t), parameters);
      for (int b = 0; b < episodes(); ++b)
        add_products(dweights.row(b), of_episode(candidates_, b), &dglimpse_(b, 0));
      multiply_transposed_b(dweights, matrix(dlocation_), places_, 1.0F);
    }
    if (t < first_learned()) return;
    logits_backward(t, dweights);
    const Matrix dstate = t > 0 ? step(core_.dstate, t - 1) : Matrix{};
    if (model_.score != nullptr) {
      model_.score->backward(dstate, *score_memory_, t, dweights, core_.state(t),
                             matrix(embeddings_), parameters);
    } else {
      model_.locator->activation_backward(step(dhidden_, t), dweights, step(hidden_, t),
                                          parameters);
      if (t > 0) model_.locator->state_backward(dstate, step(dhidden_, t), parameters);
    }
  }

  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float> parameters) override {
    if (reads_embeddings())
      embeddings_backward(dfeatures);
    else if (embeddings_.size() > 0)
      dembeddings_.fill(0.0F);
    if (soft_) locator_backward(gradient, matrix(dembeddings_), parameters);
    if (embeddings_.size() > 0)
      model_.glimpse_network->backward(gradient, matrix(dwhat_), matrix(dembeddings_),
                                       *embedding_places_, matrix(embeddings_), matrix(what_),
                                       matrix(candidates_), parameters);
    if (reads_embeddings()) return;
    if (!soft_) activation_backward(dfeatures, 0, steps(), parameters);
    weight_backward(gradient, dfeatures, embeddings_.size() > 0 ? 1.0F : 0.0F);
  }

  void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix,
                      std::span<const float> parameters) override {
    if (!soft_ && !reads_embeddings()) return retina_backward(dcanvases, dglimpses, parameters);
    if (!reads_embeddings()) glimpse_backward(dglimpses, parameters);
    for (int b = 0; b < episodes(); ++b) candidates_backward(dcanvases, dglimpses, b, parameters);
  }

  float entropy(int t, int b, const RolloutRequest&) const override {
    return entropy_forward(&decisions(t, b, 0), places_.rows);
  }

  Gaze gaze(int t, int b) override {
    const auto [half_width, half_height] = model_.patch_half_sides();
    return {places_,
            {&actions(t, b, 0), static_cast<std::size_t>(places_.rows)},
            half_width,
            half_height};
  }

  void picture(int t, int b, float* glimpse) const override {
    if (glimpses.size() > 0)
      std::copy_n(&glimpses(t, b, 0), model_.glimpse_size(), glimpse);
    else
      weighted_rows(glimpse, &actions(t, b, 0), of_episode(candidates_, b));
  }

 private:
  bool reads_embeddings() const { return glimpses.size() == 0; }
  int first_learned() const { return config_.first == "learned" ? 0 : 1; }

  // The candidates of one episode, (G, width).
  static ConstMatrix of_episode(const Tensor<3>& all, int b) { return step(all, b); }

  // dweights (G) += candidates (G, width) . gradient (width)
  void add_products(float* dweights, ConstMatrix candidates, const float* gradient) {
    row_products(products_.data(), candidates, gradient);
    for (int k = 0; k < candidates.rows; ++k) dweights[k] += products_[k];
  }

  // The candidates that are nearest to where a policy of another kind looks.
  void follow(const Turn& turn, Matrix p) {
    const Matrix samples = matrix(policy_samples_);
    turn.request.policy(samples, {.t = turn.t,
                                  .num_glimpses = steps(),
                                  .mean = samples,
                                  .target = turn.targets,
                                  .streams = turn.streams});
    for (int b = 0; b < p.rows; ++b) {
      std::fill_n(p.row(b), p.cols, 0.0F);
      p(b, nearest_place(places_, samples(b, 0), samples(b, 1))) = 1.0F;
    }
  }

  void choose(Matrix weights, ConstMatrix p, const Turn& turn) const {
    const Readout readout = turn.request.readout;
    const bool samples = readout == Readout::sample || (!soft_ && readout == Readout::training);
    const bool expects = soft_ && !samples && readout != Readout::argmax;
    for (int b = 0; b < p.rows; ++b) {
      const float* row = p.row(b);
      if (expects) {
        std::copy_n(row, p.cols, weights.row(b));
        continue;
      }
      const auto choice =
          samples ? draw(row, p.cols, turn.streams[b]) : std::max_element(row, row + p.cols) - row;
      std::fill_n(weights.row(b), p.cols, 0.0F);
      weights(b, static_cast<int>(choice)) = 1.0F;
    }
  }

  // All T rows of episode b in a (T, B, width) tensor.
  Matrix all_steps(Tensor<3>& tensor, int b) const {
    const int width = static_cast<int>(tensor.shape()[2]);
    return {&tensor(0, b, 0), steps(), width, episodes() * width};
  }

  // Writes the gradients of the weights into dlogits_.
  double penalties(float scale) {
    double sum = 0.0;
    const auto coverage = static_cast<float>(config_.coverage);
    const auto rows = static_cast<float>(config_.row_penalty);
    for (int b = 0; b < episodes(); ++b) {
      const Matrix dw = all_steps(dlogits_, b), w = all_steps(actions, b);
      if (coverage > 0.0F) sum += coverage * coverage_penalty(dw, w, coverage * scale);
      if (rows > 0.0F) sum += rows * row_penalty(dw, w, rows * scale);
    }
    entropy_scale_ = static_cast<float>(config_.entropy) / static_cast<float>(steps());
    if (config_.entropy > 0.0)
      for (int t = first_learned(); t < steps(); ++t)
        for (int b = 0; b < episodes(); ++b)
          sum -= entropy_scale_ * entropy_forward(&decisions(t, b, 0), places_.rows);
    entropy_scale_ *= scale;
    return sum;
  }

  // From the gradients of the weights to those of the logits, in place.
  void logits_backward(int t, Matrix dweights) const {
    const ConstMatrix p = step(decisions, t);
    softmax_backward(dweights, dweights, p, temperature_);
    if (entropy_scale_ > 0.0F)
      for (int b = 0; b < p.rows; ++b)
        entropy_backward(dweights.row(b), p.row(b), p.cols, temperature_, -entropy_scale_);
  }

  double reinforce(std::span<float> gradient, const Credit& credit,
                   std::span<const float> parameters) {
    double loss = 0.0;
    for (int t = first_learned(); t < steps(); ++t)
      for (int b = 0; b < episodes(); ++b) {
        const float* p = &decisions(t, b, 0);
        const float* w = &actions(t, b, 0);
        const int n = places_.rows;
        const int choice = static_cast<int>(std::max_element(w, w + n) - w);
        const float advantage = credit.weight * credit.advantages(t, b);
        loss -= advantage * std::log(p[choice]) + credit.entropy * entropy_forward(p, n);
        float* dlogits = &dlogits_(t, b, 0);
        log_probability_backward(dlogits, p, n, choice, temperature_, -advantage * credit.scale);
        if (credit.entropy > 0.0F)
          entropy_backward(dlogits, p, n, temperature_, -credit.entropy * credit.scale);
      }

    for (int t = steps() - 1; t >= first_learned(); --t) {
      if (model_.score != nullptr)
        model_.score->backward({}, *score_memory_, t, step(dlogits_, t), core_.state(t),
                               matrix(embeddings_), parameters);
      else
        model_.locator->activation_backward(step(dhidden_, t), step(dlogits_, t), step(hidden_, t),
                                            parameters);
    }
    locator_backward(gradient, {}, parameters);
    return loss;
  }

  // The parameters that place the glimpses, from dlogits_; adds to dkeys where there is one.
  void locator_backward(std::span<float> gradient, Matrix dkeys,
                        std::span<const float> parameters) {
    const int first = first_learned(), count = steps() - first;
    if (model_.score != nullptr)
      model_.score->finish(gradient, dkeys, *score_memory_, first, core_.all_states(),
                           matrix(embeddings_), parameters);
    else if (count > 0)
      model_.locator->weight_backward(
          gradient, core_.steps_of(dhidden_, first, count), core_.steps_of(dlogits_, first, count),
          core_.steps_of(hidden_, first, count),
          core_.all_states().row_range(first * episodes(), count * episodes()));
  }

  // dembeddings = sum_t weights_t dfeature_t
  void embeddings_backward(Matrix dfeatures) {
    const int width = dfeatures.cols;
    for (int b = 0; b < episodes(); ++b)
      multiply_transposed_a(step(dembeddings_, b), all_steps(actions, b),
                            {dfeatures.row(b), steps(), width, episodes() * dfeatures.stride});
  }

  // Of all candidates of an episode: as they were read, and as they were scored.
  void candidates_backward(Matrix dcanvases, Tensor<3>& dglimpses, int b,
                           std::span<const float> parameters) {
    const Matrix dcandidates = matrix(dcandidates_);
    if (embeddings_.size() > 0)
      model_.glimpse_network->glimpse_backward(dcandidates, step(dwhat_, b), parameters);
    if (!reads_embeddings())
      multiply_transposed_a(dcandidates, all_steps(actions, b), all_steps(dglimpses, b),
                            embeddings_.size() > 0 ? 1.0F : 0.0F);
    const auto pixels = static_cast<std::size_t>(dcanvases.cols);
    for (int k = 0; k < places_.rows; ++k)
      environment_.look_backward({dcanvases.row(b), pixels}, places_(k, 0), places_(k, 1),
                                 {dcandidates.row(k), dcandidates_.shape()[1]});
  }

  const GlimpseConfig& config_;
  const bool soft_;
  const ConstMatrix places_;  // (G, 2)
  const int center_;
  float temperature_ = 1.0F;
  float entropy_scale_ = 0.0F;
  Tensor<2> policy_samples_;            // (B, 2)
  std::vector<float> products_;         // (G)
  Tensor<3> dlogits_;                   // (T, B, G): first of the weights, then of the logits
  Tensor<3> candidates_;                // (B, G, D): the glimpses of all candidates
  Tensor<3> what_, dwhat_;              // (B, G, what)
  Tensor<3> embeddings_, dembeddings_;  // (B, G, F)
  std::optional<GlimpseNetwork::Places> embedding_places_;
  std::optional<ScoreMemory> score_memory_;  // content
  Tensor<3> hidden_, dhidden_;               // (T, B, width): location
  Tensor<2> dglimpse_, dlocation_;           // (B, D), (B, 2): expectation of pixels
  Tensor<2> dcandidates_;                    // (G, D): of one episode
};

}  // namespace

std::unique_ptr<Look> make_grid_look(const Model& model, Environment& environment,
                                     CoreMemory& core) {
  return std::make_unique<GridLook>(model, environment, core);
}

}  // namespace saccade
