#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/error.h"
#include "env/digits.h"
#include "env/mat_file.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSvhnSide = 32, kSvhnChannels = 3;
constexpr int kSvhnClasses = 10;

[[noreturn]] void fail(const fs::path& path, const std::string& fault) {
  throw InputError(path.string() + ": " + fault);
}

std::string shape_of(const MatArray& array) {
  return fmt::format("{}", fmt::join(array.shape, " x "));
}

/// Converts X (32, 32, 3, N), first index fastest, to (N, 32, 32, 3).
xt::xtensor<std::uint8_t, 4> to_images(const fs::path& path, const MatArray& x) {
  const std::size_t count = x.shape.empty() ? 0 : x.shape.back();
  const bool of_bytes = x.value_class == MatClass::uint8 && x.values.size() == x.size();
  if (!of_bytes || count == 0 || x.shape != std::vector{kSvhnSide, kSvhnSide, kSvhnChannels, count})
    fail(path, fmt::format("X is {}{}; needed: 32 x 32 x 3 x N bytes (uint8)", shape_of(x),
                           of_bytes ? "" : ", not of uint8"));
  auto images =
      xt::xtensor<std::uint8_t, 4>::from_shape({count, kSvhnSide, kSvhnSide, kSvhnChannels});
  const std::uint8_t* from = x.values.data();
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t channel = 0; channel < kSvhnChannels; ++channel)
      for (std::size_t col = 0; col < kSvhnSide; ++col)
        for (std::size_t row = 0; row < kSvhnSide; ++row) images(n, row, col, channel) = *from++;
  return images;
}

/// Converts y, the digits as 1 to 10, where 10 is the digit 0.
xt::xtensor<int, 1> to_labels(const fs::path& path, const MatArray& y, std::size_t count) {
  if (y.shape.size() != 2 || y.size() != count)
    fail(path,
         fmt::format("y is {}, but X has {} images; needed: one label each", shape_of(y), count));
  if (y.value_class != MatClass::uint8 && y.value_class != MatClass::float64)
    fail(path, "y is neither of uint8 nor of double");
  auto labels = xt::xtensor<int, 1>::from_shape({count});
  for (std::size_t n = 0; n < count; ++n) {
    const double label = y.value(n);
    if (!(label >= 1 && label <= kSvhnClasses && label == std::floor(label)))
      fail(path, fmt::format("label {} of image {}; allowed: 1 to 10", label, n + 1));
    labels(n) = static_cast<int>(label) % kSvhnClasses;
  }
  return labels;
}

Dataset read_split(const fs::path& path) {
  const std::array<std::string, 2> names = {"X", "y"};
  const std::map<std::string, MatArray> arrays = read_mat(path, names);
  for (const std::string& name : names)
    if (!arrays.contains(name)) fail(path, fmt::format("no variable {}; needed: X and y", name));
  Dataset set;
  set.images = to_images(path, arrays.at("X"));
  set.labels = to_labels(path, arrays.at("y"), set.images.shape()[0]);
  set.classes = kSvhnClasses;
  return set;
}

}  // namespace

RawDatasets read_svhn(const fs::path& folder) {
  RawDatasets digits;
  digits.train = read_split(folder / kSvhnFiles[0]);
  digits.test = read_split(folder / kSvhnFiles[1]);
  for (int label = 0; label < kSvhnClasses; ++label)
    digits.class_names.push_back(std::to_string(label));
  return digits;
}

}  // namespace saccade
