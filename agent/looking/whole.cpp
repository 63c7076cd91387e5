#include <algorithm>
#include <vector>

#include "agent/looking/look_base.h"
#include "agent/looking/looking_parts.h"
#include "env/area_resize.h"

namespace saccade {
namespace {

// No glimpses: the core reads the shrunk canvas, one row per step or all at once.
class WholeLook final : public LookBase {
 public:
  WholeLook(std::array<int, 2> size, const ObservationSpec& spec, Environment& environment,
            CoreMemory& core)
      : LookBase(0, 0, environment, core),
        size_(size),
        channels_(spec.canvas.channels),
        pixels_(spec.pixels),
        resize_(channels_, spec.canvas.rows, spec.canvas.cols, size[0], size[1]),
        canvases_(zeros<2>(episodes(), spec.canvas.pixels())),
        small_(zeros<2>(episodes(), channels_ * plane())),
        dsmall_(zeros<2>(1, channels_ * plane())),
        dcanvas_(canvases_.shape()[1]) {}

  void begin(std::span<const float>) override {
    environment_.view(matrix(canvases_));
    for (int b = 0; b < episodes(); ++b) resize_.forward(row(small_, b), row(canvases_, b));
    pixels_.forward(matrix(small_), plane());
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
                      &dsmall_(0, first(c, t)));
      pixels_.backward(matrix(dsmall_), plane());
      resize_.backward(dcanvas_, row(dsmall_, 0));
      for (int i = 0; i < dcanvases.cols; ++i) dcanvases(b, i) += dcanvas_[i];
    }
  }

 private:
  // Numbers per channel in the whole canvas and in one step's part.
  int plane() const { return size_[0] * size_[1]; }
  int part() const { return steps() == 1 ? plane() : size_[1]; }
  int first(int channel, int t) const { return channel * plane() + t * part(); }

  static std::span<float> row(Tensor<2>& tensor, int b) {
    const std::size_t width = tensor.shape()[1];
    return {&tensor(b, 0), width};
  }

  std::array<int, 2> size_;
  int channels_;
  PixelScale pixels_;
  AreaResize resize_;
  Tensor<2> canvases_;  // (B, channels rows cols)
  Tensor<2> small_;     // (B, channels size), scaled
  // For one episode:
  Tensor<2> dsmall_;            // (1, channels size)
  std::vector<float> dcanvas_;  // (channels rows cols)
};

class WholeLooking final : public Looking {
 public:
  WholeLooking(const AgentConfig& config, const ObservationSpec& spec, ParameterLayout&)
      : Looking(config.glimpse), spec_(spec) {
    const int rows = config_.size[0] > 0 ? config_.size[0] : spec.canvas.rows;
    const int cols = config_.size[1] > 0 ? config_.size[1] : spec.canvas.cols;
    const bool by_rows = config_.order == "rows";
    const CanvasReading reading = {.size = {rows, cols}, .part = {by_rows ? 1 : rows, cols}};
    const int steps = rows / reading.part[0];
    traits_ = {.steps = steps,
               .feature_size = spec.canvas.channels * reading.part[0] * cols,
               .looks = false,
               .samples = false,
               .first_action = steps,
               .reading = reading,
               .canvas_pixels = static_cast<double>(spec.canvas.rows) * spec.canvas.cols};
  }

  std::unique_ptr<Look> make_look(Environment& environment, CoreMemory& core) const override {
    return std::make_unique<WholeLook>(traits_.reading->size, spec_, environment, core);
  }

  Work work() const override { return {}; }  // the canvas is read directly

 private:
  ObservationSpec spec_;
};

}  // namespace

GlimpseKind whole_looking() { return {.has_order = true, .make = make<WholeLooking>}; }

}  // namespace saccade
