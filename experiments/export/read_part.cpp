#include <cmath>

#include "attention/attend.h"
#include "base/name_table.h"
#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {
namespace {

constexpr float kForbidden = -1e30F;  // a logit whose softmax rounds to zero

Value not_zero(Graph& graph, const Value& x) {
  return graph.node("Greater", {x, graph.floats({}, {0.0F})});
}

// The reads after any step of the first n states (B, n, H), without those that the mask excludes.
class ReadGraph {
 public:
  ReadGraph(Graph& graph, const HiddenConfig& config, const Value& states, int steps)
      : graph_(graph), config_(config), states_(states), count_(onnx_side(graph, states, 1)) {
    std::vector<float> mask(steps, 1.0F);
    for (std::size_t k = 0; k < config.mask.size(); ++k) mask[k] = config.mask[k] == '1' ? 1 : 0;
    mask_ = graph.node("Slice", {graph.floats({1, steps}, mask), graph.integers({1}, {0}), count_,
                                 graph.integers({1}, {1})});
    allowed_ = onnx_sum(graph, mask_, 1, /*keeps_side=*/true);
  }

  // (B, H)
  Value last() const {
    const Value index = graph_.node("Sub", {count_, graph_.integers({1}, {1})});
    return onnx_squeeze(graph_,
                        graph_.node("Gather", {states_, index}, {{"axis", std::int64_t{1}}}), 1);
  }

  // (B, H): 0 if nothing may be read.
  Value mean() const {
    const Value total = onnx_squeeze(graph_, onnx_product(graph_, mask_, states_), 1);
    const Value least = graph_.node("Max", {allowed_, graph_.floats({}, {1.0F})});
    return graph_.node("Div", {total, least});
  }

  Value attend(int state_size) const {
    const Value query = exported_query();
    const Value scores =
        export_score(graph_, config_.attend.score, "hidden.score", query, states_, state_size);
    const Value weights =
        area_is_local(config_.attend.area) ? local_weights(scores, query) : softmax(scores, mask_);
    const Value context =
        onnx_squeeze(graph_, onnx_product(graph_, onnx_unsqueeze(graph_, weights, 1), states_), 1);
    const Value read = or_nothing(context);
    return output_has_last(config_.output) ? onnx_concat(graph_, {read, last()}, 1) : read;
  }

  // M = A H, hop by hop.
  Value self(int state_size) const {
    const Value hidden =
        onnx_tanh(graph_, onnx_product(graph_, states_, graph_.parameter("hidden.hidden.weight")));
    const Value logits = onnx_transpose(
        graph_, onnx_product(graph_, hidden, graph_.parameter("hidden.hops.weight")), {0, 2, 1});
    const Value read = onnx_product(graph_, softmax(logits, mask_), states_);
    return or_nothing(onnx_reshape(graph_, read, {0, std::int64_t{config_.hops} * state_size}));
  }

 private:
  Value none() const { return ""; }
  Value exported_query() const {
    static const NameTable<Value (ReadGraph::*)() const> table{
        "attention.hidden.query in an export",
        {{"none", &ReadGraph::none}, {"mean", &ReadGraph::mean}, {"last", &ReadGraph::last}}};
    return (this->*table.at(config_.query))();
  }

  // 0 if nothing may be read.
  Value or_nothing(const Value& read) const {
    const Value any = onnx_cast(graph_, not_zero(graph_, allowed_), Element::float32);
    return onnx_multiply(graph_, read, any);
  }

  Value softmax(const Value& logits, const Value& mask) const {
    return onnx_softmax(graph_, graph_.node("Where", {not_zero(graph_, mask), logits,
                                                      graph_.floats({}, {kForbidden})}));
  }

