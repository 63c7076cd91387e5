#include <algorithm>

#include "attention/gaussian_filters.h"
#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {
namespace {

constexpr float kLargestLog = 30.0F;  // the limit that GaussianFilters puts on its logarithms

// One window of Gaussian filters per step.
class ExportedWindow final : public ExportedLook {
 public:
  explicit ExportedWindow(const Task& task)
      : task_(task),
        canvas_(task.model.canvas()),
        side_(task.config.agent.glimpse.filters),
        filters_({canvas_.rows, canvas_.cols, canvas_.channels, side_}) {}

  ExportedObservation inputs(Graph& graph) const override {
    ExportedObservation spec;
    spec.glimpse = graph.input("glimpse", {"batch", filters_.glimpse_size()},
                               "what the window of Gaussian filters shows, (channel, row, col)");
    spec.location = graph.input("location", {"batch", std::int64_t{2}},
                                "(x, y) of the window's centre, where -1 and 1 are the edges of "
                                "the canvas, y down");
    spec.context = export_context_input(graph, task_);
    return spec;
  }

  Value feature(Graph& graph, const ExportedObservation& spec) const override {
    return export_glimpse_network(graph, task_, spec.glimpse, spec.location);
  }

  ExportedChoice next(Graph& graph, const Value& state, const ExportedObservation& spec,
                      const Value&) const override {
    const Value window = export_locator(graph, state, spec.context, "window");
    const std::array<float, 2> scale = filters_.location_per_centre();
    return {.location = onnx_multiply(graph, onnx_slice(graph, window, 1, 0, 2),
                                      graph.floats({1, 2}, {scale[0], scale[1]})),
            .window = window};
  }

  ExportedObservation begin(Graph& graph, const Value& canvas) const override {
    ExportedObservation spec;
    spec.context = export_context_of_canvas(graph, task_, canvas);
    return spec;
  }

  ExportedChoice first(Graph& graph, const Value& like,
                       const ExportedObservation& spec) const override {
    const Value state = onnx_zeros_like_batch(graph, like, {task_.config.agent.model.hidden_size});
    return next(graph, state, spec, "");
  }

  // gamma F_Y X F_X'
  ExportedObservation see(Graph& graph, const Value& canvas, const ExportedChoice& choice,
                          const ExportedObservation& spec, int) const override {
    ExportedObservation seen = spec;
    seen.location = choice.location;
    const Value f_x = onnx_unsqueeze(graph, filters(graph, choice.window, 0, canvas_.cols), 1);
    const Value f_y = onnx_unsqueeze(graph, filters(graph, choice.window, 1, canvas_.rows), 1);
    const Value bands = onnx_product(graph, f_y, canvas);
    const Value pixels = onnx_product(graph, bands, onnx_transpose(graph, f_x, {0, 1, 3, 2}));
    seen.glimpse = onnx_multiply(graph, onnx_reshape(graph, pixels, {0, -1}),
                                 bounded_exp(graph, choice.window, 4, 1.0F));
    return seen;
  }

 private:
  // exp(factor x) of a window parameter, bounded: (B, 1)
  static Value bounded_exp(Graph& graph, const Value& window, int column, float factor) {
    const Value bounded =
        graph.node("Clip", {onnx_slice(graph, window, 1, column, column + 1),
                            graph.floats({}, {-kLargestLog}), graph.floats({}, {kLargestLog})});
    return graph.node("Exp", {onnx_scale(graph, bounded, factor)});
  }

  // The rows of F (B, N, pixels), each a softmax of -(a - mu_i)^2 / (2 sigma^2), with distances
  // measured from the pixel nearest to mu_i, since the squares would cancel otherwise.
  Value filters(Graph& graph, const Value& window, int axis, int pixels) const {
    const auto size = static_cast<float>(pixels);
    const Value centre = onnx_scale(
        graph,
        onnx_add(graph, onnx_slice(graph, window, 1, axis, axis + 1), graph.floats({}, {1.0F})),
        0.5F * (size + 1.0F));
    const Value from_zero = graph.node("Sub", {centre, graph.floats({}, {1.0F})});
    std::vector<float> offsets, places;
    for (int i = 0; i < side_; ++i)
      offsets.push_back(static_cast<float>(i) - 0.5F * static_cast<float>(side_) + 0.5F);
    for (int a = 0; a < pixels; ++a) places.push_back(static_cast<float>(a));
    const float longest = static_cast<float>(std::max(canvas_.rows, canvas_.cols));
    const float stride = side_ > 1 ? (longest - 1.0F) / static_cast<float>(side_ - 1) : 0.0F;
    const Value delta = onnx_scale(graph, bounded_exp(graph, window, 3, 1.0F), stride);
    const Value mu = onnx_unsqueeze(
        graph,
        onnx_add(graph, from_zero, onnx_multiply(graph, delta, graph.floats({1, side_}, offsets))),
        2);  // (B, N, 1)
    const Value nearest = graph.node("Clip", {graph.node("Round", {mu}), graph.floats({}, {0.0F}),
                                              graph.floats({}, {size - 1.0F})});
    const Value d = graph.node("Sub", {graph.floats({1, 1, pixels}, places), nearest});
    const Value twice = onnx_scale(graph, graph.node("Sub", {nearest, mu}), 2.0F);
    const Value square = onnx_multiply(graph, d, onnx_add(graph, d, twice));
    const Value inverse = onnx_unsqueeze(graph, bounded_exp(graph, window, 2, -1.0F), 2);
    return onnx_softmax(graph, onnx_scale(graph, onnx_multiply(graph, square, inverse), -0.5F));
  }

  const Task& task_;
  CanvasSize canvas_;
  int side_;
  GaussianFilters filters_;
};

}  // namespace

std::unique_ptr<const ExportedLook> export_window(const Task& task, std::span<const float>) {
  return std::make_unique<ExportedWindow>(task);
}

}  // namespace saccade
