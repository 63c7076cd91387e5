#include "nn/convolution.h"

#include <algorithm>
#include <array>

#include "nn/batch.h"
#include "nn/gemm.h"
#include "nn/layers.h"
#include "nn/profile.h"

namespace saccade {
namespace {

// Calls body(padded image pointer, patch pointer, count) for each row of each patch: `count`
// numbers are contiguous in both.
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

// Calls body(padded image pointer, image pointer, count) for each row of the image.
template <class Body>
void for_image_rows(const Convolution::Sizes& sizes, float* padded, Body body) {
  const int count = sizes.cols * sizes.channels;
  const int margin = sizes.padding * sizes.channels;
  for (int row = 0; row < sizes.rows; ++row)
    body(padded + static_cast<std::ptrdiff_t>(row + sizes.padding) * (count + 2 * margin) + margin,
         static_cast<std::ptrdiff_t>(row) * count, count);
}

// ---- Direct convolution, without gathered patches ----

// One multiply-add per vector of filters and number of the image. The outputs of a few positions,
// or the weight gradients of a few numbers of a patch, stay in registers.

// Below this patch size a matrix product would mostly copy.
constexpr int kThinPatch = 64;
// Patch numbers per product: enough to keep it busy, few enough for the cache.
constexpr int kPatchNumbers = 1 << 15;

// Packs columns `first` and on of `from` (rows, n) into one vector per row, padded with zeros.
void pack(Matrix to, ConstMatrix from, int first) {
  const int count = std::min(kWidth, from.cols - first);
  for (int r = 0; r < from.rows; ++r)
    std::fill(std::copy_n(from.row(r) + first, count, to.row(r)), to.row(r) + kWidth, 0.0F);
}

// For N positions: y[n] (one vector) = relu(b + patch n . weights).
template <std::size_t N>
void direct_outputs(const Convolution::Sizes& sizes, const float* image, const int* corners,
                    const float* weights, Batch bias, std::array<Batch, N>& y) {
  const int count = sizes.kernel_size * sizes.channels;
  y.fill(bias);
  for (int k = 0; k < sizes.kernel_size; ++k, image += sizes.cols * sizes.channels)
    for (int i = 0; i < count; ++i, weights += kWidth) {
      const Batch weight = Batch::load_aligned(weights);
      for (std::size_t n = 0; n < N; ++n)
        y[n] = xsimd::fma(Batch(image[corners[n] + i]), weight, y[n]);
    }
  for (Batch& z : y) z = xsimd::select(z <= Batch(0.0F), Batch(0.0F), z);
}

// For N numbers of the patches, starting at `image` relative to every corner: adds dy' x to
// dweights.
template <std::size_t N>
void direct_gradients(float* dweights, const float* image, const std::vector<int>& corners,
                      const float* dy, std::array<Batch, N>& sums) {
  for (std::size_t n = 0; n < N; ++n) sums[n] = Batch::load_aligned(dweights + n * kWidth);
  for (const int corner : corners) {
    const Batch dz = Batch::load_aligned(dy);
    for (std::size_t n = 0; n < N; ++n) sums[n] = xsimd::fma(Batch(image[corner + n]), dz, sums[n]);
    dy += kWidth;
  }
  for (std::size_t n = 0; n < N; ++n) sums[n].store_aligned(dweights + n * kWidth);
}

// Calls body(first, sums of N) for the `left` remaining numbers, at most N.
template <std::size_t N, class Body>
void in_one_go(int first, int left, const Body& body) {
  if (left == static_cast<int>(N))
    body(first, std::array<Batch, N>());
  else if constexpr (N > 1)
    in_one_go<N - 1>(first, left, body);
}

// Calls body(first, sums of N) until `count` are done. Each multiply-add waits for the previous one
// of its sum, so eight independent sums keep the processor busy.
template <class Body>
void in_chains(int count, const Body& body) {
  constexpr int kChains = 8;
  int first = 0;
  for (; first + kChains <= count; first += kChains) body(first, std::array<Batch, kChains>());
  in_one_go<kChains - 1>(first, count - first, body);
}

}  // namespace

Convolution::Convolution(const Sizes& sizes)
    : sizes_(sizes),
      direct_(sizes.padding == 0 && sizes.patch_size() <= kThinPatch),
      group_(std::max(1, kPatchNumbers / (sizes.positions() * sizes.patch_size()))),
      padded_(
          zeros<3>(sizes.rows + 2 * sizes.padding, sizes.cols + 2 * sizes.padding, sizes.channels)),
      dpadded_(padded_),
      patches_(zeros<2>(group_ * sizes.positions(), sizes.patch_size())) {
  SACCADE_CHECK(sizes.stride >= 1 && sizes.padding >= 0);
  SACCADE_CHECK(sizes.kernel_size <= std::min(sizes.rows, sizes.cols) + 2 * sizes.padding);
  if (!direct_) return;
  for (int row = 0; row < sizes.output_rows(); ++row)
    for (int col = 0; col < sizes.output_cols(); ++col)
      corners_.push_back(sizes.stride * (row * sizes.cols + col) * sizes.channels);
  weights_ = zeros<2>(sizes.patch_size(), kWidth);
  outputs_ = zeros<2>(sizes.positions(), kWidth);
}

void Convolution::gather(const float* x, float* patches) {
  for_image_rows(sizes_, padded_.data(), [x](float* padded, std::ptrdiff_t from, int count) {
    std::copy_n(x + from, count, padded);
  });
  for_patch_rows(sizes_, padded_.data(), patches,
                 [](const float* __restrict padded, float* __restrict patch, int count) {
                   for (int i = 0; i < count; ++i) patch[i] = padded[i];
                 });
}

void Convolution::scatter(float* dx, float* dpatches) {
  dpadded_.fill(0.0F);
  for_patch_rows(sizes_, dpadded_.data(), dpatches,
                 [](float* __restrict padded, const float* __restrict patch, int count) {
                   for (int i = 0; i < count; ++i) padded[i] += patch[i];
                 });
  for_image_rows(sizes_, dpadded_.data(), [dx](const float* padded, std::ptrdiff_t to, int count) {
    std::copy_n(padded, count, dx + to);
  });
}

void Convolution::direct_forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b) {
  const int positions = sizes_.positions(), filters = sizes_.filters;
  for (int first = 0; first < filters; first += kWidth) {
    const int count = std::min(kWidth, filters - first);
    pack(matrix(outputs_).row_range(0, 1), b, first);
    const Batch bias = Batch::load_aligned(outputs_.data());
    pack(matrix(weights_), w, first);
    for (int image = 0; image < x.rows; ++image)
      in_chains(positions, [&]<std::size_t N>(int p, std::array<Batch, N>&& z) {
        direct_outputs(sizes_, x.row(image), corners_.data() + p, weights_.data(), bias, z);
        float* to = y.row(image) + p * filters + first;
        for (std::size_t n = 0; n < N; ++n, to += filters) {
          if (count == kWidth) {
            z[n].store_unaligned(to);
          } else {
            alignas(64) std::array<float, kWidth> numbers;
            z[n].store_aligned(numbers.data());
            std::copy_n(numbers.data(), count, to);
          }
        }
      });
  }
}

