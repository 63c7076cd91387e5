#include <algorithm>
#include <cmath>

#include "agent/looking/locator.h"
#include "agent/looking/look_base.h"
#include "agent/looking/looking_parts.h"

namespace saccade {
namespace {

using Learning = GlimpseKind::Learning;

// What places and sees one location a step.
struct PointParts {
  GlimpseNetwork network;
  Locator locator;
  int first = -1;    // parameter (1, 2); -1 where the first glimpse is not learned
  int log_std = -1;  // parameter (1, 1); -1 where the deviation is not learned
  Policy policy;
  Policy first_policy;
  std::array<float, 2> half_sides;  // of the finest patch, in location units
};

// One location a step: the Gaussian policy of Mnih et al. (2014), and the controls.
class PointLook final : public LookBase {
 public:
  PointLook(const PointParts& parts, const ParameterLayout& layout, int first_action,
            Environment& environment, CoreMemory& core)
      : LookBase(2, parts.network.sizes().glimpse, environment, core),
        parts_(parts),
        layout_(layout),
        first_action_(first_action),
        pass_(parts.network, *this, core),
        hidden_(zeros<3>(steps(), episodes(), parts.locator.hidden_size())),
        dmeans_(zeros<3>(steps(), episodes(), 2)),
        dhidden_(zeros<3>(steps(), episodes(), parts.locator.hidden_size())) {}

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
    environment_.look(step(locations, t), step(glimpses, t));
    pass_.forward(t, parameters);
  }

  LookLoss loss_backward(std::span<float> gradient, const Credit& credit,
                         std::span<const float> parameters) override {
    const int count = steps() - first_action_;
    if (count == 0) return {};

    const auto [advantages, weight, entropy, scale] = credit;
    const float std = exploration.std;
    dmeans_.fill(0.0F);
    LookLoss loss;
    double dlog_std = 0.0;
    for (int t = first_action_; t < steps(); ++t) {
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

    if (parts_.first >= 0) first_backward(gradient);
    if (parts_.log_std >= 0)
      *layout_.view(gradient, parts_.log_std).data = static_cast<float>(dlog_std);
    locator_backward(gradient, std::max(first_action_, 1), parameters);
    return loss;
  }

  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float> parameters) override {
    pass_.activation_backward(dfeatures, 0, steps(), parameters);
    pass_.weight_backward(gradient, dfeatures);
  }

  void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix,
                      std::span<const float> parameters) override {
    pass_.retina_backward(dcanvases, dglimpses, environment_, parameters);
  }

  float entropy(int, int) const override { return gaussian_entropy(exploration.std); }

  Gaze gaze(int t, int b) override {
    static constexpr float kOne = 1.0F;
    const auto [half_width, half_height] = parts_.half_sides;
    return {{&locations(t, b, 0), 1, 2, 2}, {&kOne, 1}, half_width, half_height};
  }

  void picture(int t, int b, float* glimpse) const override {
    std::copy_n(&glimpses(t, b, 0), glimpse_size(), glimpse);
  }

 private:
  // mu_1 = tanh(parameter), the same in every episode.
  void first_forward(Matrix mean, std::span<const float> parameters) const {
    const ConstMatrix first = layout_.view(parameters, parts_.first);
    for (int b = 0; b < mean.rows; ++b)
      for (int axis = 0; axis < 2; ++axis) mean(b, axis) = std::tanh(first(0, axis));
  }

  void first_backward(std::span<float> gradient) const {
    const Matrix dfirst = layout_.view(gradient, parts_.first);
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
    parts_.locator.activation_backward(dhidden, dmean, hidden, parameters);
    parts_.locator.weight_backward(
        gradient, dhidden, dmean, hidden,
        core_.all_states().row_range(first * episodes(), count * episodes()));
  }

  const PointParts& parts_;
  const ParameterLayout& layout_;
  const int first_action_;
  GlimpsePass pass_;
  Tensor<3> hidden_;   // (T, B, width): of the locator
  Tensor<3> dmeans_;   // (T, B, 2)
  Tensor<3> dhidden_;  // (T, B, width)
};

class PointLooking final : public Looking {
 public:
  PointLooking(const AgentConfig& config, const Sight& sight, ParameterLayout& layout)
      : Looking(config.glimpse),
        layout_(layout),
        learns_(find_glimpse_kind(config_.kind).learning == Learning::reinforce),
        parts_{
            .network = make_glimpse_network(config.model, sight.glimpse_size, layout),
            .locator = Locator(config.model.hidden_size, config.model.locator_hidden, "mean",
                               {0.0F, 0.0F}, layout),
            .policy = find_policy(config_.kind),
            // A control keeps its own rule from the first glimpse on.
            .first_policy = learns_ ? find_first_glimpse(config_.first) : find_policy(config_.kind),
            .half_sides = half_sides(sight)} {
    if (learns_first()) parts_.first = layout.add("locator.first", 1, 2, constant(0));
    if (learns_ && config_.learn_std)
      parts_.log_std = layout.add("locator.log_std", 1, 1,
                                  constant(std::log(static_cast<float>(config_.std.from))));
    traits_ = retina_traits(config, sight);
    traits_.first_action = !learns_ ? traits_.steps : learns_first() ? 0 : 1;
    traits_.canvas_pixels = traits_.steps * sight.widest_patch * sight.widest_patch;
  }

  std::unique_ptr<Look> make_look(Environment& environment, CoreMemory& core) const override {
    return std::make_unique<PointLook>(parts_, layout_, traits_.first_action, environment, core);
  }

  Exploration exploration_at(double progress, std::span<const float> parameters) const override {
    Exploration exploration = Looking::exploration_at(progress, parameters);
    if (parts_.log_std >= 0)
      exploration.std = std::exp(*layout_.view(parameters, parts_.log_std).data);
    return exploration;
  }

  // The first glimpse is placed by no state.
  Work work() const override {
    const int placed = learns_ ? traits_.steps - 1 : 0;
    return parts_.locator.work(Input::constant) * placed +
           parts_.network.work(Input::constant) * traits_.steps;
  }

 private:
  bool learns_first() const { return learns_ && config_.first == "learned"; }

  const ParameterLayout& layout_;
  const bool learns_;
  PointParts parts_;
};

}  // namespace

GlimpseKind point_looking(Learning learning) {
  return {.learning = learning,
          .can_learn_std = learning == Learning::reinforce,
          .sees_motion = true,
          .make = make<PointLooking>};
}

}  // namespace saccade
