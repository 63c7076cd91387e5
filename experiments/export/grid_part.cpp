#include "agent/looking/grid/addressing.h"
#include "agent/looking/looking.h"
#include "attention/grid.h"
#include "attention/moves.h"
#include "attention/policy.h"
#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {
namespace {

// A distribution over the G candidates of a grid: takes the most probable one, or the mean of all.
// If moves are relative, they are steps from the last location.
class ExportedGrid final : public ExportedLook {
 public:
  ExportedGrid(const Task& task, std::span<const float> weights)
      : task_(task),
        glimpse_(task.model.config().glimpse),
        places_(task.model.looking->places()),
        moves_(task.model.looking->moves()),
        first_places_(zeros<2>(places_.rows, 2)),
        soft_(task.model.look().expects),
        by_content_(addresses_by_content(glimpse_)),
        embeds_(embeds_candidates(glimpse_)),
        temperature_(task.model.looking->exploration_at(1.0, weights).temperature) {
    move_forward(matrix(first_places_), places_, {}, moves_);
  }

  bool counts_looks() const override { return spreads(); }

  ExportedObservation inputs(Graph& graph) const override {
    ExportedObservation spec;
    const std::int64_t size = task_.retina->glimpse_size(), count = places_.rows;
    if (soft_) {
      spec.weights = graph.input("weights", {"batch", count},
                                 "of the candidates at this look, which sum to 1");
      if (expects_pixels(glimpse_))
        spec.location = onnx_product(graph, spec.weights, places(graph, places_));
    } else {
      spec.glimpse = graph.input("glimpse", {"batch", size},
                                 "what the retina shows, (scale, channel, row, col), in [0, 1]");
      spec.location = graph.input("location", {"batch", std::int64_t{2}},
                                  "(x, y) in [-1, 1] of the candidate that is looked at, y down");
    }
    if (soft_ || by_content_)
      spec.candidates = graph.input("candidates", {"batch", count, size},
                                    "what the retina shows at every candidate, each as a glimpse");
    if (embeds_) spec.embeddings = export_embeddings(graph, task_, spec.candidates, places_);
    if (!by_content_) spec.context = export_context_input(graph, task_);
    return spec;
  }

  Value feature(Graph& graph, const ExportedObservation& spec) const override {
    if (soft_ && !expects_pixels(glimpse_)) return mean(graph, spec, spec.embeddings);
    return export_glimpse_network(
        graph, task_, spec.glimpse.empty() ? mean(graph, spec, spec.candidates) : spec.glimpse,
        spec.location);
  }

  ExportedChoice next(Graph& graph, const Value& state, const ExportedObservation& spec,
                      const Value& look) const override {
    const Value chances = distribution(graph, state, spec);
    ExportedChoice choice =
        spreads() ? at_quantile(graph, chances, look) : choose(graph, chances, places_);
    if (moves_.relative)
      choice.location = export_move(graph, moves_, choice.location, spec.location);
    return choice;
  }

  ExportedObservation begin(Graph& graph, const Value& canvas) const override {
    ExportedObservation spec;
    if (soft_ || by_content_) spec.candidates = export_retina_at_all(graph, task_, canvas, places_);
    if (embeds_) spec.embeddings = export_embeddings(graph, task_, spec.candidates, places_);
    if (!by_content_) spec.context = export_context_of_canvas(graph, task_, canvas);
    return spec;
  }

  bool draws_first() const override { return !soft_ && first_is_drawn(glimpse_.first); }

  ExportedChoice first(Graph& graph, const Value& like,
                       const ExportedObservation& spec) const override {
    if (first_is_learned(glimpse_.first)) {
      const Value state =
          onnx_zeros_like_batch(graph, like, {task_.config.agent.model.hidden_size});
      return choose(graph, distribution(graph, state, spec), matrix(first_places_));
    }
    const bool random = first_is_drawn(glimpse_.first);
    if (draws_first())
      return {.location = graph.input("first_location", {"batch", std::int64_t{2}},
                                      "(x, y) of the candidate that is looked at first, drawn")};
    std::vector<float> weights(places_.rows,
                               random ? 1.0F / static_cast<float>(places_.rows) : 0.0F);
    if (!random) weights[nearest_place(places_, 0.0F, 0.0F)] = 1.0F;
    const Value row = graph.floats({1, places_.rows}, weights);
    return with_location(graph, {.weights = onnx_for_batch(graph, row, like, {places_.rows})});
  }

