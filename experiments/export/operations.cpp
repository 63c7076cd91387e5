#include "experiments/export/operations.h"

namespace saccade {

Value onnx_add(Graph& graph, const Value& a, const Value& b) { return graph.node("Add", {a, b}); }
Value onnx_multiply(Graph& graph, const Value& a, const Value& b) {
  return graph.node("Mul", {a, b});
}
Value onnx_scale(Graph& graph, const Value& a, float factor) {
  return factor == 1.0F ? a : graph.node("Mul", {a, graph.floats({}, {factor})});
}
Value onnx_relu(Graph& graph, const Value& x) { return graph.node("Relu", {x}); }
Value onnx_tanh(Graph& graph, const Value& x) { return graph.node("Tanh", {x}); }
Value onnx_sigmoid(Graph& graph, const Value& x) { return graph.node("Sigmoid", {x}); }
Value onnx_softmax(Graph& graph, const Value& logits) {
  return graph.node("Softmax", {logits}, {{"axis", std::int64_t{-1}}});
}

Value onnx_product(Graph& graph, const Value& x, const Value& w) {
  return graph.node("MatMul", {x, w});
}

Value onnx_linear(Graph& graph, const Value& x, const std::string& name) {
  return onnx_add(graph, onnx_product(graph, x, graph.parameter(name + ".weight")),
                  graph.parameter(name + ".bias"));
}

Value onnx_concat(Graph& graph, const std::vector<Value>& parts, int axis) {
  return graph.node("Concat", parts, {{"axis", std::int64_t{axis}}});
}

Value onnx_slice(Graph& graph, const Value& x, int axis, std::int64_t begin, std::int64_t end) {
  return graph.node("Slice", {x, graph.integers({1}, {begin}), graph.integers({1}, {end}),
                              graph.integers({1}, {axis})});
}

Value onnx_reshape(Graph& graph, const Value& x, const std::vector<std::int64_t>& shape) {
  return graph.node("Reshape",
                    {x, graph.integers({static_cast<std::int64_t>(shape.size())}, shape)});
}

Value onnx_transpose(Graph& graph, const Value& x, const std::vector<std::int64_t>& order) {
  return graph.node("Transpose", {x}, {{"perm", order}});
}

Value onnx_unsqueeze(Graph& graph, const Value& x, int axis) {
  return graph.node("Unsqueeze", {x, graph.integers({1}, {axis})});
}

Value onnx_squeeze(Graph& graph, const Value& x, int axis) {
  return graph.node("Squeeze", {x, graph.integers({1}, {axis})});
}

Value onnx_sum(Graph& graph, const Value& x, int axis, bool keeps_side) {
  return graph.node("ReduceSum", {x, graph.integers({1}, {axis})},
                    {{"keepdims", std::int64_t{keeps_side ? 1 : 0}}});
}

Value onnx_cast(Graph& graph, const Value& x, Element element) {
  return graph.node("Cast", {x}, {{"to", onnx_type(element)}});
}

Value onnx_side(Graph& graph, const Value& x, int axis) {
  return onnx_slice(graph, graph.node("Shape", {x}), 0, axis, axis + 1);
}

Value onnx_zeros_like_batch(Graph& graph, const Value& x, const std::vector<std::int64_t>& sides) {
  const Value rest = graph.integers({static_cast<std::int64_t>(sides.size())}, sides);
  return graph.node("ConstantOfShape", {onnx_concat(graph, {onnx_side(graph, x, 0), rest}, 0)});
}

Value onnx_for_batch(Graph& graph, const Value& x, const Value& like,
                     const std::vector<std::int64_t>& sides) {
  const Value rest = graph.integers({static_cast<std::int64_t>(sides.size())}, sides);
  return graph.node("Expand", {x, onnx_concat(graph, {onnx_side(graph, like, 0), rest}, 0)});
}

}  // namespace saccade
