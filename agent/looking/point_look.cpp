#include "agent/looking/point_look.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "agent/looking/look_base.h"
#include "agent/looking/smooth_look.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// Gradients between the locations of all steps and the parameters that place them.
struct PlaceGradients {
  PlaceGradients(int steps, int episodes, int location_size, int width)
      : dmeans(zeros<3>(steps, episodes, location_size)),
        dhidden(zeros<3>(steps, episodes, width)) {}

  Tensor<3> dmeans;   // (T, B, L)
  Tensor<3> dhidden;  // (T, B, width): of the locator
};

class PointLook final : public LookBase {
 public:
  PointLook(const PointParts& parts, const ParameterLayout& layout, Environment& environment,
            CoreMemory& core)
      : LookBase(parts.location_size(), parts.glimpse.shape.size, environment, core),
        parts_(parts),
        layout_(layout),
        pass_(parts.glimpse, *this, core),
        context_(parts.context, environment),
        hidden_(zeros<3>(steps(), episodes(), parts.locator.hidden_size())),
        score_(steps(), episodes(), parts.location_size(), parts.locator.hidden_size()) {
    locations = actions;
    if (parts.estimator.by_path)
      path_.emplace(*this, parts);
    else if (parts.moves.relative && !parts.zooms())
      slopes_ = zeros<2>(episodes(), 2 * glimpse_size());
  }

  void begin(std::span<const float> parameters) override { context_.forward(parameters); }

  void decide(const StepContext& now) override {
    const int t = now.t;
    const Matrix mean = step(decisions, t);
    if (t >= parts_.first_placed()) {
      parts_.locator.forward(mean, step(hidden_, t), core_.state(t), now.parameters,
                             context_.added());
      squash_forward(mean);
    } else if (parts_.first >= 0) {
      first_forward(mean, now.parameters);
    }
    const Policy own = t == 0 ? parts_.first_policy : parts_.policy;
    const Policy policy = now.request.policy != nullptr ? now.request.policy : own;
    const bool noisy = now.request.sampling == SamplingMode::training ||
                       now.request.sampling == SamplingMode::sample;
    policy(step(actions, t), {.t = t,
                              .num_glimpses = steps(),
                              .mean = mean,
                              .std = noisy ? exploration.std : 0.0F,
                              .zoom_std = noisy ? exploration.zoom_std : 0.0F,
                              .target = now.targets,
                              .streams = now.streams,
                              .moves = parts_.moves.relative ? &parts_.moves : nullptr,
                              .from = from(t)});
    const bool spreads =
        parts_.always_spreads || now.request.sampling == SamplingMode::deterministic;
    if (spreads && now.request.policy == nullptr && t >= parts_.first_learned) look_about(t);
  }

  void place(int t, ConstMatrix places) override {
    copy_rows(step(actions, t), places);
    if (!parts_.moves.relative) return locate(t);
    lead_to(step(actions, t), from(t), parts_.moves);
    copy_rows(step(locations, t), places);
  }

  void locate(int t) override {
    move_forward(step(locations, t), step(actions, t), from(t), parts_.moves);
  }

  // Relative moves look between pixels: a step may be shorter than one.
  void read(int t, std::span<const float> parameters) override {
    if (path_)
      path_->look.forward(environment_, t, step(locations, t), step(glimpses, t));
    else if (slopes_.size() > 0)
      environment_.look_smoothly(step(locations, t), step(glimpses, t), matrix(slopes_));
    else
      environment_.look(step(locations, t), step(glimpses, t));
    environment_.find_places(step(locations, t));
    pass_.forward(t, parameters);
  }

  LookLoss loss_backward(std::span<float> gradient, const Credit& credit,
                         std::span<const float> parameters) override {
    LookLoss loss;
    if (parts_.first_learned == steps() || exploration.std == 0.0F) return loss;
    double bonus = 0.0;
    for (int t = parts_.first_learned; t < steps(); ++t)
      for (int b = 0; b < episodes(); ++b) bonus += credit.entropy_at(t, b);

    double dlog_std = 0.0;
    if (parts_.estimator.by_score) score_backward(loss, dlog_std, credit);
    loss.reinforce -= entropy(0, 0) * bonus;
    dlog_std -= 2.0 * bonus * credit.scale;

    if (parts_.log_std >= 0)
      *layout_.view(gradient, parts_.log_std).data = static_cast<float>(dlog_std);
    if (!parts_.estimator.by_score) return loss;
    if (parts_.first >= 0) first_backward(gradient, score_, 0.0F);
    locator_backward(gradient, parameters);
    return loss;
  }

