#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {

// The log odds of the most probable class are its log probability less that of all others together,
// from which it is taken out by a large negative number: 1 - p would have no digits left where p is
// almost 1.
Value export_stop(Graph& graph, const Value& state, const Value& log_probabilities) {
  if (!graph.has_parameter("stop.weight")) return "";
  const std::vector<std::int64_t> last = {-1};
  const Value most = graph.node("ReduceMax", {log_probabilities}, {{"axes", last}});
  const Value is_most =
      onnx_cast(graph, graph.node("Equal", {log_probabilities, most}), Element::float32);
  const Value others = onnx_add(graph, log_probabilities, onnx_scale(graph, is_most, -1e30F));
  const Value log_odds =
      graph.node("Sub", {most, graph.node("ReduceLogSumExp", {others}, {{"axes", last}})});
  const Value sure = onnx_multiply(graph, log_odds, graph.parameter("stop.sureness"));
  return onnx_sigmoid(graph, onnx_add(graph, onnx_linear(graph, state, "stop"), sure));
}

}  // namespace saccade
