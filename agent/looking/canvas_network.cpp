#include "agent/looking/canvas_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/name_table.h"
#include "nn/convolution.h"
#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

constexpr int kStride = 2;

struct MlpMemory final : public CanvasMemory {
  MlpMemory(int episodes, int width)
      : hidden(zeros<2>(episodes, width)), dhidden(zeros<2>(episodes, width)) {}

  Tensor<2> hidden, dhidden;  // (B, hidden)
};

class Mlp final : public CanvasNetwork {
 public:
  Mlp(const CanvasSizes& sizes, ParameterLayout& layout) : sizes_(sizes), layout_(layout) {
    const int inputs = sizes.canvas_size(), hidden = sizes.hidden, features = sizes.features;
    hidden_weight_ = layout.add("canvas.hidden.weight", inputs, hidden, he_normal(inputs));
    hidden_bias_ = layout.add("canvas.hidden.bias", 1, hidden, constant(0));
    feature_weight_ = layout.add("canvas.feature.weight", hidden, features, he_normal(hidden));
    feature_bias_ = layout.add("canvas.feature.bias", 1, features, constant(0));
  }

  std::unique_ptr<CanvasMemory> make_memory(int episodes) const override {
    return std::make_unique<MlpMemory>(episodes, sizes_.hidden);
  }

  void forward(Matrix feature, CanvasMemory& memory, ConstMatrix canvases,
               std::span<const float> parameters) const override {
    const auto p = [&](int index) { return layout_.view(parameters, index); };
    auto& m = static_cast<MlpMemory&>(memory);
    linear_relu_forward(matrix(m.hidden), canvases, p(hidden_weight_), p(hidden_bias_));
    linear_relu_forward(feature, matrix(m.hidden), p(feature_weight_), p(feature_bias_));
  }

  void backward(std::span<float> gradient, CanvasMemory& memory, Matrix dfeature,
                ConstMatrix feature, ConstMatrix canvases,
                std::span<const float> parameters) const override {
    const auto d = [&](int index) { return layout_.view(gradient, index); };
    auto& m = static_cast<MlpMemory&>(memory);
    relu_backward(dfeature, feature);
    linear_backward(d(feature_weight_), d(feature_bias_), dfeature, matrix(m.hidden));
    multiply_transposed_b(matrix(m.dhidden), dfeature, layout_.view(parameters, feature_weight_));
    relu_backward(matrix(m.dhidden), matrix(m.hidden));
    linear_backward(d(hidden_weight_), d(hidden_bias_), matrix(m.dhidden), canvases);
  }

  void input_backward(Matrix dcanvases, CanvasMemory& memory,
                      std::span<const float> parameters) const override {
    multiply_transposed_b(dcanvases, matrix(static_cast<MlpMemory&>(memory).dhidden),
                          layout_.view(parameters, hidden_weight_));
  }

  Work work() const override {
    return linear_work(sizes_.canvas_size(), sizes_.hidden, Input::constant) +
           linear_work(sizes_.hidden, sizes_.features);
  }

 private:
  CanvasSizes sizes_;
  const ParameterLayout& layout_;
  int hidden_weight_, hidden_bias_, feature_weight_, feature_bias_;
};

struct CnnMemory final : public CanvasMemory {
  CnnMemory(int episodes, const Convolution::Sizes& first, const Convolution::Sizes& second)
      : conv1(first),
        conv2(second),
        image(zeros<2>(episodes, first.input_size())),
        dimage(image),
        y1(zeros<2>(episodes, first.output_size())),
        dy1(y1),
        y2(zeros<2>(episodes, second.output_size())),
        dy2(y2) {}

  Convolution conv1, conv2;
  Tensor<2> image, dimage;  // (B, rows cols channels)
  Tensor<2> y1, dy1;        // (B, rows cols channels) after the first layer,
  Tensor<2> y2, dy2;        //   and after the second
};

class Cnn final : public CanvasNetwork {
 public:
  Cnn(const CanvasSizes& sizes, ParameterLayout& layout)
      : conv1_(convolution(1, sizes.rows, sizes.cols, sizes.channels, sizes)),
        conv2_(convolution(2, conv1_.output_rows(), conv1_.output_cols(), conv1_.filters, sizes)),
        features_(sizes.features),
        layout_(layout) {
    const auto add_convolution = [&](const char* name, const Convolution::Sizes& conv) {
      return layout.add(name, conv.patch_size(), conv.filters, he_normal(conv.patch_size()));
    };
    const int inputs = conv2_.output_size();
    conv1_weight_ = add_convolution("canvas.conv1.weight", conv1_);
    conv1_bias_ = layout.add("canvas.conv1.bias", 1, conv1_.filters, constant(0));
    conv2_weight_ = add_convolution("canvas.conv2.weight", conv2_);
    conv2_bias_ = layout.add("canvas.conv2.bias", 1, conv2_.filters, constant(0));
    feature_weight_ = layout.add("canvas.feature.weight", inputs, features_, he_normal(inputs));
    feature_bias_ = layout.add("canvas.feature.bias", 1, features_, constant(0));
  }

