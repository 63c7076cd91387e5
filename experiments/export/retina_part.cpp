
#include "env/area_resize.h"
#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {
namespace {

// Where the squares of a scale begin along both axes.
struct Edges {
  Value whole;     // (B, 2): x, y of the pixel edge
  Value fraction;  // (B, 2): offset of the exact edge from it; none if it is rounded
};

// The retina, scale by scale.
class RetinaGraph {
 public:
  RetinaGraph(Graph& graph, const Task& task)
      : graph_(graph),
        config_(task.config.retina),
        zoom_(task.model.look().zoom),
        canvas_(task.model.canvas()),
        patch_(config_.patch_size) {}

  // (B, D) at locations (B, L)
  Value look(const Value& canvas, const Value& location, bool smooth) const {
    if (!zoom_.is_point()) return look_zoomed(canvas, location);
    std::vector<Value> scales;
    for (int s = 0, zoom = 1; s < config_.scales; ++s, zoom *= config_.scale_factor) {
      const Edges edges = smooth ? corner(location, zoom) : first_edges(location, zoom);
      const int side = patch_ * zoom + (smooth ? 1 : 0);
      const Value pixels = pixels_from(canvas, edges.whole, side);
      const Value cells = smooth ? between(pixels, edges.fraction, zoom) : pooled(pixels, zoom);
      scales.push_back(onnx_reshape(graph_, cells, {0, -1}));
    }
    return onnx_concat(graph_, scales, 1);
  }

  // (B, G, D) at fixed places (G, 2)
  Value look_at_all(const Value& canvas, ConstMatrix places) const {
    const std::int64_t count = places.rows, channels = canvas_.channels;
    // A black pixel after the last one stands for all places beyond the canvas.
    const Value flat = onnx_reshape(graph_, canvas, {0, channels, -1});
    const Value pixels =
        onnx_concat(graph_, {flat, onnx_zeros_like_batch(graph_, canvas, {channels, 1})}, 2);
    std::vector<Value> scales;
    for (int s = 0, zoom = 1; s < config_.scales; ++s, zoom *= config_.scale_factor) {
      const std::int64_t side = patch_ * zoom;
      const Value seen = graph_.node(
          "Gather",
          {pixels, graph_.integers({count * side * side}, indices(places, patch_ * zoom))},
          {{"axis", std::int64_t{2}}});
      const Value squares = onnx_reshape(
          graph_,
          onnx_transpose(graph_, onnx_reshape(graph_, seen, {0, channels, count, side, side}),
                         {0, 2, 1, 3, 4}),
          {-1, channels, side, side});
      scales.push_back(
          onnx_reshape(graph_, pooled(squares, zoom), {-1, count, channels * patch_ * patch_}));
    }
    return onnx_concat(graph_, scales, 2);
  }

 private:
  // As Retina::look_zoomed: at locations (B, 3), by the share of each pixel in each box.
  Value look_zoomed(const Value& canvas, const Value& location) const {
    const auto slope = static_cast<float>(zoom_.log_slope());
    const Value u = onnx_slice(graph_, location, 1, 2, 3);
    const Value closest = onnx_scale(
        graph_,
        graph_.node("Exp",
                    {onnx_scale(graph_, onnx_add(graph_, u, graph_.floats({}, {1.0F})), slope)}),
        static_cast<float>(zoom_.from));
    std::vector<Value> scales;
    for (int s = 0, factor = 1; s < config_.scales; ++s, factor *= config_.scale_factor) {
      const Value side = onnx_scale(graph_, closest, static_cast<float>(factor));  // (B, 1)
      const Value down = zoomed_shares(location, 1, canvas_.rows, side);
      const Value right = zoomed_shares(location, 0, canvas_.cols, side);
      const Value cells = onnx_product(graph_, onnx_product(graph_, down, canvas),
                                       onnx_transpose(graph_, right, {0, 1, 3, 2}));
      scales.push_back(onnx_reshape(graph_, cells, {0, -1}));
    }
    return onnx_concat(graph_, scales, 1);
  }

