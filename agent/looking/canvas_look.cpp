#include "agent/looking/canvas_network.h"
#include "agent/looking/look_base.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// The whole canvas in one step, for the baselines that do not look about.
class CanvasLook final : public LookBase {
 public:
  CanvasLook(const Model& model, Environment& environment, CoreMemory& core)
      : LookBase(model, environment, core, 0, false),
        memory_(model.canvas_network->make_memory(episodes())),
        canvases_(zeros<2>(episodes(), model.canvas().pixels())),
        dcanvases_(canvases_) {}

  void begin(std::span<const float>) override { environment_.view(matrix(canvases_)); }
  void decide(const Turn&) override {}
  void read(int t, std::span<const float> parameters) override {
    model_.canvas_network->forward(core_.glimpse_feature(t), *memory_, matrix(canvases_),
                                   parameters);
  }

  LookLoss loss_backward(std::span<float>, const Credit&, std::span<const float>) override {
    return {};
  }
  bool differentiable() const override { return false; }
  void step_backward(int, Matrix, std::span<const float>) override {}
  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float> parameters) override {
    model_.canvas_network->backward(gradient, *memory_, dfeatures, core_.all_glimpse_features(),
                                    matrix(canvases_), parameters);
  }

  void input_backward(Matrix dcanvases, Tensor<3>&, ConstMatrix,
                      std::span<const float> parameters) override {
    model_.canvas_network->input_backward(matrix(dcanvases_), *memory_, parameters);
    add(dcanvases, matrix(dcanvases_));
  }

  float entropy(int, int, const RolloutRequest&) const override { return 0.0F; }
  // Nowhere in particular.
  Gaze gaze(int, int) override { return {}; }
  void picture(int, int, float*) const override {}

 private:
  std::unique_ptr<CanvasMemory> memory_;
  Tensor<2> canvases_, dcanvases_;  // (B, channels rows cols)
};

}  // namespace

std::unique_ptr<Look> make_canvas_look(const Model& model, Environment& environment,
                                       CoreMemory& core) {
  return std::make_unique<CanvasLook>(model, environment, core);
}

}  // namespace saccade
