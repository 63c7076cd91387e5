#pragma once

#include <vector>

#include "experiments/export/graph.h"

// The operations that the parts of an agent are made of, on values whose first side is the batch.
namespace saccade {

Value onnx_add(Graph& graph, const Value& a, const Value& b);
Value onnx_multiply(Graph& graph, const Value& a, const Value& b);
Value onnx_scale(Graph& graph, const Value& a, float factor);
Value onnx_relu(Graph& graph, const Value& x);
Value onnx_tanh(Graph& graph, const Value& x);
Value onnx_sigmoid(Graph& graph, const Value& x);
/// Over the last side.
Value onnx_softmax(Graph& graph, const Value& logits);

/// x w of the last sides, which may have others in front.
Value onnx_product(Graph& graph, const Value& x, const Value& w);
/// x w + b with the parameters `<name>.weight` and `<name>.bias`.
Value onnx_linear(Graph& graph, const Value& x, const std::string& name);

Value onnx_concat(Graph& graph, const std::vector<Value>& parts, int axis);
/// The numbers begin .. end - 1 of a side.
Value onnx_slice(Graph& graph, const Value& x, int axis, std::int64_t begin, std::int64_t end);
/// A side of 0 stays as it is, -1 takes what is left.
Value onnx_reshape(Graph& graph, const Value& x, const std::vector<std::int64_t>& shape);
Value onnx_transpose(Graph& graph, const Value& x, const std::vector<std::int64_t>& order);
Value onnx_unsqueeze(Graph& graph, const Value& x, int axis);
Value onnx_squeeze(Graph& graph, const Value& x, int axis);
Value onnx_sum(Graph& graph, const Value& x, int axis, bool keeps_side);
Value onnx_cast(Graph& graph, const Value& x, Element element);

/// How long a side is, (1) int64.
Value onnx_side(Graph& graph, const Value& x, int axis);
/// Zeros (batch of x, sides).
Value onnx_zeros_like_batch(Graph& graph, const Value& x, const std::vector<std::int64_t>& sides);
/// x (1, ...) for each of the batch of `like`: (batch, sides).
Value onnx_for_batch(Graph& graph, const Value& x, const Value& like,
                     const std::vector<std::int64_t>& sides);

}  // namespace saccade
