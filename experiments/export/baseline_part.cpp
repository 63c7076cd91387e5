#include "agent/credit/advantage.h"
#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {

Value export_baseline(Graph& graph, const AgentConfig& config, const Value& state) {
  const ReinforceConfig& reinforce = config.reinforce;
  if (!find_advantage(reinforce.advantage).reads_baseline || reinforce.critic == "privileged")
    return "";
  if (graph.has_parameter("baseline.weight")) return onnx_linear(graph, state, "baseline");
  if (!graph.has_parameter("baseline.hidden.weight")) return "";
  const Value hidden = onnx_relu(graph, onnx_linear(graph, state, "baseline.hidden"));
  return onnx_linear(graph, hidden, "baseline.output");
}

}  // namespace saccade
