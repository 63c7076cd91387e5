#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "agent/looking/location_estimator.h"
#include "agent/looking/locator.h"
#include "agent/looking/look_base.h"
#include "agent/looking/looking_parts.h"
#include "agent/looking/smooth_look.h"

namespace saccade {
namespace {

using Learning = GlimpseKind::Learning;

// What places and sees one location a step.
struct PointParts {
  LocationEstimator estimator;  // of nothing where it does not learn
  GlimpseNetwork network;
  Locator locator;
  int first = -1;    // parameter (1, 2); -1 where the first glimpse is not learned
  int log_std = -1;  // parameter (1, 1); -1 where the deviation is not learned
  Policy policy;
  Policy first_policy;
  std::array<float, 2> half_sides;  // of the finest patch, in location units
};

// What leads from the locations of all steps to the parameters that place them.
struct PlaceGradients {
  PlaceGradients(int steps, int episodes, int width)
      : dmeans(zeros<3>(steps, episodes, 2)), dhidden(zeros<3>(steps, episodes, width)) {}

  Tensor<3> dmeans;   // (T, B, 2)
  Tensor<3> dhidden;  // (T, B, width): of the locator
};

// One location a step: the Gaussian policy of Mnih et al. (2014), the controls, and the policy's
// mean alone (soft_point).
class PointLook final : public LookBase {
 public:
  // `first_learned`: the first glimpse that something learns to place; T if none.
  PointLook(const PointParts& parts, const ParameterLayout& layout, int first_learned,
            Environment& environment, CoreMemory& core)
      : LookBase(2, parts.network.sizes().glimpse, environment, core),
        parts_(parts),
        layout_(layout),
        first_learned_(first_learned),
        pass_(parts.network, *this, core),
        hidden_(zeros<3>(steps(), episodes(), parts.locator.hidden_size())),
        score_(steps(), episodes(), parts.locator.hidden_size()) {
    if (parts.estimator.by_path) path_.emplace(*this, parts);
  }

  void begin(std::span<const float>) override {}

  void decide(const Turn& turn) override {
    const int t = turn.t;
    const Matrix mean = step(decisions, t);
    if (t > 0) {
      parts_.locator.forward(mean, step(hidden_, t), core_.state(t), turn.parameters);
      squash_forward(mean);
    } else if (parts_.first >= 0) {
      first_forward(mean, turn.parameters);
    }
    const Policy own = t == 0 ? parts_.first_policy : parts_.policy;
    const Policy policy = turn.request.policy != nullptr ? turn.request.policy : own;
    const bool noisy =
        turn.request.readout == Readout::training || turn.request.readout == Readout::sample;
    policy(step(actions, t), {.t = t,
                              .num_glimpses = steps(),
                              .mean = mean,
                              .std = noisy ? exploration.std : 0.0F,
                              .target = turn.targets,
                              .streams = turn.streams});
  }

  void read(int t, std::span<const float> parameters) override {
    clamp_to_canvas(step(locations, t), step(actions, t));
    if (path_)
      path_->look.forward(environment_, t, step(locations, t), step(glimpses, t));
    else
      environment_.look(step(locations, t), step(glimpses, t));
    pass_.forward(t, parameters);
  }

  LookLoss loss_backward(std::span<float> gradient, const Credit& credit,
                         std::span<const float> parameters) override {
    const double choices = static_cast<double>(steps() - first_learned_) * episodes();
    LookLoss loss;
    if (choices == 0.0 || exploration.std == 0.0F) return loss;

    double dlog_std = 0.0;
    if (parts_.estimator.by_score) score_backward(loss, dlog_std, credit);
    loss.reinforce -= credit.entropy * gaussian_entropy(exploration.std) * choices;
    dlog_std -= 2.0 * credit.entropy * choices * credit.scale;

    if (parts_.log_std >= 0)
      *layout_.view(gradient, parts_.log_std).data = static_cast<float>(dlog_std);
    if (!parts_.estimator.by_score) return loss;
    if (parts_.first >= 0) first_backward(gradient, score_, 0.0F);
    locator_backward(gradient, parameters);
    return loss;
  }

  // The mean's gradient of step t, and on to the state that placed it. Of a sample l = mu + std
  // epsilon the noise is what is held.
  void step_backward(int t, Matrix dfeature, std::span<const float> parameters) override {
    pass_.activation_backward(dfeature, t, 1, parameters);
    if (t < first_learned_) return;
    const Matrix dmean = step(path_->gradients.dmeans, t);
    pass_.input_backward(matrix(path_->dglimpse), dmean, t, parameters);
    path_->look.backward(dmean, t, matrix(path_->dglimpse));
    clamp_backward(dmean, step(actions, t));
    path_->dlog_std[t] = dot_deviations(t, dmean);
    if (t == 0) return;
    squash_backward(dmean, step(decisions, t));
    const Matrix dhidden = step(path_->gradients.dhidden, t);
    parts_.locator.activation_backward(dhidden, dmean, step(hidden_, t), parameters);
    parts_.locator.state_backward(step(core_.dstate, t - 1), dhidden, parameters);
  }

  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float> parameters) override {
    if (path_)
      path_backward(gradient);
    else
      pass_.activation_backward(dfeatures, 0, steps(), parameters);
    pass_.weight_backward(gradient, dfeatures);
  }

