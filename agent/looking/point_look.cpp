#include <algorithm>

#include "agent/looking/look_base.h"

namespace saccade {
namespace {

// One location a step: the Gaussian policy of Mnih et al. (2014), and the controls.
class PointLook final : public LookBase {
 public:
  PointLook(const Model& model, Environment& environment, CoreMemory& core)
      : LookBase(model, environment, core, 2, true),
        policy_(find_policy(model.config().glimpse.kind)),
        // A control keeps its own rule from the first glimpse on.
        first_policy_(model.learns_by(GlimpseKind::Learning::reinforce)
                          ? find_first_glimpse(model.config().glimpse.first)
                          : policy_),
        hidden_(zeros<3>(steps(), episodes(), model.locator->hidden_size())),
        dmeans_(zeros<3>(steps(), episodes(), 2)),
        dhidden_(zeros<3>(steps(), episodes(), model.locator->hidden_size())) {}

  void begin(std::span<const float>) override {}

  void decide(const Turn& turn) override {
    const int t = turn.t;
    const Matrix mean = step(decisions, t);
    if (t > 0) {
      model_.locator->forward(mean, step(hidden_, t), core_.state(t), turn.parameters);
      squash_forward(mean);
    } else if (model_.first_location >= 0) {
      for (int b = 0; b < mean.rows; ++b) model_.first_mean(mean.row(b), turn.parameters);
    }
    const Policy own = t == 0 ? first_policy_ : policy_;
    const Policy policy = turn.request.policy != nullptr ? turn.request.policy : own;
    const bool noisy =
        turn.request.readout == Readout::training || turn.request.readout == Readout::sample;
    policy(step(actions, t), {.t = t,
                              .num_glimpses = steps(),
                              .mean = mean,
                              .std = noisy ? turn.request.std : 0.0F,
                              .target = turn.targets,
                              .streams = turn.streams});
  }

  void read(int t, std::span<const float> parameters) override {
    clamp_to_canvas(step(locations, t), step(actions, t));
    environment_.look(step(locations, t), step(glimpses, t));
    feature_forward(t, parameters);
  }

  LookLoss loss_backward(std::span<float> gradient, const Credit& credit,
                         std::span<const float> parameters) override {
    const int first = model_.first_action();
    const int count = steps() - first;
    if (count == 0) return {};

    const auto [advantages, std, temperature, weight, entropy, scale] = credit;
    dmeans_.fill(0.0F);
    LookLoss loss;
    double dlog_std = 0.0;
    for (int t = first; t < steps(); ++t) {
      for (int b = 0; b < episodes(); ++b) {
        const float* sample = &actions(t, b, 0);
        const float* mean = &decisions(t, b, 0);
        const float advantage = advantages(t, b);
        loss.reinforce -= weight * advantage * gaussian_log_probability_forward(sample, mean, std);
        dlog_std += gaussian_log_probability_backward(&dmeans_(t, b, 0), sample, mean, std,
                                                      -weight * advantage * scale);
      }
    }
    const double choices = static_cast<double>(count) * episodes();
    loss.reinforce -= entropy * gaussian_entropy(std) * choices;
    dlog_std -= 2.0 * entropy * choices * scale;

    if (model_.first_location >= 0) first_backward(gradient);
    if (model_.log_std >= 0)
      *model_.layout().view(gradient, model_.log_std).data = static_cast<float>(dlog_std);
    locator_backward(gradient, std::max(first, 1), parameters);
    return loss;
  }

  bool differentiable() const override { return false; }
  void step_backward(int, Matrix, std::span<const float>) override {}

  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float> parameters) override {
    activation_backward(dfeatures, 0, steps(), parameters);
    weight_backward(gradient, dfeatures, 0.0F);
  }

  void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix,
                      std::span<const float> parameters) override {
    retina_backward(dcanvases, dglimpses, parameters);
  }

  float entropy(int, int, const RolloutRequest& request) const override {
    return gaussian_entropy(request.std);
  }

  Gaze gaze(int t, int b) override {
    static constexpr float kOne = 1.0F;
    const auto [half_width, half_height] = model_.patch_half_sides();
    return {{&locations(t, b, 0), 1, 2, 2}, {&kOne, 1}, half_width, half_height};
  }

  void picture(int t, int b, float* glimpse) const override {
    std::copy_n(&glimpses(t, b, 0), model_.glimpse_size(), glimpse);
  }

 private:
  // The learned first location is the same in every episode.
  void first_backward(std::span<float> gradient) const {
    const Matrix dfirst = model_.layout().view(gradient, model_.first_location);
    for (int axis = 0; axis < 2; ++axis) {
      const float mean = decisions(0, 0, axis);
      float sum = 0.0F;
      for (int b = 0; b < episodes(); ++b) sum += dmeans_(0, b, axis);
      dfirst(0, axis) = sum * (1.0F - mean * mean);
    }
  }

  // The locator places the glimpses from `first` on.
  void locator_backward(std::span<float> gradient, int first, std::span<const float> parameters) {
    const int count = steps() - first;
    if (count == 0) return;
    const Matrix dmean = core_.steps_of(dmeans_, first, count);
    const ConstMatrix mean = core_.steps_of(decisions, first, count);
    squash_backward(dmean, mean);
    const Matrix dhidden = core_.steps_of(dhidden_, first, count);
    const ConstMatrix hidden = core_.steps_of(hidden_, first, count);
    model_.locator->activation_backward(dhidden, dmean, hidden, parameters);
    model_.locator->weight_backward(
        gradient, dhidden, dmean, hidden,
        core_.all_states().row_range(first * episodes(), count * episodes()));
  }

  Policy policy_, first_policy_;
  Tensor<3> hidden_;   // (T, B, width): of the locator
  Tensor<3> dmeans_;   // (T, B, 2)
  Tensor<3> dhidden_;  // (T, B, width)
};

}  // namespace

std::unique_ptr<Look> make_point_look(const Model& model, Environment& environment,
                                      CoreMemory& core) {
  return std::make_unique<PointLook>(model, environment, core);
}

}  // namespace saccade
