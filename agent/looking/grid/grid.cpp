#include "attention/grid.h"
#include "agent/looking/grid/addressing.h"
#include "agent/looking/grid/grid_look.h"
#include "agent/looking/looking_parts.h"

namespace saccade {
namespace {

using Learning = GlimpseKind::Learning;

bool is_soft(const GlimpseConfig& config) {
  return find_glimpse_kind(config.kind).learning == Learning::backpropagation;
}

class GridLooking final : public Looking {
 public:
  GridLooking(const AgentConfig& config, const ObservationSpec& spec, ParameterLayout& layout)
      : Looking(config.glimpse), soft_(is_soft(config_)), parts_(make_parts(config, spec, layout)) {
    traits_ = retina_traits(config, spec);
    traits_.differentiable = soft_;
    traits_.smooth = parts_.moves.relative;
    traits_.expects = soft_;
    traits_.first_action = soft_ ? traits_.steps : parts_.first_learned();
    traits_.num_candidates = num_candidates();
    traits_.weights.push_back({"glimpse_weights", num_candidates(), &Look::actions});
    traits_.canvas_pixels = spec.widest_patch * spec.widest_patch *
                                (parts_.sees_all ? num_candidates() : traits_.steps) +
                            (parts_.context ? spec.canvas.rows * spec.canvas.cols : 0);
  }

  std::unique_ptr<Look> make_look(Environment& environment, CoreMemory& core) const override {
    if (soft_) return make_soft_grid_look(parts_, environment, core);
    return make_hard_grid_look(parts_, environment, core);
  }

  ConstMatrix places() const override { return matrix(parts_.places); }
  Moves moves() const override { return parts_.moves; }

  // A first glimpse at a fixed place needs no decision.
  Work work() const override {
    const int steps = traits_.steps, features = traits_.feature_size;
    const bool single = !parts_.embeds || parts_.expects_pixels;
    Work total = parts_.addressing->work(steps - parts_.first_learned(), num_candidates());
    if (parts_.context && steps > parts_.first_learned()) total = total + parts_.context->work();
    if (parts_.embeds) total = total + parts_.glimpse.work_in_place() * num_candidates();
    if (single)
      total = total + parts_.glimpse.work(soft_ ? Input::differentiated : Input::constant) * steps;
    if (soft_) {  // the expectation: one forward, two backward
      const int width = parts_.expects_pixels ? parts_.glimpse.shape.size : features;
      total = total + linear_work(num_candidates(), width,
                                  parts_.expects_pixels ? Input::constant : Input::differentiated) *
                          steps;
    }
    return total;
  }

 private:
  static GridParts make_parts(const AgentConfig& config, const ObservationSpec& spec,
                              ParameterLayout& layout) {
    const GlimpseConfig& glimpse = config.glimpse;
    const Moves moves = moves_of(glimpse, spec);
    Tensor<2> places = moves.relative
                           ? grid_moves(glimpse.grid)
                           : grid_places(glimpse.grid, spec.canvas.rows, spec.canvas.cols);
    const int count = static_cast<int>(places.shape()[0]);
    return {.places = std::move(places),
            .moves = moves,
            .glimpse = make_glimpse_parts(config.model, retina_shape(spec), layout),
            .addressing = make_addressing(
                config, count, is_soft(glimpse) ? Input::differentiated : Input::constant, layout),
            .context = make_context_network(config.model, spec, layout),
            .by_content = addresses_by_content(glimpse),
            .sees_all = sees_all_candidates(glimpse),
            .embeds = embeds_candidates(glimpse),
            .expects_pixels = expects_pixels(glimpse),
            .half_sides = half_sides(spec),
            .config = glimpse};
  }

  int num_candidates() const { return static_cast<int>(parts_.places.shape()[0]); }

  const bool soft_;
  const GridParts parts_;
};

// Default addressing (hard: location, soft: content) and expectation of soft_grid (features).
void settle_grid(GlimpseConfig& config) {
  const bool soft = is_soft(config);
  if (config.addressing == "none") config.addressing = soft ? "content" : "location";
  if (soft && config.expect == "none") config.expect = "features";
}

}  // namespace

bool sees_all_candidates(const GlimpseConfig& config) {
  return find_glimpse_kind(config.kind).has_candidates &&
         (is_soft(config) || addresses_by_content(config));
}

bool embeds_candidates(const GlimpseConfig& config) {
  return addresses_by_content(config) || (is_soft(config) && config.expect == "features");
}

bool expects_pixels(const GlimpseConfig& config) {
  return is_soft(config) && config.expect == "pixels";
}

GlimpseKind grid_looking(Learning learning) {
  return {.learning = learning,
          .has_candidates = true,
          .can_have_context = true,
          .has_moves = learning == Learning::reinforce,
          .takes_glimpses = true,
          .sees_motion = true,
          .make = make<GridLooking>,
          .settle = settle_grid};
}

}  // namespace saccade