  void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix,
                      std::span<const float> parameters) override {
    if (!path_) return pass_.retina_backward(dcanvases, dglimpses, environment_, parameters);
    pass_.glimpse_backward(dglimpses, parameters);
    SmoothLook::canvas_backward(dcanvases, environment_, locations, dglimpses);
  }

  float entropy(int, int) const override {
    return exploration.std > 0.0F ? gaussian_entropy(exploration.std) : 0.0F;
  }

  Gaze gaze(int t, int b) override {
    static constexpr float kOne = 1.0F;
    const auto [half_width, half_height] = parts_.half_sides;
    return {{&locations(t, b, 0), 1, 2, 2}, {&kOne, 1}, half_width, half_height};
  }

  void picture(int t, int b, float* glimpse) const override {
    std::copy_n(&glimpses(t, b, 0), glimpse_size(), glimpse);
  }

 private:
  // What the way back through what is seen needs.
  struct Path {
    Path(const PointLook& of, const PointParts& parts)
        : look(of.steps(), of.episodes(), of.glimpse_size()),
          gradients(of.steps(), of.episodes(), parts.locator.hidden_size()),
          dglimpse(zeros<2>(of.episodes(), of.glimpse_size())),
          dlog_std(of.steps()) {}

    SmoothLook look;
    PlaceGradients gradients;
    Tensor<2> dglimpse;            // (B, D)
    std::vector<double> dlog_std;  // (T)
  };

  // mu_1 = tanh(parameter), the same in every episode.
  void first_forward(Matrix mean, std::span<const float> parameters) const {
    const ConstMatrix first = layout_.view(parameters, parts_.first);
    for (int b = 0; b < mean.rows; ++b)
      for (int axis = 0; axis < 2; ++axis) mean(b, axis) = std::tanh(first(0, axis));
  }

  // Written (beta = 0) or added to what is there (1).
  void first_backward(std::span<float> gradient, const PlaceGradients& from, float beta) const {
    const Matrix dfirst = layout_.view(gradient, parts_.first);
    for (int axis = 0; axis < 2; ++axis) {
      const float mean = decisions(0, 0, axis);
      float sum = 0.0F;
      for (int b = 0; b < episodes(); ++b) sum += from.dmeans(0, b, axis);
      const float before = beta > 0.0F ? dfirst(0, axis) : 0.0F;
      dfirst(0, axis) = before + sum * (1.0F - mean * mean);
    }
  }

  // - weight sum_t A_t log pi(l_t), of the unclamped sample.
  void score_backward(LookLoss& loss, double& dlog_std, const Credit& credit) {
    const auto [advantages, weight, entropy, scale] = credit;
    const float std = exploration.std;
    score_.dmeans.fill(0.0F);
    for (int t = first_learned_; t < steps(); ++t) {
      for (int b = 0; b < episodes(); ++b) {
        const float* sample = &actions(t, b, 0);
        const float* mean = &decisions(t, b, 0);
        const float advantage = advantages(t, b);
        loss.reinforce -= weight * advantage * gaussian_log_probability_forward(sample, mean, std);
        dlog_std += gaussian_log_probability_backward(&score_.dmeans(t, b, 0), sample, mean, std,
                                                      -weight * advantage * scale);
      }
    }
  }

  // REINFORCE alone: of all steps at once, for the states are detached.
  void locator_backward(std::span<float> gradient, std::span<const float> parameters) {
    const int first = placed_from(), count = steps() - first;
    if (count == 0) return;
    const Matrix dmean = core_.steps_of(score_.dmeans, first, count);
    squash_backward(dmean, core_.steps_of(decisions, first, count));
    parts_.locator.activation_backward(core_.steps_of(score_.dhidden, first, count), dmean,
                                       core_.steps_of(hidden_, first, count), parameters);
    locator_weight_backward(gradient, score_, 0.0F);
  }

  // After step_backward of all steps: adds to what REINFORCE and the entropy bonus wrote.
  void path_backward(std::span<float> gradient) {
    if (first_learned_ == steps()) return;
    const float beta = parts_.estimator.by_score ? 1.0F : 0.0F;
    if (parts_.first >= 0) first_backward(gradient, path_->gradients, beta);
    locator_weight_backward(gradient, path_->gradients, beta);
    if (parts_.log_std < 0) return;
    double sum = 0.0;
    for (int t = first_learned_; t < steps(); ++t) sum += path_->dlog_std[t];
    *layout_.view(gradient, parts_.log_std).data += static_cast<float>(sum);
  }