  std::unique_ptr<CanvasMemory> make_memory(int episodes) const override {
    return std::make_unique<CnnMemory>(episodes, conv1_, conv2_);
  }

  void forward(Matrix feature, CanvasMemory& memory, ConstMatrix canvases,
               std::span<const float> parameters) const override {
    const auto p = [&](int index) { return layout_.view(parameters, index); };
    auto& m = static_cast<CnnMemory&>(memory);
    put_channels_last(matrix(m.image), canvases, conv1_.channels);
    m.conv1.relu_forward(matrix(m.y1), matrix(m.image), p(conv1_weight_), p(conv1_bias_));
    m.conv2.relu_forward(matrix(m.y2), matrix(m.y1), p(conv2_weight_), p(conv2_bias_));
    linear_relu_forward(feature, matrix(m.y2), p(feature_weight_), p(feature_bias_));
  }

  void backward(std::span<float> gradient, CanvasMemory& memory, Matrix dfeature,
                ConstMatrix feature, ConstMatrix /*canvases*/,
                std::span<const float> parameters) const override {
    const auto d = [&](int index) { return layout_.view(gradient, index); };
    auto& m = static_cast<CnnMemory&>(memory);
    relu_backward(dfeature, feature);
    linear_backward(d(feature_weight_), d(feature_bias_), dfeature, matrix(m.y2));
    multiply_transposed_b(matrix(m.dy2), dfeature, layout_.view(parameters, feature_weight_));
    relu_backward(matrix(m.dy2), matrix(m.y2));
    m.conv2.backward(d(conv2_weight_), d(conv2_bias_), matrix(m.dy2), matrix(m.y1));
    m.conv2.input_backward(matrix(m.dy1), matrix(m.dy2), layout_.view(parameters, conv2_weight_));
    relu_backward(matrix(m.dy1), matrix(m.y1));
    m.conv1.backward(d(conv1_weight_), d(conv1_bias_), matrix(m.dy1), matrix(m.image));
  }

  void input_backward(Matrix dcanvases, CanvasMemory& memory,
                      std::span<const float> parameters) const override {
    auto& m = static_cast<CnnMemory&>(memory);
    const Matrix dimage = matrix(m.dimage);
    m.conv1.input_backward(dimage, matrix(m.dy1), layout_.view(parameters, conv1_weight_));
    put_channels_first(dcanvases, dimage, conv1_.channels);
  }

  Work work() const override {
    return linear_work(conv1_.patch_size(), conv1_.filters, Input::constant) * conv1_.positions() +
           linear_work(conv2_.patch_size(), conv2_.filters) * conv2_.positions() +
           linear_work(conv2_.output_size(), features_);
  }

 private:
  // Sizes of layer 1 or 2 for images of rows x cols.
  static Convolution::Sizes convolution(int layer, int rows, int cols, int channels,
                                        const CanvasSizes& sizes) {
    const auto [first, second] = sizes.conv_channels;
    if (first < 1 || second < 1)
      throw SettingError(
          {"model.channels"},
          fmt::format("model.channels: [{}, {}]; allowed: 1 and more", first, second));
    const int shorter = std::min(rows, cols);
    if (sizes.kernel_size < 1 || sizes.kernel_size > shorter)
      throw SettingError({"model.kernel_size"},
                         fmt::format("model.kernel_size: {} pixels, where layer {} sees {} x {}; "
                                     "allowed: 1 to the shorter side ({})",
                                     sizes.kernel_size, layer, rows, cols, shorter));
    return {.rows = rows,
            .cols = cols,
            .channels = channels,
            .filters = sizes.conv_channels[layer - 1],
            .kernel_size = sizes.kernel_size,
            .stride = kStride,
            .padding = sizes.kernel_size / 2};
  }

  Convolution::Sizes conv1_, conv2_;
  int features_;
  const ParameterLayout& layout_;
  int conv1_weight_, conv1_bias_, conv2_weight_, conv2_bias_, feature_weight_, feature_bias_;
};

template <class Network>
std::unique_ptr<CanvasNetwork> make(const CanvasSizes& sizes, ParameterLayout& layout) {
  return std::make_unique<Network>(sizes, layout);
}

using NetworkMaker = std::unique_ptr<CanvasNetwork> (*)(const CanvasSizes& sizes,
                                                        ParameterLayout& layout);

const NameTable<NetworkMaker>& network_makers() {
  static const NameTable<NetworkMaker> table{"model.kind",
                                             {{"mlp", make<Mlp>}, {"cnn", make<Cnn>}}};
  return table;
}

}  // namespace

std::unique_ptr<CanvasNetwork> make_canvas_network(const std::string& kind,
                                                   const CanvasSizes& sizes,
                                                   ParameterLayout& layout) {
  return network_makers().at(kind)(sizes, layout);
}

std::vector<std::string> canvas_network_kinds() { return network_makers().names(); }

}  // namespace saccade