void Convolution::direct_backward(Matrix dw, Matrix db, ConstMatrix dy, ConstMatrix x, float beta) {
  const int positions = sizes_.positions(), filters = sizes_.filters;
  const int numbers = sizes_.kernel_size * sizes_.channels;  // in one row of a patch
  for (int first = 0; first < filters; first += kWidth) {
    const int count = std::min(kWidth, filters - first);
    weights_.fill(0.0F);
    Batch bias(0.0F);
    for (int image = 0; image < x.rows; ++image) {
      pack(matrix(outputs_), {dy.row(image), positions, filters, filters}, first);
      for (int p = 0; p < positions; ++p) bias += Batch::load_aligned(&outputs_(p, 0));
      for (int k = 0; k < sizes_.kernel_size; ++k) {
        const float* row = x.row(image) + k * sizes_.cols * sizes_.channels;
        in_chains(numbers, [&]<std::size_t N>(int i, std::array<Batch, N>&& sums) {
          direct_gradients(&weights_(k * numbers + i, 0), row + i, corners_, outputs_.data(), sums);
        });
      }
    }
    bias.store_aligned(outputs_.data());
    for (int f = 0; f < count; ++f) {
      const auto put = [beta](float& to, float sum) { to = beta == 0.0F ? sum : to + sum; };
      put(db(0, first + f), outputs_(0, f));
      for (int r = 0; r < dw.rows; ++r) put(dw(r, first + f), weights_(r, f));
    }
  }
}

