#include "env/area_resize.h"

#include <algorithm>

#include "nn/check.h"
#include "nn/gemm.h"

namespace saccade {
namespace {

// (to, from): what share of pixel i of `to` is made of pixel k of `from`.
Tensor<2> shares(int to, int from) {
  Tensor<2> share = zeros<2>(to, from);
  const double side = static_cast<double>(from) / to;
  for (int i = 0; i < to; ++i)
    for (int k = 0; k < from; ++k) {
      const double overlap = std::min((i + 1) * side, k + 1.0) - std::max(i * side, double(k));
      share(i, k) = static_cast<float>(std::max(overlap, 0.0) / side);
    }
  return share;
}

}  // namespace

AreaResize::AreaResize(int channels, int rows, int cols, int to_rows, int to_cols)
    : channels_(channels),
      rows_(rows),
      cols_(cols),
      to_rows_(to_rows),
      to_cols_(to_cols),
      row_shares_(shares(to_rows, rows)),
      col_shares_(shares(to_cols, cols)),
      half_(zeros<2>(to_rows, cols)) {
  SACCADE_CHECK(to_rows >= 1 && to_rows <= rows && to_cols >= 1 && to_cols <= cols);
}

void AreaResize::forward(std::span<float> small, std::span<const float> canvas) {
  if (to_rows_ == rows_ && to_cols_ == cols_) {
    std::ranges::copy(canvas, small.begin());
    return;
  }
  for (int c = 0; c < channels_; ++c) {
    const ConstMatrix from = {&canvas[c * rows_ * cols_], rows_, cols_, cols_};
    multiply(matrix(half_), matrix(row_shares_), from);
    multiply_transposed_b({&small[c * to_rows_ * to_cols_], to_rows_, to_cols_, to_cols_},
                          matrix(half_), matrix(col_shares_));
  }
}

void AreaResize::backward(std::span<float> dcanvas, std::span<const float> dsmall) {
  for (int c = 0; c < channels_; ++c) {
    const ConstMatrix from = {&dsmall[c * to_rows_ * to_cols_], to_rows_, to_cols_, to_cols_};
    multiply(matrix(half_), from, matrix(col_shares_));
    multiply_transposed_a({&dcanvas[c * rows_ * cols_], rows_, cols_, cols_}, matrix(row_shares_),
                          matrix(half_));
  }
}

}  // namespace saccade
