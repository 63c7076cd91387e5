#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "attention/moves.h"
#include "attention/policy.h"
#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {
namespace {

// One point per step: from a locator, or from a control with a fixed rule.
class ExportedPoints final : public ExportedLook {
 public:
  ExportedPoints(const Task& task, std::span<const float> weights)
      : task_(task),
        glimpse_(task.model.config().glimpse),
        steps_(task.model.num_glimpses()),
        moves_(task.model.looking->moves()),
        size_(task.model.look().location_size),
        learns_(find_glimpse_kind(glimpse_.kind).learning != GlimpseKind::Learning::none),
        spread_(static_cast<float>(glimpse_.spread) *
                task.model.looking->exploration_at(1.0, weights).width()) {}

  bool counts_looks() const override { return has_rule() || (learns_ && spread_ > 0.0F); }

  ExportedObservation inputs(Graph& graph) const override {
    ExportedObservation spec;
    spec.glimpse = graph.input("glimpse", {"batch", task_.retina->glimpse_size()},
                               "what the retina shows, (scale, channel, row, col), in [0, 1]");
    spec.location = graph.input("location", {"batch", std::int64_t{size_}},
                                fmt::format("{} of the glimpse", location_text(task_)));
    if (learns_) spec.context = export_context_input(graph, task_);
    return spec;
  }

  Value feature(Graph& graph, const ExportedObservation& spec) const override {
    return export_glimpse_network(graph, task_, spec.glimpse, spec.location);
  }

  ExportedChoice next(Graph& graph, const Value& state, const ExportedObservation& spec,
                      const Value& look) const override {
    if (has_rule())
      return {.location = toward(graph, after(graph, rule(), look, spec.location), spec.location)};
    if (!learns_) return {};
    const Value mean = onnx_tanh(graph, export_locator(graph, state, spec.context, "mean"));
    if (spread_ == 0.0F) return {.location = moved(graph, mean, spec.location)};
    return {.location = moved(
                graph,
                onnx_add(graph, mean,
                         graph.node("Gather", {graph.floats({steps_, size_}, offsets()), look},
                                    {{"axis", std::int64_t{0}}})),
                spec.location)};
  }

  ExportedObservation begin(Graph& graph, const Value& canvas) const override {
    ExportedObservation spec;
    if (learns_) spec.context = export_context_of_canvas(graph, task_, canvas);
    return spec;
  }

  bool draws_first() const override {
    return !has_rule() && (!learns_ || first_is_drawn(glimpse_.first));
  }

  ExportedChoice first(Graph& graph, const Value& like,
                       const ExportedObservation& spec) const override {
    if (has_rule()) {
      std::vector<float> place = rule();
      place.resize(size_);
      for (const int axis : {0, 1})
        place[axis] = std::clamp(place[axis], -moves_.reach[axis], moves_.reach[axis]);
      return {.location = at(graph, like, place)};
    }
    if (draws_first())
      return {.location = graph.input(
                  "first_location", {"batch", std::int64_t{size_}},
                  fmt::format("{} of the first look, which is drawn", location_text(task_)))};
    if (!first_is_learned(glimpse_.first)) {
      std::vector<float> centre = {0.0F, 0.0F, 1.0F};
      centre.resize(size_);
      return {.location = at(graph, like, centre)};
    }
    if (graph.has_parameter("locator.first")) {
      const ConstMatrix first = graph.numbers_of("locator.first");
      std::vector<float> place;
      for (int axis = 0; axis < size_; ++axis)
        place.push_back((axis < 2 ? moves_.reach[axis] : 1.0F) * std::tanh(first(0, axis)));
      return {.location = at(graph, like, place)};
    }
    const Value state = onnx_zeros_like_batch(graph, like, {task_.config.agent.model.hidden_size});
    const Value mean =
        clipped(graph, onnx_tanh(graph, export_locator(graph, state, spec.context, "mean")));
    if (!moves_.relative) return {.location = mean};
    return {.location =
                with_zoom(graph, onnx_multiply(graph, place_of(graph, mean), reach(graph)), mean)};
  }

