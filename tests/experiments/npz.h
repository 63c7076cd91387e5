#pragma once

#include <doctest/doctest.h>
#include <zip.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>
#include <xtensor/xarray.hpp>
#include <xtensor/xnpy.hpp>

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
  template <class T = float>
  xt::xarray<T> get(const std::string& name) const {
    std::istringstream stream(npy.at(name));
    return xt::load_npy<T>(stream);
  }

  std::map<std::string, std::string> npy;
};

using Shape = std::vector<std::size_t>;

template <class Array>
Shape shape_of(const Array& array) {
  return {array.shape().begin(), array.shape().end()};
}

}  // namespace saccade
