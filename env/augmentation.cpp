#include "env/augmentation.h"

#include <cmath>
#include <numbers>

#include "nn/check.h"

namespace saccade {

void Augmentation::apply(std::span<std::uint8_t> target, std::span<const std::uint8_t> source,
                         int rows, int cols, int channels, RandomStream& stream) const {
  SACCADE_CHECK(target.size() == source.size());
  const auto symmetric = [&](double bound) {
    return stream.uniform(-static_cast<float>(bound), static_cast<float>(bound));
  };
  const float angle = symmetric(config_.rotation) * std::numbers::pi_v<float> / 180.0F;
  const float zoom = 1.0F / (1.0F + symmetric(config_.scale));
  const float shear = symmetric(config_.shear);
  const float shift_x = symmetric(config_.shift);
  const float shift_y = symmetric(config_.shift);

  // Where each target pixel comes from: (u, v) = A (x - centre - shift) + centre.
  const float xx = zoom * std::cos(angle), xy = zoom * (std::sin(angle) + shear);
  const float yx = -zoom * std::sin(angle), yy = zoom * std::cos(angle);
  const float centre_x = 0.5F * static_cast<float>(cols - 1);
  const float centre_y = 0.5F * static_cast<float>(rows - 1);
  for (int row = 0; row < rows; ++row) {
    const float dy = static_cast<float>(row) - centre_y - shift_y;
    for (int col = 0; col < cols; ++col, target = target.subspan(channels)) {
      const float dx = static_cast<float>(col) - centre_x - shift_x;
      const float u = xx * dx + xy * dy + centre_x;
      const float v = yx * dx + yy * dy + centre_y;
      const int left = static_cast<int>(std::floor(u)), top = static_cast<int>(std::floor(v));
      const float right_share = u - static_cast<float>(left);
      const float lower_share = v - static_cast<float>(top);
      for (int c = 0; c < channels; ++c) {
        const auto pixel = [&](int y, int x) {
          const bool inside = y >= 0 && y < rows && x >= 0 && x < cols;
          return inside ? static_cast<float>(source[(y * cols + x) * channels + c]) : 0.0F;
        };
        const float upper = std::lerp(pixel(top, left), pixel(top, left + 1), right_share);
        const float lower = std::lerp(pixel(top + 1, left), pixel(top + 1, left + 1), right_share);
        target[c] = static_cast<std::uint8_t>(std::lerp(upper, lower, lower_share) + 0.5F);
      }
    }
  }
}

}  // namespace saccade
