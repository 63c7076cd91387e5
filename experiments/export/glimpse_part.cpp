#include <fmt/format.h>

#include "agent/looking/context_network.h"
#include "base/name_table.h"
#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {
namespace {

// The outputs (N, size) of a network's filters for scaled pixels (N, D), each network by its name.
using Filters = Value (*)(Graph& graph, const Task& task, const Value& pixels);

Value no_filters(Graph&, const Task&, const Value& pixels) { return pixels; }

// (scale, row, col, filter), as agent/looking/glimpse_filters.cpp has them.
Value convolution_filters(Graph& graph, const Task& task, const Value& pixels) {
  const ModelConfig& model = task.config.agent.model;
  const LookTraits& look = task.model.look();
  const int side = look.picture_side, channels = task.model.canvas().channels;
  const Value images = onnx_reshape(graph, pixels, {-1, channels, side, side});
  const Value maps = export_convolution(graph, images, "glimpse.filters",
                                        {.channels = channels,
                                         .kernel_size = model.glimpse_kernel,
                                         .stride = model.glimpse_stride,
                                         .padding = 0});
  const std::int64_t positions = (side - model.glimpse_kernel) / model.glimpse_stride + 1;
  return onnx_reshape(graph, onnx_transpose(graph, maps, {0, 2, 3, 1}),
                      {-1, look.pictures * positions * positions * model.glimpse_filters});
}

// (row, col, filter) of the last block, as agent/looking/residual_filters.cpp has them.
Value residual_filters(Graph& graph, const Task& task, const Value& pixels) {
  const ModelConfig& model = task.config.agent.model;
  const LookTraits& look = task.model.look();
  const int side = look.picture_side, channels = task.model.canvas().channels;
  const auto convolution = [&](const Value& images, const std::string& name, int stride) {
    const int inputs = graph.numbers_of(name + ".weight").rows / 9;
    return export_linear_convolution(
        graph, images, name,
        {.channels = inputs, .kernel_size = 3, .stride = stride, .padding = 1});
  };
  Value seen = onnx_reshape(graph, pixels, {-1, look.pictures * channels, side, side});
  for (int stage = 1; stage <= model.glimpse_stages; ++stage) {
    const std::string name = fmt::format("glimpse.filters.stage{}.", stage);
    seen = onnx_relu(graph, convolution(seen, name + "enter", stage == 1 ? 1 : 2));
    for (int block = 1; block <= model.glimpse_blocks; ++block) {
      const std::string of_block = fmt::format("{}block{}.", name, block);
      const Value inner = onnx_relu(graph, convolution(seen, of_block + "first", 1));
      seen = onnx_relu(graph, onnx_add(graph, seen, convolution(inner, of_block + "second", 1)));
    }
  }
  return onnx_reshape(graph, onnx_transpose(graph, seen, {0, 2, 3, 1}), {0, -1});
}

const NameTable<Filters>& exported_filters() {
  static const NameTable<Filters> table{
      "model.glimpse_network in an export",
      {{"mlp", no_filters}, {"conv", convolution_filters}, {"residual", residual_filters}}};
  return table;
}

// Returns the glimpse network's input from glimpses (N, D).
Value filtered(Graph& graph, const Task& task, const Value& glimpses) {
  const LookTraits& look = task.model.look();
  const std::int64_t plane = std::int64_t{look.picture_side} * look.picture_side;
  const Value pixels = export_scaled(graph, task, glimpses, plane,
                                     {-1, look.pictures * task.model.canvas().channels * plane});
  return exported_filters().at(task.config.agent.model.glimpse_network)(graph, task, pixels);
}

}  // namespace

std::string location_text(const Task& task) {
  return task.model.look().zoom.is_point() ? "(x, y) in [-1, 1], y down,"
                                           : "(x, y, zoom) in [-1, 1], y down, the widest zoom 1,";
}

Value export_scaled(Graph& graph, const Task& task, const Value& pixels, std::int64_t plane,
                    const std::vector<std::int64_t>& shape) {
  const PixelScale& scale = task.model.pixels();
  if (scale.is_identity()) return pixels;
  const std::int64_t channels = task.model.canvas().channels;
  const Value planes = onnx_reshape(graph, pixels, {-1, channels, plane});
  const Value centred = graph.node("Sub", {planes, graph.floats({channels, 1}, scale.mean())});
  const Value scaled = onnx_multiply(graph, centred, graph.floats({channels, 1}, scale.gain()));
  return onnx_reshape(graph, scaled, shape);
}

