#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {

Value export_stop(Graph& graph, const Value& state) {
  if (!graph.has_parameter("stop.weight")) return "";
  return onnx_sigmoid(graph, onnx_linear(graph, state, "stop"));
}

}  // namespace saccade
