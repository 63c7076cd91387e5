#include <fmt/format.h>

#include <cmath>

#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {
namespace {

class ExportedAttention final : public ExportedCore {
 public:
  ExportedAttention(const ModelConfig& model, int steps)
      : width_(model.hidden_size), heads_(model.heads), depth_(model.depth), steps_(steps) {}

  bool reads_state() const override { return false; }
  std::vector<ExportedState> states() const override {
    std::vector<ExportedState> all;
    for (int i = 0; i < depth_; ++i)
      for (const char* what : {"keys", "values"})
        all.push_back({fmt::format("{}{}", what, i),
                       {0, width_},
                       fmt::format("{} of layer {} of the steps before, in their order", what, i)});
    return all;
  }

  // x = g W + b + position; the layers; h = LayerNorm(x).
  Value step(Graph& graph, const Value& feature, const Value&,
             std::vector<Value>& states) const override {
    Value x = onnx_add(graph, onnx_linear(graph, feature, "core.input"),
                       position(graph, onnx_side(graph, states[0], 1)));
    for (int i = 0; i < depth_; ++i) {
      const std::string layer = fmt::format("core.layer{}", i);
      const Value query = norm(graph, x, layer + ".attention.norm");
      x = onnx_add(graph, x,
                   attend(graph, query, layer + ".attention", states[2 * i], states[2 * i + 1]));
      const Value read = norm(graph, x, layer + ".forward.norm");
      const Value hidden = onnx_relu(graph, onnx_linear(graph, read, layer + ".forward.hidden"));
      x = onnx_add(graph, x, onnx_linear(graph, hidden, layer + ".forward.output"));
    }
    return norm(graph, x, "core.norm");
  }

 private:
  // Returns the encoding of step t (1): (1, H).
  Value position(Graph& graph, const Value& t) const {
    std::vector<float> codes;
    for (int step = 0; step < steps_; ++step)
      for (int j = 0; j < width_; ++j) {
        const double rate = std::pow(10000.0, -static_cast<double>(j / 2 * 2) / width_);
        codes.push_back(
            static_cast<float>(j % 2 == 0 ? std::sin(step * rate) : std::cos(step * rate)));
      }
    return graph.node("Gather", {graph.floats({steps_, width_}, codes), t},
                      {{"axis", std::int64_t{0}}});
  }

  static Value norm(Graph& graph, const Value& x, const std::string& name) {
    return graph.node("LayerNormalization",
                      {x, flat(graph, name + ".gain"), flat(graph, name + ".shift")},
                      {{"axis", std::int64_t{-1}}, {"epsilon", 1e-5F}});
  }
  // Reshapes a parameter (1, H) to (H).
  static Value flat(Graph& graph, const std::string& name) {
    const ConstMatrix numbers = graph.numbers_of(name);
    return graph.floats({numbers.cols}, {numbers.data, numbers.data + numbers.cols});
  }

  // Attention of x (B, H) over the steps up to its own.
  Value attend(Graph& graph, const Value& x, const std::string& name, Value& keys,
               Value& values) const {
    const Value qkv = onnx_linear(graph, x, name + ".qkv");
    const auto third = [&](int i) {
      return onnx_unsqueeze(graph, onnx_slice(graph, qkv, 1, i * width_, (i + 1) * width_), 1);
    };
    keys = onnx_concat(graph, {keys, third(1)}, 1);
    values = onnx_concat(graph, {values, third(2)}, 1);
    const std::int64_t head = width_ / heads_;
    const auto by_head = [&](const Value& rows, const std::vector<std::int64_t>& order) {
      return onnx_transpose(graph, onnx_reshape(graph, rows, {0, -1, heads_, head}), order);
    };
    const Value scores = onnx_product(graph, by_head(third(0), {0, 2, 1, 3}),
                                      by_head(keys, {0, 2, 3, 1}));  // (B, heads, 1, t + 1)
    const float scale = 1.0F / std::sqrt(static_cast<float>(head));
    const Value weights = onnx_softmax(graph, onnx_scale(graph, scores, scale));
    const Value context = onnx_product(graph, weights, by_head(values, {0, 2, 1, 3}));
    return onnx_linear(graph, onnx_reshape(graph, context, {0, width_}), name + ".output");
  }

  int width_, heads_, depth_, steps_;
};

}  // namespace

std::unique_ptr<const ExportedCore> export_attention_core(const ModelConfig& model, int steps) {
  return std::make_unique<ExportedAttention>(model, steps);
}

}  // namespace saccade
