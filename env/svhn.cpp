#include <fmt/format.h>
#include <matio.h>

#include <array>
#include <cmath>
#include <fstream>
#include <memory>

#include "env/digits.h"
#include "nn/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSvhnSide = 32, kSvhnChannels = 3;
constexpr int kSvhnClasses = 10;

struct CloseMat {
  void operator()(mat_t* file) const { Mat_Close(file); }
};
struct FreeVariable {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using MatFile = std::unique_ptr<mat_t, CloseMat>;
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

[[noreturn]] void fail(const fs::path& path, const std::string& fault) {
  throw InputError(path.string() + ": " + fault);
}

/// A MAT file of version 5 is a header of 128 bytes and elements, each of which says its size:
/// matio does not mind a file that ends before its last element does.
void require_whole(const fs::path& path) {
  constexpr std::uint64_t kHeader = 128, kTag = 8;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, "missing, or cannot be opened; needed: this file of the cropped digits");
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  if (error) fail(path, "cannot be read: " + error.message());
  for (std::uint64_t at = kHeader; at != size;) {
    std::array<std::uint32_t, 2> tag{};  // type, bytes that follow
    file.seekg(static_cast<std::streamoff>(at));
    file.read(reinterpret_cast<char*>(tag.data()), kTag);
    at += kTag + tag[1];
    if (!file || at > size)
      fail(path, fmt::format("truncated, or no MAT file of version 5: {} bytes", size));
  }
}

Variable read_variable(const fs::path& path, mat_t* file, const char* name) {
  Variable variable(Mat_VarRead(file, name));
  if (!variable) fail(path, fmt::format("no variable {} that can be read; needed: X and y", name));
  if (variable->data == nullptr) fail(path, fmt::format("{} cannot be read: corrupt data", name));
  return variable;
}

std::string shape_of(const matvar_t& variable) {
  return fmt::format("{}", fmt::join(variable.dims, variable.dims + variable.rank, " x "));
}

/// X, whose first index runs fastest: (32, 32, 3, N).
xt::xtensor<std::uint8_t, 4> to_images(const fs::path& path, const matvar_t& x) {
  const bool right = x.class_type == MAT_C_UINT8 && x.rank == 4 && x.dims[0] == kSvhnSide &&
                     x.dims[1] == kSvhnSide && x.dims[2] == kSvhnChannels && x.dims[3] > 0;
  if (!right)
    fail(path, fmt::format("X is {}{}; needed: 32 x 32 x 3 x N bytes (uint8)", shape_of(x),
                           x.class_type == MAT_C_UINT8 ? "" : ", not of uint8"));
  const std::size_t count = x.dims[3];
  auto images =
      xt::xtensor<std::uint8_t, 4>::from_shape({count, kSvhnSide, kSvhnSide, kSvhnChannels});
  const auto* from = static_cast<const std::uint8_t*>(x.data);
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t channel = 0; channel < kSvhnChannels; ++channel)
      for (std::size_t col = 0; col < kSvhnSide; ++col)
        for (std::size_t row = 0; row < kSvhnSide; ++row) images(n, row, col, channel) = *from++;
  return images;
}

/// y: the digits as 1 to 10, where 10 is the digit 0.
xt::xtensor<int, 1> to_labels(const fs::path& path, const matvar_t& y, std::size_t count) {
  if (y.rank != 2 || y.dims[0] * y.dims[1] != count)
    fail(path,
         fmt::format("y is {}, but X has {} images; needed: one label each", shape_of(y), count));
  if (y.class_type != MAT_C_UINT8 && y.class_type != MAT_C_DOUBLE)
    fail(path, "y is neither of uint8 nor of double");
  auto labels = xt::xtensor<int, 1>::from_shape({count});
  for (std::size_t n = 0; n < count; ++n) {
    const double label = y.class_type == MAT_C_UINT8 ? static_cast<const std::uint8_t*>(y.data)[n]
                                                     : static_cast<const double*>(y.data)[n];
    if (!(label >= 1 && label <= kSvhnClasses && label == std::floor(label)))
      fail(path, fmt::format("label {} of image {}; allowed: 1 to 10", label, n + 1));
    labels(n) = static_cast<int>(label) % kSvhnClasses;
  }
  return labels;
}

DigitSet read_split(const fs::path& path) {
  require_whole(path);
  const MatFile file(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
  if (!file) fail(path, "no MAT file of version 5");
  DigitSet set;
  set.images = to_images(path, *read_variable(path, file.get(), "X"));
  set.labels = to_labels(path, *read_variable(path, file.get(), "y"), set.images.shape()[0]);
  set.classes = kSvhnClasses;
  return set;
}

}  // namespace

RawDigits read_svhn(const fs::path& folder) {
  RawDigits digits;
  digits.train = read_split(folder / kSvhnFiles[0]);
  digits.test = read_split(folder / kSvhnFiles[1]);
  for (int label = 0; label < kSvhnClasses; ++label)
    digits.class_names.push_back(std::to_string(label));
  return digits;
}

}  // namespace saccade
