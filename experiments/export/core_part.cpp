#include <cmath>

#include "attention/gate.h"
#include "base/name_table.h"
#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {
namespace {

// [g | h]
Value joined(Graph& graph, const Value& feature, const Value& state) {
  return onnx_concat(graph, {feature, state}, 1);
}

class ExportedRnn final : public ExportedCore {
 public:
  explicit ExportedRnn(int) {}

  bool reads_state() const override { return true; }
  Value step(Graph& graph, const Value& feature, const Value& state,
             std::vector<Value>&) const override {
    return onnx_relu(graph, onnx_linear(graph, joined(graph, feature, state), "core"));
  }
};

// Gates are stored side by side as [i | f | o | n].
class ExportedLstm final : public ExportedCore {
 public:
  explicit ExportedLstm(int width) : width_(width) {}

  bool reads_state() const override { return true; }
  std::vector<ExportedState> states() const override {
    return {{"cell", {width_}, "the core's cell c; zeros before the first step"}};
  }
  Value step(Graph& graph, const Value& feature, const Value& state,
             std::vector<Value>& states) const override {
    const Value z = onnx_linear(graph, joined(graph, feature, state), "core");
    const auto gate = [&](int i) { return onnx_slice(graph, z, 1, i * width_, (i + 1) * width_); };
    const Value kept = onnx_multiply(graph, onnx_sigmoid(graph, gate(1)), states[0]);
    const Value added =
        onnx_multiply(graph, onnx_sigmoid(graph, gate(0)), onnx_tanh(graph, gate(3)));
    states[0] = onnx_add(graph, kept, added);
    return onnx_multiply(graph, onnx_sigmoid(graph, gate(2)), onnx_tanh(graph, states[0]));
  }

 private:
  int width_;
};

// q = U h + c,  n = tanh(W g + b + r q),  h' = (1 - z) n + z h = n + z (h - n)
class ExportedGru final : public ExportedCore {
 public:
  explicit ExportedGru(int width) : width_(width) {}

  bool reads_state() const override { return true; }
  Value step(Graph& graph, const Value& feature, const Value& state,
             std::vector<Value>&) const override {
    const Value gates =
        onnx_sigmoid(graph, onnx_linear(graph, joined(graph, feature, state), "core.gates"));
    const Value reset = onnx_slice(graph, gates, 1, 0, width_);
    const Value update = onnx_slice(graph, gates, 1, width_, 2 * width_);
    const Value recurrent =
        onnx_multiply(graph, reset, onnx_linear(graph, state, "core.recurrent"));
    const Value content =
        onnx_tanh(graph, onnx_add(graph, onnx_linear(graph, feature, "core.content"), recurrent));
    const Value change = graph.node("Sub", {state, content});
    return onnx_add(graph, content, onnx_multiply(graph, update, change));
  }

 private:
  int width_;
};

class ExportedFeedforward final : public ExportedCore {
 public:
  explicit ExportedFeedforward(int) {}

  bool reads_state() const override { return false; }
  Value step(Graph& graph, const Value& feature, const Value&, std::vector<Value>&) const override {
    return onnx_relu(graph, onnx_linear(graph, feature, "core"));
  }
};

class ExportedIdentity final : public ExportedCore {
 public:
  bool reads_state() const override { return false; }
  Value step(Graph&, const Value& feature, const Value&, std::vector<Value>&) const override {
    return feature;
  }
};

template <class Kind>
std::unique_ptr<const ExportedCore> make(const ModelConfig& model, int) {
  return std::make_unique<Kind>(model.hidden_size);
}

using Maker = std::unique_ptr<const ExportedCore> (*)(const ModelConfig& model, int steps);

const NameTable<Maker>& exported_core_table() {
  static const NameTable<Maker> table{"model.core in an export",
                                      {{"rnn", make<ExportedRnn>},
                                       {"lstm", make<ExportedLstm>},
                                       {"gru", make<ExportedGru>},
                                       {"feedforward", make<ExportedFeedforward>},
                                       {"attention", export_attention_core}}};
  return table;
}

}  // namespace

std::unique_ptr<const ExportedCore> export_core(const AgentConfig& config, int steps) {
  return exported_core_table().at(config.model.core)(config.model, steps);
}

std::unique_ptr<const ExportedCore> export_identity_core() {
  return std::make_unique<ExportedIdentity>();
}

Value export_gate(Graph& graph, const AgentConfig& config, const Value& feature,
                  const Value& state) {
  if (!input_has_gate(config.input.kind)) return feature;
  const Value from_feature =
      onnx_add(graph, onnx_product(graph, feature, graph.parameter("gate.input.weight")),
               graph.parameter("gate.bias"));
  const Value from_state = onnx_product(graph, state, graph.parameter("gate.state.weight"));
  const Value a = onnx_sigmoid(graph, onnx_add(graph, from_feature, from_state));
  const float alpha = graph.has_parameter("gate.log_alpha")
                          ? std::exp(graph.numbers_of("gate.log_alpha")(0, 0))
                          : static_cast<float>(config.input.alpha);
  const Value gate = onnx_softmax(graph, onnx_scale(graph, a, alpha));
  return onnx_scale(graph, onnx_multiply(graph, feature, gate),
                    static_cast<float>(config.input.gain));
}

}  // namespace saccade
