#pragma once

#include <vector>

#include "experiments/export/graph.h"

// Operations shared by the parts of an agent, on values whose first dimension is the batch.
namespace saccade {

Value onnx_add(Graph& graph, const Value& a, const Value& b);
Value onnx_multiply(Graph& graph, const Value& a, const Value& b);
Value onnx_scale(Graph& graph, const Value& a, float factor);
Value onnx_relu(Graph& graph, const Value& x);
Value onnx_tanh(Graph& graph, const Value& x);
Value onnx_sigmoid(Graph& graph, const Value& x);
/// Over the last dimension.
Value onnx_softmax(Graph& graph, const Value& logits);

/// Product x w over the last dimensions; leading dimensions are allowed.
Value onnx_product(Graph& graph, const Value& x, const Value& w);
/// x w + b with the parameters `<name>.weight` and `<name>.bias`.
Value onnx_linear(Graph& graph, const Value& x, const std::string& name);

Value onnx_concat(Graph& graph, const std::vector<Value>& parts, int axis);
/// Elements begin .. end - 1 of a dimension.
Value onnx_slice(Graph& graph, const Value& x, int axis, std::int64_t begin, std::int64_t end);
/// A dimension of 0 is kept, -1 is inferred.
Value onnx_reshape(Graph& graph, const Value& x, const std::vector<std::int64_t>& shape);
Value onnx_transpose(Graph& graph, const Value& x, const std::vector<std::int64_t>& order);
Value onnx_unsqueeze(Graph& graph, const Value& x, int axis);
Value onnx_squeeze(Graph& graph, const Value& x, int axis);
Value onnx_sum(Graph& graph, const Value& x, int axis, bool keeps_side);
Value onnx_cast(Graph& graph, const Value& x, Element element);

/// Size of a dimension, (1) int64.
Value onnx_side(Graph& graph, const Value& x, int axis);
/// Zeros of shape (batch of x, sides).
Value onnx_zeros_like_batch(Graph& graph, const Value& x, const std::vector<std::int64_t>& sides);
/// Repeats x (1, ...) for the batch of `like`: (batch, sides).
Value onnx_for_batch(Graph& graph, const Value& x, const Value& like,
                     const std::vector<std::int64_t>& sides);

}  // namespace saccade