  void locator_weight_backward(std::span<float> gradient, PlaceGradients& from, float beta) {
    const int first = placed_from(), count = steps() - first;
    if (count == 0) return;
    parts_.locator.weight_backward(
        gradient, core_.steps_of(from.dhidden, first, count),
        core_.steps_of(from.dmeans, first, count), core_.steps_of(hidden_, first, count),
        core_.all_states().row_range(first * episodes(), count * episodes()), beta);
  }

  // d l / d log std = l - mu.
  double dot_deviations(int t, ConstMatrix dmean) const {
    double sum = 0.0;
    for (int b = 0; b < episodes(); ++b)
      for (int axis = 0; axis < 2; ++axis)
        sum += dmean(b, axis) * (actions(t, b, axis) - decisions(t, b, axis));
    return sum;
  }

  // The locator places the glimpses from this on: the first one is placed by no state.
  int placed_from() const { return std::max(first_learned_, 1); }

  const PointParts& parts_;
  const ParameterLayout& layout_;
  const int first_learned_;
  GlimpsePass pass_;
  Tensor<3> hidden_;          // (T, B, width): of the locator
  PlaceGradients score_;      // of REINFORCE
  std::optional<Path> path_;  // where it learns through what is seen
};

class PointLooking final : public Looking {
 public:
  PointLooking(const AgentConfig& config, const Sight& sight, ParameterLayout& layout)
      : Looking(config.glimpse),
        layout_(layout),
        learning_(find_glimpse_kind(config_.kind).learning),
        parts_(make_parts(config, sight, layout)) {
    if (learns_first()) parts_.first = layout.add("locator.first", 1, 2, constant(0));
    if (learns() && config_.learn_std)
      parts_.log_std = layout.add("locator.log_std", 1, 1,
                                  constant(std::log(static_cast<float>(config_.std.from))));
    traits_ = retina_traits(config, sight);
    traits_.differentiable = parts_.estimator.by_path;
    traits_.smooth = parts_.estimator.by_path;
    traits_.samples = learning_ != Learning::backpropagation;
    traits_.first_action = parts_.estimator.by_score ? first_learned() : traits_.steps;
    traits_.canvas_pixels = traits_.steps * sight.widest_patch * sight.widest_patch;
  }

  std::unique_ptr<Look> make_look(Environment& environment, CoreMemory& core) const override {
    return std::make_unique<PointLook>(parts_, layout_, first_learned(), environment, core);
  }

  Exploration exploration_at(double progress, std::span<const float> parameters) const override {
    Exploration exploration = Looking::exploration_at(progress, parameters);
    if (learning_ == Learning::backpropagation) exploration.std = 0.0F;
    if (parts_.log_std >= 0)
      exploration.std = std::exp(*layout_.view(parameters, parts_.log_std).data);
    return exploration;
  }

  // The first glimpse is placed by no state. Of one that is learned through what is seen the slopes
  // lead back to its location, a product of (2, D) with the glimpse's gradient.
  Work work() const override {
    const int placed = learns() ? traits_.steps - 1 : 0;
    const int traced = parts_.estimator.by_path ? traits_.steps - first_learned() : 0;
    const Work slopes{.backward = 2 * parts_.network.sizes().glimpse};
    return parts_.locator.work(parts_.estimator.by_path ? Input::differentiated : Input::constant) *
               placed +
           (parts_.network.work(Input::differentiated) + slopes) * traced +
           parts_.network.work(Input::constant) * (traits_.steps - traced);
  }

 private:
  PointParts make_parts(const AgentConfig& config, const Sight& sight,
                        ParameterLayout& layout) const {
    const std::string& kind = config_.kind;
    return {.estimator = estimator_of(config.reinforce),
            .network = make_glimpse_network(config.model, sight.glimpse_size, layout),
            .locator = Locator(config.model.hidden_size, config.model.locator_hidden, "mean",
                               {0.0F, 0.0F}, layout),
            .policy = find_policy(learns() ? kLearnedPolicy : kind),
            // A control keeps its own rule from the first glimpse on.
            .first_policy = learns() ? find_first_glimpse(config_.first) : find_policy(kind),
            .half_sides = half_sides(sight)};
  }

  LocationEstimator estimator_of(const ReinforceConfig& reinforce) const {
    if (learning_ == Learning::reinforce) return find_location_estimator(reinforce.estimator);
    return {.by_score = false, .by_path = learning_ == Learning::backpropagation};
  }

  bool learns() const { return learning_ != Learning::none; }
  bool learns_first() const { return learns() && config_.first == "learned"; }
  // The first glimpse that something learns to place; T if none.
  int first_learned() const { return !learns() ? config_.num_glimpses : learns_first() ? 0 : 1; }

  const ParameterLayout& layout_;
  const Learning learning_;
  PointParts parts_;
};

}  // namespace

GlimpseKind point_looking(Learning learning) {
  return {.learning = learning,
          .can_learn_std = learning == Learning::reinforce,
          .has_path = learning == Learning::reinforce,
          .sees_motion = true,
          .make = make<PointLooking>};
}

}  // namespace saccade
