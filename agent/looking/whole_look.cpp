#include <vector>

#include "agent/looking/look_base.h"
#include "env/area_resize.h"

namespace saccade {
namespace {

// No glimpses: the canvas, shrunk, is what the core reads, a row a step or all at once.
class WholeLook final : public LookBase {
 public:
  WholeLook(const Model& model, Environment& environment, CoreMemory& core)
      : LookBase(model, environment, core, 0, false),
        size_(model.whole_size()),
        resize_(model.canvas().channels, model.canvas().rows, model.canvas().cols, size_[0],
                size_[1]),
        canvases_(zeros<2>(episodes(), model.canvas().pixels())),
        small_(zeros<2>(episodes(), model.canvas().channels * size_[0] * size_[1])),
        dsmall_(small_.shape()[1]),
        dcanvas_(canvases_.shape()[1]) {}

  void begin(std::span<const float>) override {
    environment_.view(matrix(canvases_));
    for (int b = 0; b < episodes(); ++b) resize_.forward(row(small_, b), row(canvases_, b));
  }
  void decide(const Turn&) override {}

  void read(int t, std::span<const float>) override {
    const Matrix feature = core_.glimpse_feature(t);
    const auto [rows, cols] = size_;
    const int part = steps() == 1 ? rows * cols : cols;  // of a channel
    for (int b = 0; b < episodes(); ++b)
      for (int c = 0; c < model_.canvas().channels; ++c)
        std::copy_n(&small_(b, (c * rows * cols) + t * part), part, feature.row(b) + c * part);
  }

  LookLoss loss_backward(std::span<float>, const Credit&, std::span<const float>) override {
    return {};
  }
  bool differentiable() const override { return false; }
  void step_backward(int, Matrix, std::span<const float>) override {}
  void finish_backward(std::span<float>, Matrix, std::span<const float>) override {}

  void input_backward(Matrix dcanvases, Tensor<3>&, ConstMatrix dfeatures,
                      std::span<const float>) override {
    const auto [rows, cols] = size_;
    const int part = steps() == 1 ? rows * cols : cols;  // of a channel
    for (int b = 0; b < episodes(); ++b) {
      for (int t = 0; t < steps(); ++t)
        for (int c = 0; c < model_.canvas().channels; ++c)
          std::copy_n(dfeatures.row(t * episodes() + b) + c * part, part,
                      &dsmall_[(c * rows * cols) + t * part]);
      resize_.backward(dcanvas_, dsmall_);
      for (int i = 0; i < dcanvases.cols; ++i) dcanvases(b, i) += dcanvas_[i];
    }
  }

  float entropy(int, int, const RolloutRequest&) const override { return 0.0F; }
  // Nowhere in particular.
  Gaze gaze(int, int) override { return {}; }
  void picture(int, int, float*) const override {}

 private:
  static std::span<float> row(Tensor<2>& tensor, int b) {
    const std::size_t width = tensor.shape()[1];
    return {&tensor(b, 0), width};
  }

  std::array<int, 2> size_;
  AreaResize resize_;
  Tensor<2> canvases_;  // (B, channels rows cols)
  Tensor<2> small_;     // (B, channels size)
  // Of one episode:
  std::vector<float> dsmall_;   // (channels size)
  std::vector<float> dcanvas_;  // (channels rows cols)
};

}  // namespace

std::unique_ptr<Look> make_whole_look(const Model& model, Environment& environment,
                                      CoreMemory& core) {
  return std::make_unique<WholeLook>(model, environment, core);
}

}  // namespace saccade
