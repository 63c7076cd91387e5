#include <algorithm>
#include <cmath>

#include "agent/looking/looking_parts.h"
#include "agent/looking/point_look.h"
#include "attention/policy.h"

namespace saccade {
namespace {

using Learning = GlimpseKind::Learning;

class PointLooking final : public Looking {
 public:
  PointLooking(const AgentConfig& config, const ObservationSpec& spec, ParameterLayout& layout)
      : Looking(config.glimpse),
        layout_(layout),
        learning_(find_glimpse_kind(config_.kind).learning),
        parts_(make_parts(config, spec, layout)) {
    if (learns_first() && !parts_.context)
      parts_.first = layout.add("locator.first", 1, parts_.location_size(), constant(0));
    if (learns() && config_.learn_std)
      parts_.log_std = layout.add("locator.log_std", 1, 1,
                                  constant(std::log(static_cast<float>(config_.std.from))));
    traits_ = retina_traits(config, spec);
    traits_.differentiable = parts_.estimator.by_path;
    traits_.smooth = parts_.estimator.by_path || parts_.moves.relative || parts_.zooms();
    traits_.zoom = parts_.zoom;
    traits_.location_size = traits_.weights[0].width = parts_.location_size();
    traits_.samples = learning_ != Learning::backpropagation;
    traits_.first_action = parts_.estimator.by_score ? parts_.first_learned : traits_.steps;
    traits_.canvas_pixels = traits_.steps * spec.widest_patch * spec.widest_patch +
                            (parts_.context ? spec.canvas.rows * spec.canvas.cols : 0);
  }

  std::unique_ptr<Look> make_look(Environment& environment, CoreMemory& core) const override {
    return make_point_look(parts_, layout_, environment, core);
  }

  Exploration exploration_at(double progress, std::span<const float> parameters) const override {
    Exploration exploration = Looking::exploration_at(progress, parameters);
    if (learning_ == Learning::backpropagation) {
      exploration.pattern = exploration.std;
      exploration.std = exploration.zoom_std = 0.0F;
    }
    if (parts_.log_std >= 0)
      exploration.std = std::exp(*layout_.view(parameters, parts_.log_std).data);
    return exploration;
  }

  Moves moves() const override { return parts_.moves; }

  // The first glimpse cannot be placed from a state, only from a context. The pathwise gradient of
  // a location is the product of the slopes (L, D) with the glimpse's gradient.
  Work work() const override {
    const int placed = learns() ? traits_.steps - parts_.first_placed() : 0;
    const int traced = parts_.estimator.by_path ? traits_.steps - parts_.first_learned : 0;
    const Work slopes{.backward = parts_.location_size() * parts_.glimpse.shape.size};
    const bool through_states = parts_.estimator.by_path && !config_.detach_state;
    return parts_.locator.work(through_states ? Input::differentiated : Input::constant) * placed +
           (parts_.glimpse.work(Input::differentiated) + slopes) * traced +
           parts_.glimpse.work(Input::constant) * (traits_.steps - traced) +
           (placed > 0 && parts_.context ? parts_.context->work() : Work());
  }

 private:
  PointParts make_parts(const AgentConfig& config, const ObservationSpec& spec,
                        ParameterLayout& layout) const {
    const std::string& kind = config_.kind;
    const LogRange zoom = zoom_of(config);
    const int location_size = zoom.is_point() ? 2 : 3;
    return {.estimator = estimator_of(config.reinforce),
            .first_learned = !learns()        ? config_.num_glimpses
                             : learns_first() ? 0
                                              : 1,
            .glimpse = make_glimpse_parts(config.model, retina_shape(spec), layout, location_size),
            .locator = Locator(config.model.hidden_size, config.model.locator_hidden, "mean",
                               std::vector<float>(location_size, 0.0F), layout),
            .context = make_context_network(config.model, spec, layout),
            .spread = static_cast<float>(config_.spread),
            .always_spreads = learning_ == Learning::backpropagation,
            .policy = find_policy(learns() ? kLearnedPolicy : kind),
            // A control uses its own rule for the first glimpse too.
            .first_policy = learns() ? find_first_glimpse(config_.first) : find_policy(kind),
            .zoom = zoom,
            .moves = moves_of(config_, spec),
            .half_sides = half_sides(spec)};
  }

  LocationEstimator estimator_of(const ReinforceConfig& reinforce) const {
    if (learning_ == Learning::reinforce) return find_location_estimator(reinforce.estimator);
    return {.by_score = false, .by_path = learning_ == Learning::backpropagation};
  }

  bool learns() const { return learning_ != Learning::none; }
  bool learns_first() const { return learns() && first_is_learned(config_.first); }

  const ParameterLayout& layout_;
  const Learning learning_;
  PointParts parts_;
};

}  // namespace

GlimpseKind point_looking(Learning learning) {
  return {.learning = learning,
          .can_have_context = learning != Learning::none,
          .has_moves = true,
          .has_std = learning == Learning::reinforce,
          .has_pattern = learning == Learning::backpropagation,
          .has_path = learning == Learning::reinforce,
          .has_zoom = true,
          .takes_glimpses = true,
          .sees_motion = true,
          .make = make<PointLooking>};
}

}  // namespace saccade
