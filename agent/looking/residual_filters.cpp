#include <fmt/format.h>

#include <string>
#include <vector>

#include "agent/looking/glimpse_filters.h"
#include "nn/convolution.h"
#include "nn/layers.h"

namespace saccade {
namespace {

constexpr int kResidualKernel = 3;

// A convolution with a relu. The second of a block adds the block's input, which is the output of
// the layer before the last, to its own before the relu.
struct ResidualLayer {
  Convolution::Sizes sizes;
  bool ends_block;
  int weight, bias;
};

struct ResidualMemory final : public GlimpseFilters::Memory {
  ResidualMemory(const std::vector<ResidualLayer>& layers, int glimpses, int backward_glimpses)
      : Memory(glimpses, backward_glimpses, layers.back().sizes.output_size()),
        image(zeros<2>(glimpses, layers.front().sizes.input_size())),
        dimage(zeros<2>(backward_glimpses, layers.front().sizes.input_size())) {
    for (const ResidualLayer& layer : layers) convolutions.emplace_back(layer.sizes);
    for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
      const int size = layers[l].sizes.output_size();
      inner.push_back(zeros<2>(glimpses, size));
      dinner.push_back(zeros<2>(backward_glimpses, size));
    }
  }

  // The output of layer l, or the image for l = -1, and its gradient.
  Tensor<2>& output(int l) { return l < 0 ? image : l < inner_count() ? inner[l] : y; }
  Tensor<2>& doutput(int l) { return l < 0 ? dimage : l < inner_count() ? dinner[l] : dy; }
  int inner_count() const { return static_cast<int>(inner.size()); }

  std::vector<Convolution> convolutions;
  Tensor<2> image, dimage;               // (R, pixels), channels last, and (N, pixels)
  std::vector<Tensor<2>> inner, dinner;  // (R, output size) of each layer but the last, and (N, ..)
};

class ResidualFilters final : public GlimpseFilters {
 public:
  ResidualFilters(const ModelConfig& model, const GlimpseShape& shape, ParameterLayout& layout)
      : layout_(layout) {
    Convolution::Sizes sizes{.rows = shape.side,
                             .cols = shape.side,
                             .channels = shape.scales() * shape.channels,
                             .filters = model.glimpse_filters,
                             .kernel_size = kResidualKernel,
                             .stride = 1,
                             .padding = kResidualKernel / 2,
                             .share_products = true};
    for (int stage = 1; stage <= model.glimpse_stages; ++stage) {
      const std::string name = fmt::format("glimpse.filters.stage{}.", stage);
      add_layer(name + "enter", sizes, layout);
      sizes = same_size(sizes);
      for (int block = 1; block <= model.glimpse_blocks; ++block) {
        const std::string of_block = fmt::format("{}block{}.", name, block);
        add_layer(of_block + "first", sizes, layout);
        add_layer(of_block + "second", sizes, layout, true);
      }
      sizes.stride = 2;
      sizes.filters *= 2;
    }
  }

  int size() const override { return layers_.back().sizes.output_size(); }

  std::unique_ptr<Memory> make_memory(int glimpses, int backward_glimpses) const override {
    return std::make_unique<ResidualMemory>(layers_, glimpses, backward_glimpses);
  }

  void forward(Memory& memory, int first, ConstMatrix glimpses,
               std::span<const float> parameters) const override {
    auto& m = static_cast<ResidualMemory&>(memory);
    const auto output = [&](int l) { return matrix(m.output(l)).row_range(first, glimpses.rows); };
    put_channels_last(output(-1), glimpses, layers_[0].sizes.channels);
    for (int l = 0; l < count(); ++l) {
      const auto [sizes, ends_block, weight, bias] = layers_[l];
      const ConstMatrix w = layout_.view(parameters, weight), b = layout_.view(parameters, bias);
      if (ends_block) {
        m.convolutions[l].forward(output(l), output(l - 1), w, b);
        add_relu(output(l), output(l - 2));
      } else {
        m.convolutions[l].relu_forward(output(l), output(l - 1), w, b);
      }
    }
  }

  void backward(Memory& memory, int first, int rows,
                std::span<const float> parameters) const override {
    auto& m = static_cast<ResidualMemory&>(memory);
    const auto doutput = [&](int l) { return Memory::gradients(m.doutput(l), first, rows); };
    for (int l = count() - 1; l >= 0; --l) {
      if (l + 1 < count())
        m.convolutions[l + 1].input_backward(doutput(l), doutput(l + 1),
                                             layout_.view(parameters, layers_[l + 1].weight));
      if (l + 2 < count() && layers_[l + 2].ends_block) add(doutput(l), doutput(l + 2));
      relu_backward(doutput(l), matrix(m.output(l)).row_range(first, rows));
    }
  }

  void glimpse_backward(Matrix dglimpses, Memory& memory, int first,
                        std::span<const float> parameters) const override {
    auto& m = static_cast<ResidualMemory&>(memory);
    const Matrix dimages = Memory::gradients(m.dimage, first, dglimpses.rows);
    m.convolutions[0].input_backward(dimages,
                                     Memory::gradients(m.doutput(0), first, dglimpses.rows),
                                     layout_.view(parameters, layers_[0].weight));
    put_channels_first(dglimpses, dimages, layers_[0].sizes.channels);
  }

  void weight_backward(std::span<float> gradient, Memory& memory, int first, ConstMatrix glimpses,
                       float beta) const override {
    auto& m = static_cast<ResidualMemory&>(memory);
    for (int l = 0; l < count(); ++l)
      m.convolutions[l].backward(layout_.view(gradient, layers_[l].weight),
                                 layout_.view(gradient, layers_[l].bias),
                                 Memory::gradients(m.doutput(l), first, glimpses.rows),
                                 matrix(m.output(l - 1)).row_range(first, glimpses.rows), beta);
  }

  Work work(Input glimpse) const override {
    Work sum;
    for (int l = 0; l < count(); ++l) {
      const Convolution::Sizes& sizes = layers_[l].sizes;
      sum = sum + linear_work(sizes.patch_size(), sizes.filters,
                              l == 0 ? glimpse : Input::differentiated) *
                      sizes.positions();
    }
    return sum;
  }

 private:
  // Of a layer that reads the output of another.
  static Convolution::Sizes same_size(const Convolution::Sizes& sizes) {
    Convolution::Sizes next = sizes;
    next.rows = sizes.output_rows();
    next.cols = sizes.output_cols();
    next.channels = sizes.filters;
    next.stride = 1;
    return next;
  }

  void add_layer(const std::string& name, const Convolution::Sizes& sizes, ParameterLayout& layout,
                 bool ends_block = false) {
    const int patch = sizes.patch_size();
    layers_.push_back({.sizes = sizes,
                       .ends_block = ends_block,
                       .weight = layout.add(name + ".weight", patch, sizes.filters,
                                            ends_block ? constant(0) : he_normal(patch)),
                       .bias = layout.add(name + ".bias", 1, sizes.filters, constant(0))});
  }

  int count() const { return static_cast<int>(layers_.size()); }

  const ParameterLayout& layout_;
  std::vector<ResidualLayer> layers_;
};

}  // namespace

std::unique_ptr<GlimpseFilters> make_residual_filters(const ModelConfig& model,
                                                      const GlimpseShape& shape,
                                                      ParameterLayout& layout) {
  return std::make_unique<ResidualFilters>(model, shape, layout);
}

}  // namespace saccade