  ExportedObservation see(Graph& graph, const Value& canvas, const ExportedChoice& choice,
                          const ExportedObservation& spec, int) const override {
    ExportedObservation seen = spec;
    seen.location = choice.location;
    seen.glimpse = export_retina(graph, task_, canvas, choice.location, task_.model.look().smooth);
    return seen;
  }

 private:
  bool has_rule() const { return has_fixed_places(glimpse_.kind); }

  // Locations of all looks (T, L) of a control without randomness.
  std::vector<float> rule() const {
    std::vector<float> places;
    Tensor<2> place = zeros<2>(1, size_), nowhere = place;
    for (int t = 0; t < steps_; ++t) {
      find_policy(glimpse_.kind)(matrix(place), {.t = t,
                                                 .num_glimpses = steps_,
                                                 .mean = matrix(nowhere),
                                                 .target = matrix(nowhere),
                                                 .streams = {}});
      places.insert(places.end(), place.begin(), place.end());
    }
    return places;
  }

  // Selects the place after look number `look` from places (T, L); after the last look, the last
  // place.
  Value after(Graph& graph, std::vector<float> places, const Value& look, const Value& like) const {
    const std::vector<float> last(places.end() - size_, places.end());
    places.erase(places.begin(), places.begin() + size_);
    places.insert(places.end(), last.begin(), last.end());
    const Value row = graph.node("Gather", {graph.floats({steps_, size_}, places), look},
                                 {{"axis", std::int64_t{0}}});
    return onnx_for_batch(graph, row, like, {size_});
  }

  // Spread offset of the look after each one; zero after the last.
  std::vector<float> offsets() const {
    std::vector<float> all;
    for (int t = 1; t <= steps_; ++t) {
      for (const float offset : t < steps_ ? spread_offset(t, steps_) : std::array{0.0F, 0.0F})
        all.push_back(spread_ * offset);
      all.resize(static_cast<std::size_t>(t) * size_, 0.0F);  // a zoom does not look about
    }
    return all;
  }

  Value reach(Graph& graph) const {
    return graph.floats({1, 2}, {moves_.reach[0], moves_.reach[1]});
  }

  // The first two numbers of a location or an action.
  Value place_of(Graph& graph, const Value& location) const {
    return size_ > 2 ? onnx_slice(graph, location, 1, 0, 2) : location;
  }
  // A place with the zoom of an action, if there is one.
  Value with_zoom(Graph& graph, const Value& place, const Value& action) const {
    if (size_ == 2) return place;
    return onnx_concat(graph, {place, clipped(graph, onnx_slice(graph, action, 1, 2, 3))}, 1);
  }

  // As move_forward, after the first look: where an action leads to from a location.
  Value moved(Graph& graph, const Value& action, const Value& from) const {
    if (!moves_.relative) return clipped(graph, action);
    return with_zoom(
        graph, export_move(graph, moves_, place_of(graph, action), place_of(graph, from)), action);
  }
  // As lead_to and move_forward.
  Value toward(Graph& graph, const Value& place, const Value& from) const {
    if (!moves_.relative) return place;
    const Value start = place_of(graph, from);
    const Value way = graph.node("Sub", {place_of(graph, place), start});
    const Value action = onnx_scale(graph, way, 1.0F / moves_.max_step);
    return with_zoom(graph, export_move(graph, moves_, action, start), place);
  }

  static Value clipped(Graph& graph, const Value& place) {
    return graph.node("Clip", {place, graph.floats({}, {-1.0F}), graph.floats({}, {1.0F})});
  }
  Value at(Graph& graph, const Value& like, const std::vector<float>& location) const {
    return onnx_for_batch(graph, graph.floats({1, size_}, location), like, {size_});
  }

  const Task& task_;
  const GlimpseConfig& glimpse_;
  int steps_;
  Moves moves_;
  int size_;  // L: numbers of a location
  bool learns_;
  float spread_;  // in the deterministic pass, in units of an action
};

}  // namespace

std::unique_ptr<const ExportedLook> export_points(const Task& task,
                                                  std::span<const float> weights) {
  return std::make_unique<ExportedPoints>(task, weights);
}

}  // namespace saccade
