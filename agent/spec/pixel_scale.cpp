#include "agent/spec/pixel_scale.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/error.h"

namespace saccade {
namespace {

// A number for each channel.
std::vector<double> spread(const char* key, const std::vector<double>& numbers, int channels) {
  const auto count = static_cast<int>(numbers.size());
  if (count == channels) return numbers;
  if (count != 1)
    throw SettingError(
        {key}, fmt::format("{}: {} numbers, where images have {} channel{}; allowed: {}", key,
                           count, channels, channels == 1 ? "" : "s",
                           channels == 1 ? "1" : fmt::format("1 or {}", channels)));
  return std::vector<double>(channels, numbers[0]);
}

}  // namespace

Settings describe(PixelConfig& config) {
  return {{"data.mean", &config.mean, closed(0, 1),
           "Mean of the pixels: networks read (pixel - mean) / deviation"},
          {"data.deviation", &config.deviation, closed(0.01, 10),
           "Standard deviation of the pixels, which lie in [0, 1]"}};
}

PixelScale::PixelScale(const PixelConfig& config, int channels) {
  const std::vector<double> means = spread("data.mean", config.mean, channels);
  const std::vector<double> deviations = spread("data.deviation", config.deviation, channels);
  const auto all = [](const std::vector<double>& numbers, double value) {
    return std::ranges::all_of(numbers, [=](double number) { return number == value; });
  };
  if (all(means, 0.0) && all(deviations, 1.0)) return;
  for (int c = 0; c < channels; ++c) {
    mean_.push_back(static_cast<float>(means[c]));
    gain_.push_back(static_cast<float>(1.0 / deviations[c]));
  }
}

// Calls change(channel, number) for every number.
template <class Change>
void PixelScale::each_plane(Matrix pixels, int plane, const Change& change) const {
  if (is_identity()) return;
  const auto channels = static_cast<int>(mean_.size());
  SACCADE_CHECK(pixels.cols % (channels * plane) == 0);
  for (int n = 0; n < pixels.rows; ++n)
    for (int first = 0; first < pixels.cols; first += plane) {
      const int c = first / plane % channels;
      for (int i = first; i < first + plane; ++i) change(c, pixels(n, i));
    }
}

void PixelScale::forward(Matrix pixels, int plane) const {
  each_plane(pixels, plane, [&](int c, float& p) { p = (p - mean_[c]) * gain_[c]; });
}

void PixelScale::backward(Matrix dpixels, int plane) const {
  each_plane(dpixels, plane, [&](int c, float& dp) { dp *= gain_[c]; });
}

}  // namespace saccade
