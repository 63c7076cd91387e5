#include "base/name_table.h"
#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {
namespace {

Value mlp_feature(Graph& graph, const Value& canvas, const Task&) {
  const Value pixels = onnx_reshape(graph, canvas, {0, -1});
  const Value hidden = onnx_relu(graph, onnx_linear(graph, pixels, "canvas.hidden"));
  return onnx_relu(graph, onnx_linear(graph, hidden, "canvas.feature"));
}

Value cnn_feature(Graph& graph, const Value& canvas, const Task& task) {
  const ModelConfig& model = task.config.agent.model;
  constexpr int kStride = 2;  // as in agent/looking/canvas_network.cpp
  const auto layer = [&](const Value& images, const char* name, int channels) {
    return export_convolution(graph, images, name,
                              {.channels = channels,
                               .kernel_size = model.kernel_size,
                               .stride = kStride,
                               .padding = model.kernel_size / 2});
  };
  const Value maps = layer(layer(canvas, "canvas.conv1", task.model.canvas().channels),
                           "canvas.conv2", model.channels[0]);
  const Value last = onnx_reshape(graph, onnx_transpose(graph, maps, {0, 2, 3, 1}), {0, -1});
  return onnx_relu(graph, onnx_linear(graph, last, "canvas.feature"));
}

using Feature = Value (*)(Graph& graph, const Value& canvas, const Task& task);

const NameTable<Feature>& exported_networks() {
  static const NameTable<Feature> table{"model.kind in an export",
                                        {{"mlp", mlp_feature}, {"cnn", cnn_feature}}};
  return table;
}

// Reads the whole canvas in one step.
class ExportedCanvas final : public ExportedLook {
 public:
  explicit ExportedCanvas(const Task& task)
      : task_(task), feature_(exported_networks().at(task.config.agent.model.kind)) {}

  ExportedObservation inputs(Graph& graph) const override {
    ExportedObservation spec;
    spec.canvas = canvas_input(graph, task_);
    return spec;
  }
  Value feature(Graph& graph, const ExportedObservation& spec) const override {
    const CanvasSize size = task_.model.canvas();
    const Value canvas =
        export_scaled(graph, task_, spec.canvas, std::int64_t{size.rows} * size.cols,
                      {-1, size.channels, size.rows, size.cols});
    return feature_(graph, canvas, task_);
  }
  ExportedChoice next(Graph&, const Value&, const ExportedObservation&,
                      const Value&) const override {
    return {};
  }
  ExportedObservation begin(Graph&, const Value& canvas) const override {
    ExportedObservation spec;
    spec.canvas = canvas;
    return spec;
  }
  ExportedChoice first(Graph&, const Value&, const ExportedObservation&) const override {
    return {};
  }
  ExportedObservation see(Graph&, const Value&, const ExportedChoice&,
                          const ExportedObservation& spec, int) const override {
    return spec;
  }

 private:
  const Task& task_;
  Feature feature_;
};

}  // namespace

Value canvas_input(Graph& graph, const Task& task) {
  const CanvasSize size = task.model.canvas();
  return graph.input(
      "canvas",
      {"batch", std::int64_t{size.channels}, std::int64_t{size.rows}, std::int64_t{size.cols}},
      "(batch, channel, row, col), pixels in [0, 1]");
}

std::unique_ptr<const ExportedLook> export_canvas(const Task& task, std::span<const float>) {
  return std::make_unique<ExportedCanvas>(task);
}

}  // namespace saccade
