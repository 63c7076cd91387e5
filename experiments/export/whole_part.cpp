#include "experiments/export/operations.h"
#include "experiments/export/parts.h"

namespace saccade {
namespace {

// Reads the canvas directly, one part per step.
class ExportedWhole final : public ExportedLook {
 public:
  explicit ExportedWhole(const Task& task) : task_(task), reading_(*task.model.look().reading) {}

  ExportedObservation inputs(Graph& graph) const override {
    ExportedObservation spec;
    spec.feature = graph.input("part", {"batch", task_.model.look().feature_size},
                               "the step's part of the shrunk canvas, (channel, row, col)");
    return spec;
  }

  Value feature(Graph& graph, const ExportedObservation& spec) const override {
    return export_scaled(graph, task_, spec.feature,
                         std::int64_t{reading_.part[0]} * reading_.part[1],
                         {-1, task_.model.look().feature_size});
  }

  ExportedChoice next(Graph&, const Value&, const ExportedObservation&,
                      const Value&) const override {
    return {};
  }

  ExportedObservation begin(Graph& graph, const Value& canvas) const override {
    ExportedObservation spec;
    spec.canvas =
        export_shrunk(graph, canvas, task_.model.canvas(), reading_.size[0], reading_.size[1]);
    return spec;
  }

  ExportedChoice first(Graph&, const Value&, const ExportedObservation&) const override {
    return {};
  }

  ExportedObservation see(Graph& graph, const Value&, const ExportedChoice&,
                          const ExportedObservation& spec, int t) const override {
    ExportedObservation seen = spec;
    Value part = spec.canvas;
    for (const int axis : {0, 1}) {
      const int begin = reading_.corner(t)[axis];
      part = onnx_slice(graph, part, 2 + axis, begin, begin + reading_.part[axis]);
    }
    seen.feature = onnx_reshape(graph, part, {0, -1});
    return seen;
  }

 private:
  const Task& task_;
  CanvasReading reading_;
};

}  // namespace

std::unique_ptr<const ExportedLook> export_whole(const Task& task, std::span<const float>) {
  return std::make_unique<ExportedWhole>(task);
}

}  // namespace saccade