double Convolution::flop(int images) const {
  return 2.0 * images * sizes_.positions() * sizes_.patch_size() * sizes_.filters;
}

// Calls linear(outputs, patches) for each image.
template <class Linear>
void Convolution::image_by_image(Matrix y, ConstMatrix x, const Linear& linear) {
  SACCADE_CHECK(y.rows == x.rows && y.cols == sizes_.output_size());
  SACCADE_CHECK(x.cols == sizes_.input_size());
  const int positions = sizes_.positions(), filters = sizes_.filters;
  for (int image = 0; image < x.rows; ++image) {
    gather(x.row(image), patches_.data());
    linear(Matrix{y.row(image), positions, filters, filters},
           matrix(patches_).row_range(0, positions));
  }
}

void Convolution::forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b) {
  image_by_image(
      y, x, [&](Matrix outputs, ConstMatrix patches) { linear_forward(outputs, patches, w, b); });
}

void Convolution::relu_forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b) {
  if (direct_) {
    SACCADE_CHECK(y.rows == x.rows && y.cols == sizes_.output_size());
    SACCADE_CHECK(x.cols == sizes_.input_size());
    const ProductScope scope(flop(x.rows));
    return direct_forward(y, x, w, b);
  }
  image_by_image(y, x, [&](Matrix outputs, ConstMatrix patches) {
    linear_relu_forward(outputs, patches, w, b);
  });
}

void Convolution::backward(Matrix dw, Matrix db, ConstMatrix dy, ConstMatrix x, float beta) {
  SACCADE_CHECK(dy.rows == x.rows && dy.cols == sizes_.output_size());
  SACCADE_CHECK(x.cols == sizes_.input_size());
  if (direct_) {
    const ProductScope scope(flop(x.rows));
    return direct_backward(dw, db, dy, x, beta);
  }
  const int positions = sizes_.positions(), filters = sizes_.filters;
  const int group = sizes_.share_products ? this->group(dy) : 1;
  for (int first = 0; first < x.rows; first += group) {
    const int images = std::min(group, x.rows - first);
    for (int i = 0; i < images; ++i) gather(x.row(first + i), &patches_(i * positions, 0));
    linear_backward(dw, db, {dy.row(first), images * positions, filters, filters},
                    matrix(patches_).row_range(0, images * positions), first == 0 ? beta : 1.0F);
  }
}

void Convolution::input_backward(Matrix dx, ConstMatrix dy, ConstMatrix w) {
  SACCADE_CHECK(dx.rows == dy.rows && dy.cols == sizes_.output_size());
  SACCADE_CHECK(dx.cols == sizes_.input_size());
  const int group = this->group(dy), positions = sizes_.positions();
  for (int first = 0; first < dx.rows; first += group) {
    const int images = std::min(group, dx.rows - first);
    const Matrix dpatches = matrix(patches_).row_range(0, images * positions);
    multiply_transposed_b(dpatches,
                          {dy.row(first), images * positions, sizes_.filters, sizes_.filters}, w);
    for (int i = 0; i < images; ++i) scatter(dx.row(first + i), dpatches.row(i * positions));
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
