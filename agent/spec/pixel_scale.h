#pragma once

#include <vector>

#include "base/setting.h"
#include "nn/tensor.h"

namespace saccade {

/// Keys: data.mean, data.deviation. A number for each channel, or one for all.
struct PixelConfig {
  std::vector<double> mean = {0.0};
  std::vector<double> deviation = {1.0};
};

Settings describe(PixelConfig& config);

/// How networks read a pixel p of channel c, which lies in [0, 1]: (p - mean_c) / deviation_c. What
/// is seen and what is kept of it are the pixels as they are.
class PixelScale {
 public:
  /// Pixels as they are.
  PixelScale() = default;
  /// Throws InputError naming data.mean or data.deviation for numbers that are not as many.
  PixelScale(const PixelConfig& config, int channels);

  /// Whether pixels are read as they are; then neither call does anything.
  bool is_identity() const { return mean_.empty(); }

  /// (channels); empty where pixels are read as they are.
  const std::vector<float>& mean() const { return mean_; }
  const std::vector<float>& gain() const { return gain_; }  // 1 / deviation

  /// pixels (N, S channels plane), of pictures that are (.., channel, plane); in place.
  void forward(Matrix pixels, int plane) const;
  /// The gradient of the scaled pixels becomes that of the pixels.
  void backward(Matrix dpixels, int plane) const;

 private:
  template <class Change>
  void each_plane(Matrix pixels, int plane, const Change& change) const;

  std::vector<float> mean_, gain_;
};

}  // namespace saccade