Value export_convolution(Graph& graph, const Value& images, const std::string& name,
                         const ExportedConvolution& shape) {
  return onnx_relu(graph, export_linear_convolution(graph, images, name, shape));
}

Value export_linear_convolution(Graph& graph, const Value& images, const std::string& name,
                                const ExportedConvolution& shape) {
  // Permutes (row, col, channel; filter) to (filter, channel, row, col).
  const ConstMatrix w = graph.numbers_of(name + ".weight");
  const ConstMatrix b = graph.numbers_of(name + ".bias");
  const int channels = shape.channels, kernel = shape.kernel_size, filters = w.cols;
  std::vector<float> turned;
  for (int f = 0; f < filters; ++f)
    for (int c = 0; c < channels; ++c)
      for (int place = 0; place < kernel * kernel; ++place)
        turned.push_back(w(place * channels + c, f));
  const auto pair = [](int n) { return std::vector<std::int64_t>{n, n}; };
  return graph.node("Conv",
                    {images, graph.floats({filters, channels, kernel, kernel}, turned),
                     graph.floats({filters}, {b.data, b.data + filters})},
                    {{"kernel_shape", pair(kernel)},
                     {"strides", pair(shape.stride)},
                     {"pads", std::vector<std::int64_t>(4, shape.padding)}});
}

Value export_glimpse_network(Graph& graph, const Task& task, const Value& glimpse,
                             const Value& location) {
  const Value what =
      onnx_relu(graph, onnx_linear(graph, filtered(graph, task, glimpse), "glimpse.what"));
  const Value where = onnx_relu(graph, onnx_linear(graph, location, "glimpse.where"));
  return onnx_relu(graph,
                   onnx_linear(graph, onnx_concat(graph, {what, where}, 1), "glimpse.joint"));
}

Value export_embeddings(Graph& graph, const Task& task, const Value& candidates,
                        ConstMatrix places) {
  const ModelConfig& model = task.config.agent.model;
  const std::int64_t count = places.rows;
  const std::vector<float> numbers(places.data, places.data + places.rows * places.cols);
  const Value where =
      onnx_relu(graph, onnx_linear(graph, graph.floats({count, 2}, numbers), "glimpse.where"));
  const Value offset =
      onnx_add(graph,
               onnx_product(graph, where,
                            graph.parameter_rows("glimpse.joint.weight", model.glimpse_hidden,
                                                 model.location_hidden)),
               graph.parameter("glimpse.joint.bias"));

  const Value flat = onnx_reshape(graph, candidates, {-1, task.retina->glimpse_size()});
  const Value what =
      onnx_relu(graph, onnx_linear(graph, filtered(graph, task, flat), "glimpse.what"));
  const Value joint = onnx_product(
      graph, what, graph.parameter_rows("glimpse.joint.weight", 0, model.glimpse_hidden));
  return onnx_relu(
      graph, onnx_add(graph, onnx_reshape(graph, joint, {-1, count, model.feature_size}), offset));
}

Value export_locator(Graph& graph, const Value& state, const Value& context,
                     const std::string& output) {
  Value hidden = onnx_linear(graph, state, "locator.hidden");
  if (!context.empty()) hidden = onnx_add(graph, hidden, context);
  return onnx_linear(graph, onnx_relu(graph, hidden), "locator." + output);
}

Value export_context(Graph& graph, const Task& task, const Value& thumbnail) {
  const std::int64_t side = task.config.agent.model.context_size;
  const Value seen = export_scaled(graph, task, thumbnail, side * side, {0, -1});
  return onnx_product(graph, onnx_relu(graph, onnx_linear(graph, seen, "locator.context")),
                      graph.parameter("locator.context.hidden.weight"));
}

Value export_context_of_canvas(Graph& graph, const Task& task, const Value& canvas) {
  const ModelConfig& model = task.config.agent.model;
  if (!has_context(model)) return "";
  const Value small =
      export_shrunk(graph, canvas, task.model.canvas(), model.context_size, model.context_size);
  return export_context(graph, task, onnx_reshape(graph, small, {0, -1}));
}

Value export_context_input(Graph& graph, const Task& task) {
  const ModelConfig& model = task.config.agent.model;
  if (!has_context(model)) return "";
  const std::int64_t pixels =
      std::int64_t{model.context_size} * model.context_size * task.model.canvas().channels;
  return export_context(
      graph, task,
      graph.input("thumbnail", {"batch", pixels},
                  "the canvas shrunk by area averages, (channel, row, col), in [0, 1]"));
}

}  // namespace saccade
