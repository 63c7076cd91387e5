#include "agent/looking/glimpse_filters.h"

#include <fmt/format.h>

#include "base/error.h"

namespace saccade {

GlimpseFilters::GlimpseFilters(const GlimpseShape& shape, const Sizes& sizes,
                               ParameterLayout& layout)
    : layout_(&layout),
      shape_(shape),
      convolution_{.rows = shape.side,
                   .cols = shape.side,
                   .channels = shape.channels,
                   .filters = sizes.filters,
                   .kernel_size = sizes.kernel_size,
                   .stride = sizes.stride,
                   .padding = 0} {
  if (sizes.kernel_size > shape.side)
    throw SettingError(
        {"model.glimpse_kernel"},
        fmt::format("model.glimpse_kernel: {} is larger than a glimpse; allowed: 1 to {} pixels",
                    sizes.kernel_size, shape.side));
  const int patch = convolution_.patch_size();
  weight_ = layout.add("glimpse.filters.weight", patch, sizes.filters, he_normal(patch));
  bias_ = layout.add("glimpse.filters.bias", 1, sizes.filters, constant(0));
}

GlimpseFilters::Memory GlimpseFilters::make_memory(int glimpses, int backward_glimpses) const {
  const auto images = [this](int count) {
    return shape_.channels > 1 ? zeros<2>(count * shape_.scales(), shape_.scale_size())
                               : zeros<2>(0, 0);
  };
  return {Convolution(convolution_), images(glimpses), images(backward_glimpses),
          zeros<2>(glimpses, size()), zeros<2>(backward_glimpses, size())};
}

template <class AnyMatrix>
AnyMatrix GlimpseFilters::scales(AnyMatrix m, int first, int glimpses) const {
  SACCADE_CHECK(m.stride == m.cols && first + glimpses <= m.rows);
  const int width = m.cols / shape_.scales();
  return {m.row(first), glimpses * shape_.scales(), width, width};
}

void GlimpseFilters::forward(Memory& memory, int first, ConstMatrix glimpses,
                             std::span<const float> parameters) const {
  ConstMatrix images = scales(glimpses, 0, glimpses.rows);
  if (shape_.channels > 1) {
    const Matrix last =
        matrix(memory.images).row_range(first * shape_.scales(), glimpses.rows * shape_.scales());
    put_channels_last(last, images, shape_.channels);
    images = last;
  }
  memory.convolution.relu_forward(scales(matrix(memory.y), first, glimpses.rows), images,
                                  layout_->view(parameters, weight_),
                                  layout_->view(parameters, bias_));
}

void GlimpseFilters::glimpse_backward(Matrix dglimpses, Memory& memory, Matrix dy,
                                      std::span<const float> parameters) const {
  const Matrix dimages = scales(dglimpses, 0, dglimpses.rows);
  const Matrix last =
      shape_.channels > 1 ? matrix(memory.dimages).row_range(0, dimages.rows) : dimages;
  memory.convolution.input_backward(last, scales(dy, 0, dy.rows),
                                    layout_->view(parameters, weight_));
  if (shape_.channels > 1) put_channels_first(dimages, last, shape_.channels);
}

void GlimpseFilters::weight_backward(std::span<float> gradient, Memory& memory, Matrix dy,
                                     int first, ConstMatrix glimpses, float beta) const {
  const ConstMatrix images =
      shape_.channels > 1 ? matrix(std::as_const(memory.images))
                                .row_range(first * shape_.scales(), dy.rows * shape_.scales())
                          : scales(glimpses, 0, glimpses.rows);
  memory.convolution.backward(layout_->view(gradient, weight_), layout_->view(gradient, bias_),
                              scales(dy, 0, dy.rows), images, beta);
}

Work GlimpseFilters::work(Input glimpse) const {
  return linear_work(convolution_.patch_size(), convolution_.filters, glimpse) *
         (std::int64_t{shape_.scales()} * convolution_.positions());
}

}  // namespace saccade
