#include "env/area_resize.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "nn/gemm.h"
#include "nn/rows.h"

namespace saccade {
namespace {

// (to, from): the share of pixel k of `from` in pixel i of `to`, whose centre lies between those of
// two pixels, or beyond the outermost.
Tensor<2> shares_between(int to, int from) {
  Tensor<2> share = zeros<2>(to, from);
  for (int i = 0; i < to; ++i) {
    const double centre = std::clamp((i + 0.5) * from / to - 0.5, 0.0, from - 1.0);
    const int before = static_cast<int>(centre), after = std::min(before + 1, from - 1);
    const auto fraction = static_cast<float>(centre - before);
    share(i, before) += 1.0F - fraction;
    share(i, after) += fraction;
  }
  return share;
}

// The same of the areas that the pixels of `to` cover.
Tensor<2> shares(int to, int from) {
  if (to > from) return shares_between(to, from);
  Tensor<2> share = zeros<2>(to, from);
  const double side = static_cast<double>(from) / to;
  for (int i = 0; i < to; ++i)
    for (int k = 0; k < from; ++k) {
      const double overlap = std::min((i + 1) * side, k + 1.0) - std::max(i * side, double(k));
      share(i, k) = static_cast<float>(std::max(overlap, 0.0) / side);
    }
  return share;
}

// Returns the range of pixels of `from` that contribute to each pixel of `to`.
std::vector<AreaResize::Range> covered(const Tensor<2>& shares) {
  std::vector<AreaResize::Range> ranges;
  for (int i = 0; i < static_cast<int>(shares.shape()[0]); ++i) {
    const ConstMatrix row = one_row(matrix(shares), i);
    const auto has_share = [](float share) { return share > 0.0F; };
    const float* begin = std::find_if(row.data, row.data + row.cols, has_share);
    const float* end = std::find_if_not(begin, row.data + row.cols, has_share);
    ranges.push_back({static_cast<int>(begin - row.data), static_cast<int>(end - begin)});
  }
  return ranges;
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
      row_ranges_(covered(row_shares_)),
      col_ranges_(covered(col_shares_)),
      half_(zeros<2>(to_rows, cols)) {
  SACCADE_CHECK(to_rows >= 1 && to_cols >= 1);
}

void AreaResize::forward(std::span<float> small, std::span<const float> canvas) {
  if (to_rows_ == rows_ && to_cols_ == cols_) {
    std::ranges::copy(canvas, small.begin());
    return;
  }
  for (int c = 0; c < channels_; ++c) {
    const ConstMatrix from = {&canvas[c * rows_ * cols_], rows_, cols_, cols_};
    float* to = &small[c * to_rows_ * to_cols_];
    for (int i = 0; i < to_rows_; ++i) {
      const auto [first_row, rows] = row_ranges_[i];
      const float* half = &half_(i, 0);
      weighted_rows(&half_(i, 0), &row_shares_(i, first_row), from.row_range(first_row, rows));
      for (int j = 0; j < to_cols_; ++j) {
        const auto [first_col, cols] = col_ranges_[j];
        float sum = 0.0F;
        for (int k = first_col; k < first_col + cols; ++k)
          sum = std::fma(half[k], col_shares_(j, k), sum);
        *to++ = sum;
      }
    }
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

ByteResize::ByteResize(int channels, int rows, int cols, int to_rows, int to_cols)
    : channels_(channels),
      area_(channels, rows, cols, to_rows, to_cols),
      from_(static_cast<std::size_t>(channels) * rows * cols),
      to_(static_cast<std::size_t>(channels) * to_rows * to_cols),
      bytes_(to_.size()) {}

std::span<const std::uint8_t> ByteResize::forward(std::span<const std::uint8_t> image) {
  const std::size_t from = from_.size() / channels_, to = to_.size() / channels_;
  for (int c = 0; c < channels_; ++c)
    for (std::size_t i = 0; i < from; ++i) from_[c * from + i] = image[i * channels_ + c];
  area_.forward(to_, from_);
  for (int c = 0; c < channels_; ++c)
    for (std::size_t i = 0; i < to; ++i)
      bytes_[i * channels_ + c] = static_cast<std::uint8_t>(std::lround(to_[c * to + i]));
  return bytes_;
}

}  // namespace saccade
