#include "nn/convolution.h"

#include <algorithm>

#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// The patches that share a product: enough to keep it busy, few enough to stay in the cache.
constexpr int kPatchNumbers = 1 << 15;

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
      group_(std::max(1, kPatchNumbers / (sizes.positions() * sizes.patch_size()))),
      padded_(
          zeros<3>(sizes.rows + 2 * sizes.padding, sizes.cols + 2 * sizes.padding, sizes.channels)),
      dpadded_(padded_),
      patches_(zeros<2>(group_ * sizes.positions(), sizes.patch_size())) {
  SACCADE_CHECK(sizes.stride >= 1 && sizes.padding >= 0);
  SACCADE_CHECK(sizes.kernel_size <= std::min(sizes.rows, sizes.cols) + 2 * sizes.padding);
}

void Convolution::gather(ConstMatrix x) {
  const std::ptrdiff_t size = std::ptrdiff_t{sizes_.positions()} * sizes_.patch_size();
  for (int image = 0; image < x.rows; ++image) {
    for_image_rows(sizes_, padded_.data(),
                   [from = x.row(image)](float* padded, std::ptrdiff_t at, int count) {
                     std::copy_n(from + at, count, padded);
                   });
    for_patch_rows(sizes_, padded_.data(), patches_.data() + image * size,
                   [](const float* __restrict padded, float* __restrict patch, int count) {
                     for (int i = 0; i < count; ++i) patch[i] = padded[i];
                   });
  }
}

void Convolution::scatter(Matrix dx) {
  const std::ptrdiff_t size = std::ptrdiff_t{sizes_.positions()} * sizes_.patch_size();
  for (int image = 0; image < dx.rows; ++image) {
    dpadded_.fill(0.0F);
    for_patch_rows(sizes_, dpadded_.data(), patches_.data() + image * size,
                   [](float* __restrict padded, const float* __restrict patch, int count) {
                     for (int i = 0; i < count; ++i) padded[i] += patch[i];
                   });
    for_image_rows(sizes_, dpadded_.data(),
                   [to = dx.row(image)](const float* padded, std::ptrdiff_t at, int count) {
                     std::copy_n(padded, count, to + at);
                   });
  }
}

void Convolution::relu_forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b) {
  SACCADE_CHECK(y.rows == x.rows && y.cols == sizes_.output_size());
  SACCADE_CHECK(x.cols == sizes_.input_size());
  const int group = group_of(y);
  for (int first = 0; first < x.rows; first += group) {
    const int images = std::min(group, x.rows - first);
    gather(x.row_range(first, images));
    linear_relu_forward(positions(y, first, images), patches(images), w, b);
  }
}

void Convolution::backward(Matrix dw, Matrix db, ConstMatrix dy, ConstMatrix x, float beta) {
  SACCADE_CHECK(dy.rows == x.rows && dy.cols == sizes_.output_size());
  SACCADE_CHECK(x.cols == sizes_.input_size());
  const int group = group_of(dy);
  for (int first = 0; first < x.rows; first += group) {
    const int images = std::min(group, x.rows - first);
    gather(x.row_range(first, images));
    linear_backward(dw, db, positions(dy, first, images), patches(images),
                    first == 0 ? beta : 1.0F);
  }
}

void Convolution::input_backward(Matrix dx, ConstMatrix dy, ConstMatrix w) {
  SACCADE_CHECK(dx.rows == dy.rows && dy.cols == sizes_.output_size());
  SACCADE_CHECK(dx.cols == sizes_.input_size());
  const int group = group_of(dy);
  for (int first = 0; first < dx.rows; first += group) {
    const int images = std::min(group, dx.rows - first);
    multiply_transposed_b(patches(images), positions(dy, first, images), w);
    scatter(dx.row_range(first, images));
  }
}

void put_channels_last(Matrix to, ConstMatrix from, int channels) {
  const int pixels = from.cols / channels;
  for (int b = 0; b < from.rows; ++b)
    for (int c = 0; c < channels; ++c)
      for (int i = 0; i < pixels; ++i) to(b, i * channels + c) = from(b, c * pixels + i);
}

void put_channels_first(Matrix to, ConstMatrix from, int channels) {
  const int pixels = from.cols / channels;
  for (int b = 0; b < from.rows; ++b)
    for (int c = 0; c < channels; ++c)
      for (int i = 0; i < pixels; ++i) to(b, c * pixels + i) = from(b, i * channels + c);
}

}  // namespace saccade
