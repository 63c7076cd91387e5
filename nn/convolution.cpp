#include "nn/convolution.h"

#include <algorithm>

#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// Calls body(numbers of a padded image, numbers of a patch, count) for each row of each patch:
// there, `count` numbers lie side by side in both.
template <class Body>
void for_patch_rows(const Convolution::Sizes& sizes, float* padded, float* patches, Body body) {
  const int count = sizes.kernel_size * sizes.channels;
  const std::ptrdiff_t row_size =
      static_cast<std::ptrdiff_t>(sizes.cols + 2 * sizes.padding) * sizes.channels;
  for (int row = 0; row < sizes.output_rows(); ++row)
    for (int col = 0; col < sizes.output_cols(); ++col) {
      float* corner = padded + sizes.stride * (row * row_size + col * sizes.channels);
      for (int k = 0; k < sizes.kernel_size; ++k, patches += count)
        body(corner + k * row_size, patches, count);
    }
}

// Calls body(numbers of a padded image, numbers of an image, count) for each row of the image.
template <class Body>
void for_image_rows(const Convolution::Sizes& sizes, float* padded, Body body) {
  const int count = sizes.cols * sizes.channels;
  const int margin = sizes.padding * sizes.channels;
  for (int row = 0; row < sizes.rows; ++row)
    body(padded + static_cast<std::ptrdiff_t>(row + sizes.padding) * (count + 2 * margin) + margin,
         static_cast<std::ptrdiff_t>(row) * count, count);
}

}  // namespace

Convolution::Convolution(const Sizes& sizes)
    : sizes_(sizes),
      padded_(
          zeros<3>(sizes.rows + 2 * sizes.padding, sizes.cols + 2 * sizes.padding, sizes.channels)),
      dpadded_(padded_),
      patches_(zeros<2>(sizes.positions(), sizes.patch_size())) {
  SACCADE_CHECK(sizes.stride >= 1 && sizes.padding >= 0);
  SACCADE_CHECK(sizes.kernel_size <= std::min(sizes.rows, sizes.cols) + 2 * sizes.padding);
}

void Convolution::gather(const float* x) {
  for_image_rows(sizes_, padded_.data(), [x](float* padded, std::ptrdiff_t from, int count) {
    std::copy_n(x + from, count, padded);
  });
  for_patch_rows(sizes_, padded_.data(), patches_.data(),
                 [](const float* __restrict padded, float* __restrict patch, int count) {
                   for (int i = 0; i < count; ++i) patch[i] = padded[i];
                 });
}

void Convolution::scatter(float* dx) {
  dpadded_.fill(0.0F);
  for_patch_rows(sizes_, dpadded_.data(), patches_.data(),
                 [](float* __restrict padded, const float* __restrict patch, int count) {
                   for (int i = 0; i < count; ++i) padded[i] += patch[i];
                 });
  for_image_rows(sizes_, dpadded_.data(), [dx](const float* padded, std::ptrdiff_t to, int count) {
    std::copy_n(padded, count, dx + to);
  });
}

void Convolution::relu_forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b) {
  SACCADE_CHECK(y.rows == x.rows && y.cols == sizes_.output_size());
  SACCADE_CHECK(x.cols == sizes_.input_size());
  for (int image = 0; image < x.rows; ++image) {
    gather(x.row(image));
    linear_relu_forward({y.row(image), sizes_.positions(), sizes_.filters, sizes_.filters},
                        matrix(patches_), w, b);
  }
}

void Convolution::backward(Matrix dw, Matrix db, ConstMatrix dy, ConstMatrix x) {
  SACCADE_CHECK(dy.rows == x.rows && dy.cols == sizes_.output_size());
  SACCADE_CHECK(x.cols == sizes_.input_size());
  for (int image = 0; image < x.rows; ++image) {
    gather(x.row(image));
    const ConstMatrix dz{dy.row(image), sizes_.positions(), sizes_.filters, sizes_.filters};
    linear_backward(dw, db, dz, matrix(patches_), image == 0 ? 0.0F : 1.0F);
  }
}

void Convolution::input_backward(Matrix dx, ConstMatrix dy, ConstMatrix w) {
  SACCADE_CHECK(dx.rows == dy.rows && dy.cols == sizes_.output_size());
  SACCADE_CHECK(dx.cols == sizes_.input_size());
  for (int image = 0; image < dx.rows; ++image) {
    multiply_transposed_b(matrix(patches_),
                          {dy.row(image), sizes_.positions(), sizes_.filters, sizes_.filters}, w);
    scatter(dx.row(image));
  }
}

}  // namespace saccade
