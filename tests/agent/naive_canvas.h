#pragma once

#include "agent/looking/canvas_network.h"
#include "base/name_table.h"
#include "tests/agent/naive.h"

namespace saccade::naive {

// The networks that read a whole canvas (channels, rows, cols) at once.

/// (channels, rows, cols)
struct Image {
  int channels = 0, rows = 0, cols = 0;
  Row pixels;

  double operator()(int c, int row, int col) const {
    if (row < 0 || row >= rows || col < 0 || col >= cols) return 0.0;
    return pixels[(c * rows + row) * cols + col];
  }
};

inline Image convolve(const Image& x, const Weight& w, const Weight& b, int kernel) {
  const int padding = kernel / 2;
  const auto output = [&](int side) { return (side + 2 * padding - kernel) / 2 + 1; };
  Image y{w.cols, output(x.rows), output(x.cols), {}};
  for (int filter = 0; filter < y.channels; ++filter)
    for (int row = 0; row < y.rows; ++row)
      for (int col = 0; col < y.cols; ++col) {
        double z = b(0, filter);
        for (int i = 0; i < kernel; ++i)
          for (int j = 0; j < kernel; ++j)
            for (int c = 0; c < x.channels; ++c)
              z += x(c, 2 * row + i - padding, 2 * col + j - padding) *
                   w((i * kernel + j) * x.channels + c, filter);
        y.pixels.push_back(z);
      }
  y.pixels = relu(y.pixels);
  return y;
}

inline Row mlp(const Parameters& p, const Image& canvas, const CanvasSizes&) {
  const Row hidden =
      relu(affine(canvas.pixels, p.at("canvas.hidden.weight"), p.at("canvas.hidden.bias")));
  return relu(affine(hidden, p.at("canvas.feature.weight"), p.at("canvas.feature.bias")));
}

inline Row cnn(const Parameters& p, const Image& canvas, const CanvasSizes& sizes) {
  const int kernel = sizes.kernel_size;
  const Image y1 = convolve(canvas, p.at("canvas.conv1.weight"), p.at("canvas.conv1.bias"), kernel);
  const Image y2 = convolve(y1, p.at("canvas.conv2.weight"), p.at("canvas.conv2.bias"), kernel);
  Row inputs;  // (row, col, channel)
  for (int row = 0; row < y2.rows; ++row)
    for (int col = 0; col < y2.cols; ++col)
      for (int c = 0; c < y2.channels; ++c) inputs.push_back(y2(c, row, col));
  return relu(affine(inputs, p.at("canvas.feature.weight"), p.at("canvas.feature.bias")));
}

using CanvasNetwork = Row (*)(const Parameters& p, const Image& canvas, const CanvasSizes& sizes);

inline const NameTable<CanvasNetwork>& canvas_networks() {
  static const NameTable<CanvasNetwork> table{"naive network", {{"mlp", mlp}, {"cnn", cnn}}};
  return table;
}

}  // namespace saccade::naive