  ExportedObservation see(Graph& graph, const Value& canvas, const ExportedChoice& choice,
                          const ExportedObservation& spec, int) const override {
    ExportedObservation seen = spec;
    seen.location = choice.location;
    if (soft_)
      seen.weights = choice.weights;
    else
      seen.glimpse =
          export_retina(graph, task_, canvas, choice.location, task_.model.look().smooth);
    return seen;
  }

 private:
  // The candidates' probabilities (B, G) after a state.
  Value distribution(Graph& graph, const Value& state, const ExportedObservation& spec) const {
    const Value logits = by_content_
                             ? export_score(graph, glimpse_.score, "locator.score", state,
                                            spec.embeddings, task_.config.agent.model.feature_size)
                             : export_locator(graph, state, spec.context, "logits");
    return onnx_softmax(graph, onnx_scale(graph, logits, 1.0F / temperature_));
  }

  static Value places(Graph& graph, ConstMatrix places) {
    return graph.floats({places.rows, 2}, {places.data, places.data + 2 * places.rows});
  }

  // sum_k w_k x_k of (B, G, width): (B, width)
  static Value mean(Graph& graph, const ExportedObservation& spec, const Value& candidates) {
    const Value row = onnx_unsqueeze(graph, spec.weights, 1);
    return onnx_squeeze(graph, onnx_product(graph, row, candidates), 1);
  }

  // The choice among candidates at places (G, 2).
  ExportedChoice choose(Graph& graph, const Value& chances, ConstMatrix candidates) const {
    if (soft_) return with_location(graph, {.weights = chances, .chances = chances});
    return at_candidate(graph, chances, candidates,
                        graph.node("ArgMax", {chances},
                                   {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}));
  }

  bool spreads() const { return !soft_ && glimpse_.spread > 0.0; }

  // As quantile() and spread_quantile(), at the look after number `look`: as many candidates lie
  // before it as have a cumulative weight of at most that share of the sum.
  ExportedChoice at_quantile(Graph& graph, const Value& chances, const Value& look) const {
    std::vector<float> quantiles;
    for (int t = 1; t <= task_.model.num_glimpses(); ++t) quantiles.push_back(spread_quantile(t));
    const Value quantile =
        graph.node("Gather", {graph.floats({task_.model.num_glimpses(), 1}, quantiles), look},
                   {{"axis", std::int64_t{0}}});
    const Value weights =
        graph.node("Pow", {chances, graph.floats({}, {static_cast<float>(1.0 / glimpse_.spread)})});
    const Value cumulative = graph.node("CumSum", {weights, graph.integers({}, {std::int64_t{1}})});
    const Value wanted = onnx_multiply(graph, onnx_sum(graph, weights, 1, true), quantile);
    const Value before = graph.node("Not", {graph.node("Greater", {cumulative, wanted})});
    const Value number = onnx_sum(graph, onnx_cast(graph, before, Element::int64), 1, false);
    return at_candidate(graph, chances, places_,
                        graph.node("Min", {number, graph.integers({}, {places_.rows - 1})}));
  }

  ExportedChoice at_candidate(Graph& graph, const Value& chances, ConstMatrix candidates,
                              const Value& number) const {
    return {.location = graph.node("Gather", {places(graph, candidates), number},
                                   {{"axis", std::int64_t{0}}}),
            .chances = chances};
  }

  ExportedChoice with_location(Graph& graph, ExportedChoice choice) const {
    choice.location = onnx_product(graph, choice.weights, places(graph, places_));
    return choice;
  }

  const Task& task_;
  const GlimpseConfig& glimpse_;
  ConstMatrix places_;  // (G, 2), or actions if moves are relative
  Moves moves_;
  Tensor<2> first_places_;  // (G, 2): those of the first look
  bool soft_, by_content_, embeds_;
  float temperature_;
};

}  // namespace

std::unique_ptr<const ExportedLook> export_grid(const Task& task, std::span<const float> weights) {
  return std::make_unique<ExportedGrid>(task, weights);
}

}  // namespace saccade
