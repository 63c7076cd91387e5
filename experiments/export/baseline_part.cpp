#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {

Value export_baseline(Graph& graph, const Model& model, const Value& state) {
  if (!model.learns_baseline() || model.baseline->reads_truth()) return "";
  if (graph.has_parameter("baseline.weight")) return onnx_linear(graph, state, "baseline");
  if (!graph.has_parameter("baseline.hidden.weight")) return "";
  const Value hidden = onnx_relu(graph, onnx_linear(graph, state, "baseline.hidden"));
  return onnx_linear(graph, hidden, "baseline.output");
}

}  // namespace saccade