  // From the gradient of step t's mean to the state that placed it. For a sample l = mu + std
  // epsilon, epsilon is constant. A relative move starts at the location before, to which its
  // gradient goes too.
  void step_backward(int t, Matrix dfeature, std::span<const float> parameters) override {
    pass_.activation_backward(dfeature, t, 1, parameters);
    if (t < parts_.first_learned) return;
    const Matrix dmean = step(path_->gradients.dmeans, t);
    pass_.input_backward(matrix(path_->dglimpse), dmean, t, parameters);
    path_->look.backward(dmean, t, matrix(path_->dglimpse));
    const Matrix dfrom = matrix(path_->dfrom);
    if (parts_.moves.relative && t + 1 < steps()) add(dmean.columns(0, 2), dfrom);
    move_backward(dmean, dfrom, step(actions, t), from(t), parts_.moves);
    path_->dlog_std[t] = dot_deviations(t, dmean);
    if (t < placed_from()) return;
    squash_backward(dmean, step(decisions, t));
    const Matrix dhidden = step(path_->gradients.dhidden, t);
    parts_.locator.activation_backward(dhidden, dmean, step(hidden_, t), parameters);
    if (t > 0 && !detached)
      parts_.locator.state_backward(step(core_.dstate, t - 1), dhidden, parameters);
  }

  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float> parameters) override {
    if (path_)
      path_backward(gradient, parameters);
    else
      pass_.activation_backward(dfeatures, 0, steps(), parameters);
    pass_.weight_backward(gradient, dfeatures);
  }

  void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix,
                      std::span<const float> parameters) override {
    if (!path_ && !parts_.moves.relative)
      return pass_.retina_backward(dcanvases, dglimpses, environment_, parameters);
    pass_.glimpse_backward(dglimpses, parameters);
    SmoothLook::canvas_backward(dcanvases, environment_, locations, dglimpses);
    if (path_) context_.input_backward(dcanvases, parameters);
  }

  float entropy(int, int) const override {
    if (exploration.std <= 0.0F) return 0.0F;
    const float of_place = gaussian_entropy(exploration.std);
    return parts_.zooms() ? of_place + zoom_entropy(exploration.zoom_std) : of_place;
  }

  float log_probability(int t, int b) const override {
    if (t < parts_.first_learned || exploration.std <= 0.0F) return 0.0F;
    return log_probability_of(t, b);
  }

  Gaze gaze(int t, int b) override {
    static constexpr float kOne = 1.0F;
    const auto [half_width, half_height] = parts_.half_sides;
    const float zoom =
        parts_.zooms() ? static_cast<float>(parts_.zoom.at(locations(t, b, 2))) : 1.0F;
    return {.places = {&locations(t, b, 0), 1, 2, parts_.location_size()},
            .weights = {&kOne, 1},
            .half_width = zoom * half_width,
            .half_height = zoom * half_height,
            .zoom = zoom};
  }

  void picture(int t, int b, float* glimpse) const override {
    std::copy_n(&glimpses(t, b, 0), glimpse_size(), glimpse);
  }

 private:
  // Workspace of the pathwise estimator.
  struct Path {
    Path(const PointLook& of, const PointParts& parts)
        : look(of.steps(), of.episodes(), parts.location_size(), of.glimpse_size()),
          gradients(of.steps(), of.episodes(), parts.location_size(), parts.locator.hidden_size()),
          dglimpse(zeros<2>(of.episodes(), of.glimpse_size())),
          dfrom(zeros<2>(of.episodes(), 2)),
          dlog_std(of.steps()) {}

    SmoothLook look;
    PlaceGradients gradients;
    Tensor<2> dglimpse;            // (B, D)
    Tensor<2> dfrom;               // (B, 2): of the location before, if moves are relative
    std::vector<double> dlog_std;  // (T)
  };

  // Without noise the looks of an episode would nearly coincide once the agent has found its
  // target, and the later ones would see nothing new.
  void look_about(int t) {
    const std::array<float, 2> offset = spread_offset(t, steps());
    for (int b = 0; b < episodes(); ++b)
      for (int axis = 0; axis < 2; ++axis)
        actions(t, b, axis) += parts_.spread * exploration.width() * offset[axis];
  }

  // mu_1 = tanh(parameter), the same in every episode.
  void first_forward(Matrix mean, std::span<const float> parameters) const {
    const ConstMatrix first = layout_.view(parameters, parts_.first);
    for (int b = 0; b < mean.rows; ++b)
      for (int axis = 0; axis < mean.cols; ++axis) mean(b, axis) = std::tanh(first(0, axis));
  }

  // Overwrites the gradient (beta = 0) or adds to it (beta = 1).
  void first_backward(std::span<float> gradient, const PlaceGradients& from, float beta) const {
    const Matrix dfirst = layout_.view(gradient, parts_.first);
    for (int axis = 0; axis < dfirst.cols; ++axis) {
      const float mean = decisions(0, 0, axis);
      float sum = 0.0F;
      for (int b = 0; b < episodes(); ++b) sum += from.dmeans(0, b, axis);
      const float before = beta > 0.0F ? dfirst(0, axis) : 0.0F;
      dfirst(0, axis) = before + sum * (1.0F - mean * mean);
    }
  }

  // - weight sum_t A_t log pi(l_t), of the unclamped sample.
  void score_backward(LookLoss& loss, double& dlog_std, const Credit& credit) {
    const float weight = credit.weight, std = exploration.std;
    score_.dmeans.fill(0.0F);
    for (int t = parts_.first_learned; t < steps(); ++t) {
      for (int b = 0; b < episodes(); ++b) {
        const float* sample = &actions(t, b, 0);
        const float* mean = &decisions(t, b, 0);
        const float advantage = credit.advantages(t, b);
        loss.reinforce -= weight * advantage * log_probability_of(t, b);
        dlog_std += gaussian_log_probability_backward(&score_.dmeans(t, b, 0), sample, mean, std,
                                                      -weight * advantage * credit.scale);
        if (parts_.zooms())
          score_.dmeans(t, b, 2) += zoom_log_probability_backward(
              sample[2], mean[2], exploration.zoom_std, -weight * advantage * credit.scale);
      }
    }
  }

  // log pi of the unclamped sample.
  float log_probability_of(int t, int b) const {
    const float *sample = &actions(t, b, 0), *mean = &decisions(t, b, 0);
    const float of_place = gaussian_log_probability_forward(sample, mean, exploration.std);
    if (!parts_.zooms()) return of_place;
    return of_place + zoom_log_probability_forward(sample[2], mean[2], exploration.zoom_std);
  }

  // For REINFORCE only: all steps at once, because the states are detached.
  void locator_backward(std::span<float> gradient, std::span<const float> parameters) {
    const int first = placed_from(), count = steps() - first;
    if (count == 0) return;
    const Matrix dmean = core_.steps_of(score_.dmeans, first, count);
    squash_backward(dmean, core_.steps_of(decisions, first, count));
    parts_.locator.activation_backward(core_.steps_of(score_.dhidden, first, count), dmean,
                                       core_.steps_of(hidden_, first, count), parameters);
    locator_weight_backward(gradient, score_, parameters, 0.0F);
  }

  // After step_backward of all steps: adds to the gradients of REINFORCE and the entropy bonus.
  void path_backward(std::span<float> gradient, std::span<const float> parameters) {
    if (parts_.first_learned == steps()) return;
    const float beta = parts_.estimator.by_score ? 1.0F : 0.0F;
    if (parts_.first >= 0) first_backward(gradient, path_->gradients, beta);
    locator_weight_backward(gradient, path_->gradients, parameters, beta);
    if (parts_.log_std < 0) return;
    double sum = 0.0;
    for (int t = parts_.first_learned; t < steps(); ++t) sum += path_->dlog_std[t];
    *layout_.view(gradient, parts_.log_std).data += static_cast<float>(sum);
  }

  void locator_weight_backward(std::span<float> gradient, PlaceGradients& from,
                               std::span<const float> parameters, float beta) {
    const int first = placed_from(), count = steps() - first;
    if (count == 0) return;
    const Matrix dhidden = core_.steps_of(from.dhidden, first, count);
    parts_.locator.weight_backward(
        gradient, dhidden, core_.steps_of(from.dmeans, first, count),
        core_.steps_of(hidden_, first, count),
        core_.all_states().row_range(first * episodes(), count * episodes()), beta);
    Locator::context_backward(context_.dadded(), dhidden);
    context_.backward(gradient, parameters, beta);
  }

  // d l / d log std = l - mu; the zoom has its own deviation.
  double dot_deviations(int t, ConstMatrix dmean) const {
    double sum = 0.0;
    for (int b = 0; b < episodes(); ++b)
      for (int axis = 0; axis < 2; ++axis)
        sum += dmean(b, axis) * (actions(t, b, axis) - decisions(t, b, axis));
    return sum;
  }

  // The first glimpse that the locator learns to place.
  int placed_from() const { return std::max(parts_.first_learned, parts_.first_placed()); }

  const PointParts& parts_;
  const ParameterLayout& layout_;
  GlimpsePass pass_;
  ContextPass context_;
  Tensor<3> hidden_;          // (T, B, width): of the locator
  PlaceGradients score_;      // of REINFORCE
  std::optional<Path> path_;  // if it learns by the pathwise estimator
  Tensor<2> slopes_;          // (B, 2 D): of a relative look, unused; else no data
};

}  // namespace

std::unique_ptr<Look> make_point_look(const PointParts& parts, const ParameterLayout& layout,
                                      Environment& environment, CoreMemory& core) {
  return std::make_unique<PointLook>(parts, layout, environment, core);
}

}  // namespace saccade