  // The share of each pixel of an axis in each box of a side (B, 1): (B, 1, P, pixels).
  Value zoomed_shares(const Value& location, int axis, int pixels, const Value& side) const {
    std::vector<float> offsets, edges;
    for (int k = 0; k < patch_; ++k)
      offsets.push_back(static_cast<float>(k) - 0.5F * static_cast<float>(patch_));
    for (int k = 0; k < pixels; ++k) edges.push_back(static_cast<float>(k));
    const Value half = onnx_scale(graph_,
                                  onnx_add(graph_, onnx_slice(graph_, location, 1, axis, axis + 1),
                                           graph_.floats({}, {1.0F})),
                                  0.5F * static_cast<float>(pixels));
    const Value starts = onnx_add(
        graph_, half, onnx_multiply(graph_, side, graph_.floats({1, patch_}, offsets)));  // (B, P)
    const Value from = onnx_reshape(graph_, starts, {-1, 1, patch_, 1});
    const Value width = onnx_reshape(graph_, side, {-1, 1, 1, 1});
    const Value before = graph_.floats({1, 1, 1, pixels}, edges);
    const Value after = onnx_add(graph_, before, graph_.floats({}, {1.0F}));
    const Value overlap =
        graph_.node("Sub", {graph_.node("Min", {onnx_add(graph_, from, width), after}),
                            graph_.node("Max", {from, before})});
    return graph_.node("Div", {onnx_relu(graph_, overlap), width});
  }

  // As Retina::first_edge, which computes in double: floor(point - side / 2 + 1/2 + rounding).
  Edges first_edges(const Value& location, int zoom) const {
    const double side = patch_ * zoom;
    const auto axis = [&](int pixels) {
      return 0.5 * pixels - 0.5 * side + 0.5 + pixels * 0x1p-23;
    };
    const Value scaled =
        onnx_multiply(graph_, onnx_cast(graph_, location, Element::float64),
                      graph_.doubles({1, 2}, {0.5 * canvas_.cols, 0.5 * canvas_.rows}));
    const Value edges = graph_.node(
        "Floor", {onnx_add(graph_, scaled,
                           graph_.doubles({1, 2}, {axis(canvas_.cols), axis(canvas_.rows)}))});
    return {onnx_cast(graph_, edges, Element::float32), ""};
  }

  // As Retina::corner.
  Edges corner(const Value& location, int zoom) const {
    const auto cols = static_cast<float>(canvas_.cols), rows = static_cast<float>(canvas_.rows);
    const Value half =
        onnx_scale(graph_, onnx_add(graph_, location, graph_.floats({}, {1.0F})), 0.5F);
    const Value point = onnx_multiply(graph_, half, graph_.floats({1, 2}, {cols, rows}));
    const Value edge =
        graph_.node("Sub", {point, graph_.floats({}, {0.5F * static_cast<float>(patch_ * zoom)})});
    const Value whole = graph_.node("Floor", {edge});
    return {whole, graph_.node("Sub", {edge, whole})};
  }

  // Returns side x side pixels starting at an edge (B, 2): (B, channels, side, side); black beyond
  // the canvas.
  Value pixels_from(const Value& canvas, const Value& edge, int side) const {
    std::vector<float> offsets;  // (side, side, 2): x, y
    for (int row = 0; row < side; ++row)
      for (int col = 0; col < side; ++col)
        for (const int offset : {col, row}) offsets.push_back(static_cast<float>(offset));
    const Value places = onnx_add(graph_, onnx_reshape(graph_, edge, {-1, 1, 1, 2}),
                                  graph_.floats({1, side, side, 2}, offsets));
    // Pixel centres, where -1 and 1 are the edges of the canvas.
    const auto cols = static_cast<float>(canvas_.cols), rows = static_cast<float>(canvas_.rows);
    const Value grid = onnx_add(
        graph_, onnx_multiply(graph_, places, graph_.floats({2}, {2.0F / cols, 2.0F / rows})),
        graph_.floats({2}, {1.0F / cols - 1.0F, 1.0F / rows - 1.0F}));
    return graph_.node("GridSample", {canvas, grid},
                       {{"mode", std::string("nearest")},
                        {"padding_mode", std::string("zeros")},
                        {"align_corners", std::int64_t{0}}});
  }

