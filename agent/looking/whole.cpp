#include <algorithm>
#include <vector>

#include "agent/looking/look_base.h"
#include "agent/looking/looking_parts.h"
#include "env/area_resize.h"

namespace saccade {
namespace {

// No glimpses: the canvas, shrunk, is what the core reads, a row a step or all at once.
class WholeLook final : public LookBase {
 public:
  WholeLook(std::array<int, 2> size, CanvasSize canvas, Environment& environment, CoreMemory& core)
      : LookBase(0, 0, environment, core),
        size_(size),
        channels_(canvas.channels),
        resize_(canvas.channels, canvas.rows, canvas.cols, size[0], size[1]),
        canvases_(zeros<2>(episodes(), canvas.pixels())),
        small_(zeros<2>(episodes(), canvas.channels * size[0] * size[1])),
        dsmall_(small_.shape()[1]),
        dcanvas_(canvases_.shape()[1]) {}

  void begin(std::span<const float>) override {
    environment_.view(matrix(canvases_));
    for (int b = 0; b < episodes(); ++b) resize_.forward(row(small_, b), row(canvases_, b));
  }

  void read(int t, std::span<const float>) override {
    const Matrix feature = core_.glimpse_feature(t);
    for (int b = 0; b < episodes(); ++b)
      for (int c = 0; c < channels_; ++c)
        std::copy_n(&small_(b, first(c, t)), part(), feature.row(b) + c * part());
  }

  void finish_backward(std::span<float>, Matrix, std::span<const float>) override {}

  void input_backward(Matrix dcanvases, Tensor<3>&, ConstMatrix dfeatures,
                      std::span<const float>) override {
    for (int b = 0; b < episodes(); ++b) {
      for (int t = 0; t < steps(); ++t)
        for (int c = 0; c < channels_; ++c)
          std::copy_n(dfeatures.row(t * episodes() + b) + c * part(), part(),
                      &dsmall_[first(c, t)]);
      resize_.backward(dcanvas_, dsmall_);
      for (int i = 0; i < dcanvases.cols; ++i) dcanvases(b, i) += dcanvas_[i];
    }
  }

 private:
  // Numbers of a channel that are read at a step, and where those of step t begin.
  int part() const { return steps() == 1 ? size_[0] * size_[1] : size_[1]; }
  int first(int channel, int t) const { return channel * size_[0] * size_[1] + t * part(); }

  static std::span<float> row(Tensor<2>& tensor, int b) {
    const std::size_t width = tensor.shape()[1];
    return {&tensor(b, 0), width};
  }

  std::array<int, 2> size_;
  int channels_;
  AreaResize resize_;
  Tensor<2> canvases_;  // (B, channels rows cols)
  Tensor<2> small_;     // (B, channels size)
  // Of one episode:
  std::vector<float> dsmall_;   // (channels size)
  std::vector<float> dcanvas_;  // (channels rows cols)
};

class WholeLooking final : public Looking {
 public:
  WholeLooking(const AgentConfig& config, const Sight& sight, ParameterLayout&)
      : Looking(config.glimpse), canvas_(sight.canvas) {
    const int rows = config_.size[0] > 0 ? config_.size[0] : canvas_.rows;
    const int cols = config_.size[1] > 0 ? config_.size[1] : canvas_.cols;
    const bool by_rows = config_.order == "rows";
    const CanvasReading reading = {.size = {rows, cols}, .part = {by_rows ? 1 : rows, cols}};
    const int steps = rows / reading.part[0];
    traits_ = {.steps = steps,
               .feature_size = canvas_.channels * reading.part[0] * cols,
               .looks = false,
               .samples = false,
               .first_action = steps,
               .reading = reading,
               .canvas_pixels = static_cast<double>(canvas_.rows) * canvas_.cols};
  }

  std::unique_ptr<Look> make_look(Environment& environment, CoreMemory& core) const override {
    return std::make_unique<WholeLook>(traits_.reading->size, canvas_, environment, core);
  }

  Work work() const override { return {}; }  // the canvas as it is

 private:
  CanvasSize canvas_;
};

}  // namespace

GlimpseKind whole_looking() { return {.make = make<WholeLooking>}; }

}  // namespace saccade
