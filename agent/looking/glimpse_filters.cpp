#include "agent/looking/glimpse_filters.h"

#include <fmt/format.h>

#include "base/error.h"
#include "nn/convolution.h"
#include "nn/layers.h"

namespace saccade {
namespace {

struct ConvMemory final : public GlimpseFilters::Memory {
  ConvMemory(const Convolution::Sizes& sizes, int glimpses, int backward_glimpses, int size,
             int scales, int image_size)
      : Memory(glimpses, backward_glimpses, size), convolution(sizes) {
    if (sizes.channels == 1) return;
    images = zeros<2>(glimpses * scales, image_size);
    dimages = zeros<2>(backward_glimpses * scales, image_size);
  }

  Convolution convolution;
  Tensor<2> images, dimages;  // (R S, pixels), channels last; empty for one channel
};

class ConvFilters final : public GlimpseFilters {
 public:
  ConvFilters(const ModelConfig& model, const GlimpseShape& shape, ParameterLayout& layout)
      : layout_(layout),
        shape_(shape),
        convolution_{.rows = shape.side,
                     .cols = shape.side,
                     .channels = shape.channels,
                     .filters = model.glimpse_filters,
                     .kernel_size = model.glimpse_kernel,
                     .stride = model.glimpse_stride,
                     .padding = 0} {
    if (model.glimpse_kernel > shape.side)
      throw SettingError(
          {"model.glimpse_kernel"},
          fmt::format("model.glimpse_kernel: {} is larger than a glimpse; allowed: 1 to {} pixels",
                      model.glimpse_kernel, shape.side));
    const int patch = convolution_.patch_size();
    weight_ = layout.add("glimpse.filters.weight", patch, model.glimpse_filters, he_normal(patch));
    bias_ = layout.add("glimpse.filters.bias", 1, model.glimpse_filters, constant(0));
  }

  int size() const override { return shape_.scales() * convolution_.output_size(); }

  std::unique_ptr<Memory> make_memory(int glimpses, int backward_glimpses) const override {
    return std::make_unique<ConvMemory>(convolution_, glimpses, backward_glimpses, size(),
                                        shape_.scales(), shape_.scale_size());
  }

  void forward(Memory& memory, int first, ConstMatrix glimpses,
               std::span<const float> parameters) const override {
    auto& m = static_cast<ConvMemory&>(memory);
    ConstMatrix images = scales(glimpses);
    if (shape_.channels > 1) {
      const Matrix last = of_glimpses(matrix(m.images), first, glimpses.rows);
      put_channels_last(last, images, shape_.channels);
      images = last;
    }
    m.convolution.relu_forward(scales(matrix(m.y).row_range(first, glimpses.rows)), images,
                               layout_.view(parameters, weight_), layout_.view(parameters, bias_));
  }

  void backward(Memory& memory, int first, int count,
                std::span<const float> /*parameters*/) const override {
    relu_backward(Memory::gradients(memory.dy, first, count),
                  matrix(memory.y).row_range(first, count));
  }

  void glimpse_backward(Matrix dglimpses, Memory& memory, int first,
                        std::span<const float> parameters) const override {
    auto& m = static_cast<ConvMemory&>(memory);
    const Matrix dimages = scales(dglimpses);
    const Matrix last =
        shape_.channels > 1 ? matrix(m.dimages).row_range(0, dimages.rows) : dimages;
    m.convolution.input_backward(last, scales(Memory::gradients(m.dy, first, dglimpses.rows)),
                                 layout_.view(parameters, weight_));
    if (shape_.channels > 1) put_channels_first(dimages, last, shape_.channels);
  }

  void weight_backward(std::span<float> gradient, Memory& memory, int first, ConstMatrix glimpses,
                       float beta) const override {
    auto& m = static_cast<ConvMemory&>(memory);
    const ConstMatrix images =
        shape_.channels > 1 ? ConstMatrix(of_glimpses(matrix(m.images), first, glimpses.rows))
                            : scales(glimpses);
    m.convolution.backward(layout_.view(gradient, weight_), layout_.view(gradient, bias_),
                           scales(Memory::gradients(m.dy, first, glimpses.rows)), images, beta);
  }

  Work work(Input glimpse) const override {
    return linear_work(convolution_.patch_size(), convolution_.filters, glimpse) *
           (std::int64_t{shape_.scales()} * convolution_.positions());
  }

 private:
  // A (M, S width) matrix, with one row per scale.
  template <class AnyMatrix>
  AnyMatrix scales(AnyMatrix m) const {
    SACCADE_CHECK(m.stride == m.cols);
    const int width = m.cols / shape_.scales();
    return {m.data, m.rows * shape_.scales(), width, width};
  }
  // The rows of `count` glimpses in a matrix with one row per scale.
  Matrix of_glimpses(Matrix m, int first, int count) const {
    return m.row_range(first * shape_.scales(), count * shape_.scales());
  }

  const ParameterLayout& layout_;
  GlimpseShape shape_;
  Convolution::Sizes convolution_;
  int weight_, bias_;
};

}  // namespace

std::unique_ptr<GlimpseFilters> make_conv_filters(const ModelConfig& model,
                                                  const GlimpseShape& shape,
                                                  ParameterLayout& layout) {
  return std::make_unique<ConvFilters>(model, shape, layout);
}

}  // namespace saccade
