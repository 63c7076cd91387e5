#include "env/area_resize.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "nn/rows.h"

namespace saccade {
namespace {

using Shares = AreaResize::Shares;

// The share of pixel k of `from` in pixel i of `to`, whose centre lies between those of two pixels,
// or beyond the outermost.
Shares shares_between(int to, int from) {
  Shares all;
  for (int i = 0; i < to; ++i) {
    const double centre = std::clamp((i + 0.5) * from / to - 0.5, 0.0, from - 1.0);
    const int before = static_cast<int>(centre), after = std::min(before + 1, from - 1);
    const auto fraction = static_cast<float>(centre - before);
    all.add(before, 1.0F - fraction);
    if (fraction > 0.0F) all.add(after, fraction);
    all.end_range();
  }
  return all;
}

// The same of the areas that the pixels of `to` cover.
Shares shares(int to, int from) {
  if (to > from) return shares_between(to, from);
  Shares all;
  const double side = static_cast<double>(from) / to;
  for (int i = 0; i < to; ++i) {
    const int last = std::min(static_cast<int>((i + 1) * side), from - 1);
    for (int k = static_cast<int>(i * side); k <= last; ++k) {
      const double overlap = std::min((i + 1) * side, k + 1.0) - std::max(i * side, double(k));
      if (overlap > 0.0) all.add(k, static_cast<float>(overlap / side));
    }
    all.end_range();
  }
  return all;
}

}  // namespace

void AreaResize::Shares::add(int pixel, float share) {
  if (range_.count == 0) range_ = {pixel, 0, all_.size()};
  ++range_.count;
  all_.push_back(share);
}

void AreaResize::Shares::end_range() {
  ranges_.push_back(range_);
  range_ = {};
}

AreaResize::AreaResize(int channels, int rows, int cols, int to_rows, int to_cols)
    : channels_(channels),
      rows_(rows),
      cols_(cols),
      to_rows_(to_rows),
      to_cols_(to_cols),
      row_shares_(shares(to_rows, rows)),
      col_shares_(shares(to_cols, cols)),
      half_(zeros<1>(cols)) {
  SACCADE_CHECK(to_rows >= 1 && to_cols >= 1);
}

void AreaResize::forward(std::span<float> small, std::span<const float> canvas) {
  if (to_rows_ == rows_ && to_cols_ == cols_) {
    std::ranges::copy(canvas, small.begin());
    return;
  }
  float* half = half_.data();
  for (int c = 0; c < channels_; ++c) {
    const ConstMatrix from = {&canvas[c * rows_ * cols_], rows_, cols_, cols_};
    float* to = &small[c * to_rows_ * to_cols_];
    for (int i = 0; i < to_rows_; ++i) {
      const auto [first_row, rows, row_share] = row_shares_.of(i);
      weighted_rows(half, row_share, from.row_range(first_row, rows));
      for (int j = 0; j < to_cols_; ++j) {
        const auto [first_col, cols, share] = col_shares_.of(j);
        float sum = 0.0F;
        for (int k = 0; k < cols; ++k) sum = std::fma(half[first_col + k], share[k], sum);
        *to++ = sum;
      }
    }
  }
}

void AreaResize::backward(std::span<float> dcanvas, std::span<const float> dsmall) {
  std::ranges::fill(dcanvas, 0.0F);
  float* half = half_.data();
  for (int c = 0; c < channels_; ++c) {
    const Matrix to = {&dcanvas[c * rows_ * cols_], rows_, cols_, cols_};
    const float* from = &dsmall[c * to_rows_ * to_cols_];
    for (int i = 0; i < to_rows_; ++i) {
      std::fill_n(half, cols_, 0.0F);
      for (int j = 0; j < to_cols_; ++j) {
        const auto [first_col, cols, share] = col_shares_.of(j);
        for (int k = 0; k < cols; ++k)
          half[first_col + k] = std::fma(*from, share[k], half[first_col + k]);
        ++from;
      }
      const auto [first_row, rows, share] = row_shares_.of(i);
      for (int k = 0; k < rows; ++k)
        add_weighted_rows(to.row(first_row + k), share + k, {half, 1, cols_, cols_});
    }
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
