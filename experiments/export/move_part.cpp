#include "attention/moves.h"
#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {

// As move_forward, after the first look.
Value export_move(Graph& graph, const Moves& moves, const Value& action, const Value& from) {
  const Value length = graph.node(
      "Sqrt", {onnx_sum(graph, onnx_multiply(graph, action, action), 1, /*keeps_side=*/true)});
  const Value longest = graph.node("Max", {length, graph.floats({}, {1.0F})});
  const Value step = onnx_scale(graph, graph.node("Div", {action, longest}), moves.max_step);
  const auto [x, y] = moves.reach;
  const Value most = graph.floats({1, 2}, {x, y}), least = graph.floats({1, 2}, {-x, -y});
  return graph.node("Max", {graph.node("Min", {onnx_add(graph, from, step), most}), least});
}

}  // namespace saccade