  // Around a centre p (Luong et al. 2015, section 3.2): softmax within the window times a Gaussian.
  Value local_weights(const Value& scores, const Value& query) const {
    const Value places = onnx_unsqueeze(
        graph_,
        onnx_cast(graph_,
                  graph_.node("Range", {graph_.integers({}, {0}), onnx_squeeze(graph_, count_, 0),
                                        graph_.integers({}, {1})}),
                  Element::float32),
        0);  // (1, n): 0, 1, ..
    // The last allowed value; if none is allowed, the first one.
    const Value end = graph_.node("ReduceMax", {onnx_multiply(graph_, places, mask_)},
                                  {{"axes", std::vector<std::int64_t>{1}}});  // (1, 1)
    const Value centre = position_is_predicted(config_.attend.position)
                             ? onnx_multiply(graph_, end, predicted_share(query))
                             : end;
    const Value distance = graph_.node("Sub", {places, centre});
    const Value away = graph_.node("Abs", {distance});
    const auto width = static_cast<float>(config_.attend.window);
    const Value inside = onnx_cast(
        graph_, graph_.node("LessOrEqual", {away, graph_.floats({}, {width})}), Element::float32);
    const Value window = onnx_multiply(graph_, mask_, inside);

    // If the window contains no allowed value, the one nearest to the centre.
    const Value forbidden = graph_.node("Sub", {graph_.floats({}, {1.0F}), mask_});
    const Value nearest =
        graph_.node("ArgMin", {onnx_add(graph_, away, onnx_scale(graph_, forbidden, -kForbidden))},
                    {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
    const Value alone = graph_.node("OneHot", {nearest, count_, graph_.floats({2}, {0.0F, 1.0F})},
                                    {{"axis", std::int64_t{-1}}});
    const Value any = not_zero(graph_, onnx_sum(graph_, window, 1, /*keeps_side=*/true));
    const Value weights = softmax(scores, graph_.node("Where", {any, window, alone}));

    const float sigma = 0.5F * width;
    const Value fall =
        onnx_scale(graph_, onnx_multiply(graph_, distance, distance), -0.5F / (sigma * sigma));
    return onnx_multiply(graph_, weights, graph_.node("Exp", {fall}));
  }

  // (B, 1)
  Value predicted_share(const Value& query) const {
    const Value hidden =
        onnx_tanh(graph_, onnx_product(graph_, query, graph_.parameter("hidden.position.weight")));
    return onnx_sigmoid(
        graph_,
        onnx_product(graph_, hidden,
                     onnx_transpose(graph_, graph_.parameter("hidden.position.v"), {1, 0})));
  }

  Graph& graph_;
  const HiddenConfig& config_;
  Value states_;
  Value count_;    // n, (1) int64
  Value mask_;     // (1, n): 1 or 0
  Value allowed_;  // (1, 1): number of allowed values
};

using Read = Value (*)(const ReadGraph& read, int state_size);

const NameTable<Read>& exported_reads() {
  static const NameTable<Read> table{
      "attention.hidden.kind in an export",
      {{"last", [](const ReadGraph& read, int) { return read.last(); }},
       {"mean", [](const ReadGraph& read, int) { return read.mean(); }},
       {"attend", [](const ReadGraph& read, int size) { return read.attend(size); }},
       {"self", [](const ReadGraph& read, int size) { return read.self(size); }}}};
  return table;
}

// The score of queries (B, Q) against keys (B, n, K).
struct ScoreGraph {
  Graph& graph;
  const std::string& name;
  const Value& query;
  const Value& keys;
  int key_size;

  // Each key with its query (B, K): (B, n)
  Value products(const Value& q) const {
    return onnx_squeeze(graph, onnx_product(graph, keys, onnx_unsqueeze(graph, q, 2)), 2);
  }
  Value dot() const { return products(query); }
  Value scaled_dot() const {
    return onnx_scale(graph, dot(), 1.0F / std::sqrt(static_cast<float>(key_size)));
  }
  Value general() const {
    return products(onnx_product(graph, query, graph.parameter(name + ".weight")));
  }
  // v' tanh(W_k h + b), with W_q s added inside
  Value location_free() const { return weighed(projected_keys()); }
  Value additive() const {
    const Value q = onnx_product(graph, query, graph.parameter(name + ".query.weight"));
    return weighed(onnx_add(graph, projected_keys(), onnx_unsqueeze(graph, q, 1)));
  }

 private:
  Value projected_keys() const {
    return onnx_add(graph, onnx_product(graph, keys, graph.parameter(name + ".key.weight")),
                    graph.parameter(name + ".bias"));
  }
  Value weighed(const Value& sum) const {
    const Value v = onnx_transpose(graph, graph.parameter(name + ".v"), {1, 0});
    return onnx_squeeze(graph, onnx_product(graph, onnx_tanh(graph, sum), v), 2);
  }
};

const NameTable<Value (ScoreGraph::*)() const>& exported_scores() {
  static const NameTable<Value (ScoreGraph::*)() const> table{
      "score in an export",
      {{"dot", &ScoreGraph::dot},
       {"scaled_dot", &ScoreGraph::scaled_dot},
       {"general", &ScoreGraph::general},
       {"additive", &ScoreGraph::additive},
       {"location_free", &ScoreGraph::location_free}}};
  return table;
}

}  // namespace

Value export_read(Graph& graph, const HiddenConfig& config, const Value& states, int state_size,
                  int steps) {
  const Read read = exported_reads().at(config.kind);
  return read(ReadGraph(graph, config, states, steps), state_size);
}

Value export_score(Graph& graph, const std::string& kind, const std::string& name,
                   const Value& query, const Value& keys, int key_size) {
  const ScoreGraph score{graph, name, query, keys, key_size};
  return (score.*exported_scores().at(kind))();
}

}  // namespace saccade
