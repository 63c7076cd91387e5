#include "agent/looking/canvas_network.h"
#include "agent/looking/look_base.h"
#include "agent/looking/looking.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// Sees the whole canvas in one step, for the baselines without glimpses.
class CanvasLook final : public LookBase {
 public:
  CanvasLook(const CanvasNetwork& network, const ObservationSpec& spec, Environment& environment,
             CoreMemory& core)
      : LookBase(0, 0, environment, core),
        network_(network),
        pixels_(spec.pixels),
        plane_(spec.canvas.rows * spec.canvas.cols),
        memory_(network.make_memory(episodes())),
        canvases_(zeros<2>(episodes(), spec.canvas.pixels())),
        dcanvases_(canvases_) {}

  void begin(std::span<const float>) override {
    environment_.view(matrix(canvases_));
    pixels_.forward(matrix(canvases_), plane_);
  }

  void read(int t, std::span<const float> parameters) override {
    network_.forward(core_.glimpse_feature(t), *memory_, matrix(canvases_), parameters);
  }

  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float> parameters) override {
    network_.backward(gradient, *memory_, dfeatures, core_.all_glimpse_features(),
                      matrix(canvases_), parameters);
  }

  void input_backward(Matrix dcanvases, Tensor<3>&, ConstMatrix,
                      std::span<const float> parameters) override {
    network_.input_backward(matrix(dcanvases_), *memory_, parameters);
    pixels_.backward(matrix(dcanvases_), plane_);
    add(dcanvases, matrix(dcanvases_));
  }

 private:
  const CanvasNetwork& network_;
  PixelScale pixels_;
  int plane_;
  std::unique_ptr<CanvasMemory> memory_;
  Tensor<2> canvases_, dcanvases_;  // (B, channels rows cols), scaled
};

class CanvasLooking final : public Looking {
 public:
  CanvasLooking(const AgentConfig& config, const ObservationSpec& spec, ParameterLayout& layout)
      : Looking(config.glimpse),
        spec_(spec),
        network_(make_canvas_network(config.model.kind,
                                     {.channels = spec.canvas.channels,
                                      .rows = spec.canvas.rows,
                                      .cols = spec.canvas.cols,
                                      .hidden = config.model.canvas_hidden,
                                      .conv_channels = config.model.channels,
                                      .kernel_size = config.model.kernel_size,
                                      .features = config.model.feature_size},
                                     layout)) {
    traits_ = {.steps = 1,
               .feature_size = config.model.feature_size,
               .recurrent = false,
               .looks = false,
               .samples = false,
               .first_action = 1,
               .canvas_pixels = static_cast<double>(spec.canvas.rows) * spec.canvas.cols};
  }

  std::unique_ptr<Look> make_look(Environment& environment, CoreMemory& core) const override {
    return std::make_unique<CanvasLook>(*network_, spec_, environment, core);
  }

  Work work() const override { return network_->work(); }

 private:
  ObservationSpec spec_;
  std::unique_ptr<const CanvasNetwork> network_;
};

}  // namespace

std::unique_ptr<const Looking> make_canvas_looking(const AgentConfig& config,
                                                   const ObservationSpec& spec,
                                                   ParameterLayout& layout) {
  return std::make_unique<CanvasLooking>(config, spec, layout);
}

}  // namespace saccade
