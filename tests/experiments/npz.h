#pragma once

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>
#include <xtensor/xarray.hpp>

#include "base/error.h"

namespace saccade {

using NpzShape = std::vector<std::size_t>;

/// Returns the array in the bytes of an .npy file: format version 1.0, little-endian, row-major.
/// Throws InputError for others.
template <class T>
xt::xarray<T> npy_array(const std::string& bytes) {
  constexpr std::size_t kBegin = 10;  // of the header: after signature, version and size
  if (bytes.size() < kBegin || !bytes.starts_with("\x93NUMPY\x01"))
    throw InputError("no .npy file of version 1.0");
  const std::size_t size =
      static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(kBegin, size);
  const std::string type = std::is_same_v<T, float> ? "'<f4'" : "'<i4'";
  const std::size_t open = header.find('('), close = header.find(')', open);
  if (header.find("'descr': " + type) == header.npos || close == header.npos ||
      header.find("'fortran_order': False") == header.npos)
    throw InputError(fmt::format("not the header of an array of {}: {}", type, header));
  std::istringstream numbers(header.substr(open + 1, close - open - 1));
  NpzShape shape;
  for (std::size_t n = 0; numbers >> n; numbers.ignore(1)) shape.push_back(n);
  // Each dimension is checked, even beside a 0, because strides are products of them.
  for (const std::size_t n : shape)
    if (n > bytes.size())
      throw InputError(fmt::format("a side of {}, of {} bytes", n, bytes.size()));
  // In floating point, so that absurd sizes do not overflow.
  const double needed = std::accumulate(shape.begin(), shape.end(), double{sizeof(T)},
                                        [](double a, std::size_t b) { return a * double(b); });
  const std::size_t found = bytes.size() - kBegin - header.size();
  if (needed != static_cast<double>(found))
    throw InputError(
        fmt::format("{} bytes, but {} values need {:.0f}", found, fmt::join(shape, " x "), needed));
  xt::xarray<T> array = xt::xarray<T>::from_shape(shape);
  std::copy_n(bytes.data() + bytes.size() - found, found, reinterpret_cast<char*>(array.data()));
  return array;
}

/// An .npz file as numpy reads it: name -> the bytes of its .npy, uncompressed. Throws InputError
/// for others.
struct ReadNpz {
  explicit ReadNpz(const std::filesystem::path& path) {
    int error = 0;
    const std::unique_ptr<zip_t, decltype(&zip_discard)> archive(
        zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &error), zip_discard);
    if (!archive) throw InputError(path.string() + ": no zip file");
    const auto fail = [&](const std::string& name) {
      throw InputError(
          fmt::format("{}: '{}' is no .npy file that can be read", path.string(), name));
    };
    const std::uintmax_t most = std::filesystem::file_size(path);
    for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
      const auto index = static_cast<zip_uint64_t>(i);
      zip_stat_t facts;
      if (zip_stat_index(archive.get(), index, 0, &facts) != 0) fail(std::to_string(i));
      const std::string name = facts.name;
      if (!name.ends_with(".npy") || facts.comp_method != ZIP_CM_STORE || facts.size > most)
        fail(name);
      std::string bytes(facts.size, '\0');
      const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file(
          zip_fopen_index(archive.get(), index, 0), zip_fclose);
      if (!file || zip_fread(file.get(), bytes.data(), bytes.size()) !=
                       static_cast<zip_int64_t>(bytes.size()))
        fail(name);
      npy[name.substr(0, name.size() - 4)] = bytes;
    }
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, bytes] : npy) all.push_back(name);
    return all;
  }
  template <class T = float>
  xt::xarray<T> get(const std::string& name) const {
    return npy_array<T>(npy.at(name));
  }

  std::map<std::string, std::string> npy;
};

template <class Array>
NpzShape shape_of(const Array& array) {
  return {array.shape().begin(), array.shape().end()};
}

}  // namespace saccade