  // Pools boxes of zoom x zoom.
  Value pooled(const Value& pixels, int zoom) const {
    if (zoom == 1) return pixels;
    const std::vector<std::int64_t> box = {zoom, zoom};
    return graph_.node(pools_max(config_) ? "MaxPool" : "AveragePool", {pixels},
                       {{"kernel_shape", box}, {"strides", box}});
  }

  // Interpolates between boxes of pixels (B, channels, side + 1, side + 1).
  Value between(const Value& pixels, const Value& fraction, int zoom) const {
    const auto boxes = [&](int down, int right) {
      const int side = patch_ * zoom;
      return pooled(onnx_slice(graph_, onnx_slice(graph_, pixels, 2, down, down + side), 3, right,
                               right + side),
                    zoom);
    };
    const auto share = [&](int axis) {
      return onnx_reshape(graph_, onnx_slice(graph_, fraction, 1, axis, axis + 1), {-1, 1, 1, 1});
    };
    const auto mixed = [&](const Value& from, const Value& to, const Value& by) {
      return onnx_add(graph_, from, onnx_multiply(graph_, by, graph_.node("Sub", {to, from})));
    };
    const Value u = share(0), v = share(1);
    return mixed(mixed(boxes(0, 0), boxes(1, 0), v), mixed(boxes(0, 1), boxes(1, 1), v), u);
  }

  // Indices of the pixels (G, side, side) in a flat canvas with a black pixel at its end.
  std::vector<std::int64_t> indices(ConstMatrix places, int side) const {
    const int rows = canvas_.rows, cols = canvas_.cols;
    std::vector<std::int64_t> all;
    for (int k = 0; k < places.rows; ++k) {
      const int left = Retina::first_edge(places(k, 0), cols, side);
      const int top = Retina::first_edge(places(k, 1), rows, side);
      for (int row = top; row < top + side; ++row)
        for (int col = left; col < left + side; ++col) {
          const bool inside = row >= 0 && row < rows && col >= 0 && col < cols;
          all.push_back(inside ? std::int64_t{row} * cols + col : std::int64_t{rows} * cols);
        }
    }
    return all;
  }

  Graph& graph_;
  const RetinaConfig& config_;
  LogRange zoom_;
  CanvasSize canvas_;
  int patch_;
};

// The weight of each of `from` pixels of an axis in each of `to`: (to, from), row-major.
std::vector<float> shares(int to, int from) {
  AreaResize resize(1, from, 1, to, 1);
  std::vector<float> all(static_cast<std::size_t>(to) * from), pixels(from), small(to);
  for (int i = 0; i < from; ++i) {
    pixels.assign(from, 0.0F);
    pixels[i] = 1.0F;
    resize.forward(small, pixels);
    for (int k = 0; k < to; ++k) all[static_cast<std::size_t>(k) * from + i] = small[k];
  }
  return all;
}

}  // namespace

Value export_retina(Graph& graph, const Task& task, const Value& canvas, const Value& location,
                    bool smooth) {
  return RetinaGraph(graph, task).look(canvas, location, smooth);
}

Value export_retina_at_all(Graph& graph, const Task& task, const Value& canvas,
                           ConstMatrix places) {
  return RetinaGraph(graph, task).look_at_all(canvas, places);
}

Value export_shrunk(Graph& graph, const Value& canvas, CanvasSize size, int to_rows, int to_cols) {
  if (to_rows == size.rows && to_cols == size.cols) return canvas;
  const Value rows = graph.floats({to_rows, size.rows}, shares(to_rows, size.rows));
  const Value cols = graph.floats({to_cols, size.cols}, shares(to_cols, size.cols));
  return onnx_product(graph, onnx_product(graph, rows, canvas),
                      onnx_transpose(graph, cols, {1, 0}));
}

}  // namespace saccade
