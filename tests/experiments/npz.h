#pragma once

#include <doctest/doctest.h>
#include <zip.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>
#include <xtensor/xarray.hpp>

namespace saccade {

/// An .npz file as numpy would find it: name -> the bytes of its .npy.
struct ReadNpz {
  explicit ReadNpz(const std::filesystem::path& path) {
    int error = 0;
    zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &error);
    REQUIRE_MESSAGE(archive != nullptr, path.string());
    for (zip_int64_t i = 0; i < zip_get_num_entries(archive, 0); ++i) {
      zip_stat_t facts;
      REQUIRE(zip_stat_index(archive, static_cast<zip_uint64_t>(i), 0, &facts) == 0);
      CHECK(facts.comp_method == ZIP_CM_STORE);
      std::string bytes(facts.size, '\0');
      zip_file_t* file = zip_fopen_index(archive, static_cast<zip_uint64_t>(i), 0);
      REQUIRE(zip_fread(file, bytes.data(), bytes.size()) ==
              static_cast<zip_int64_t>(bytes.size()));
      zip_fclose(file);
      const std::string name = facts.name;
      REQUIRE(name.ends_with(".npy"));
      npy[name.substr(0, name.size() - 4)] = bytes;
    }
    zip_discard(archive);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, bytes] : npy) all.push_back(name);
    return all;
  }
  /// Version 1.0 of the format, little-endian, row by row.
  template <class T = float>
  xt::xarray<T> get(const std::string& name) const {
    const std::string& bytes = npy.at(name);
    REQUIRE(bytes.starts_with("\x93NUMPY\x01"));
    constexpr std::size_t kBegin = 10;
    const std::size_t size =
        static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
    const std::string header = bytes.substr(kBegin, size);
    const std::string type = std::is_same_v<T, float> ? "'<f4'" : "'<i4'";
    REQUIRE(header.find("'descr': " + type) != std::string::npos);
    REQUIRE(header.find("'fortran_order': False") != std::string::npos);
    const std::size_t open = header.find('(') + 1;
    std::istringstream numbers(header.substr(open, header.find(')') - open));
    std::vector<std::size_t> shape;
    for (std::size_t n; numbers >> n; numbers.ignore(1)) shape.push_back(n);
    xt::xarray<T> array = xt::xarray<T>::from_shape(shape);
    REQUIRE(bytes.size() == kBegin + size + array.size() * sizeof(T));
    std::memcpy(array.data(), bytes.data() + kBegin + size, array.size() * sizeof(T));
    return array;
  }

  std::map<std::string, std::string> npy;
};

using Shape = std::vector<std::size_t>;

template <class Array>
Shape shape_of(const Array& array) {
  return {array.shape().begin(), array.shape().end()};
}

}  // namespace saccade
