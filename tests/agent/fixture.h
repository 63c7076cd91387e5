#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "agent/model/settings.h"
#include "nn/safetensors.h"
#include "tests/agent/support.h"
#include "tests/support.h"

// Fixtures written by tests/reference/make.py with PyTorch.
namespace saccade {

/// Float against double arithmetic, relative to the largest number: 10 to 100 rounding errors.
constexpr double kTolerance = 5e-6;

inline fs::path reference_folder() { return source_folder() / "tests/reference"; }

class Fixture {
 public:
  explicit Fixture(const std::string& name)
      : file_(read_safetensors(reference_folder() / (name + ".safetensors"))) {}

  std::span<const float> operator[](const std::string& name) const { return file_.find(name).data; }
  bool has(const std::string& name) const {
    return std::ranges::any_of(file_.tensors, [&](const auto& t) { return t.name == name; });
  }
  int size(const std::string& name, int dimension) const {
    return static_cast<int>(file_.find(name).shape.at(dimension));
  }
  /// The last dimension becomes the columns.
  ConstMatrix matrix(const std::string& name) const {
    const NamedTensor& tensor = file_.find(name);
    const int cols = static_cast<int>(tensor.shape.back());
    return {tensor.data.data(), static_cast<int>(tensor.data.size()) / cols, cols, cols};
  }
  std::vector<int> integers(const std::string& name) const {
    return {(*this)[name].begin(), (*this)[name].end()};
  }
  const std::map<std::string, std::string>& metadata() const { return file_.metadata; }
  double number(const std::string& name) const { return std::stod(metadata().at(name)); }

  /// Returns a block with the fixture's value of every parameter of the layout.
  Tensor<1> parameters(const ParameterLayout& layout) const {
    Tensor<1> block = zeros<1>(layout.size());
    for (const Parameter& p : layout.parameters()) {
      CAPTURE(p.name);
      const NamedTensor& tensor = file_.find("parameter." + p.name);
      REQUIRE(tensor.shape == std::vector<std::size_t>{static_cast<std::size_t>(p.rows),
                                                       static_cast<std::size_t>(p.cols)});
      std::ranges::copy(tensor.data, block.data() + p.offset);
    }
    return block;
  }
  /// The gradient of one parameter: all are stored in one tensor, in parameter order.
  std::span<const float> gradient(const std::string& name) const {
    std::size_t offset = 0;
    for (const NamedTensor& tensor : file_.tensors) {
      if (tensor.name == "parameter." + name)
        return (*this)["gradient"].subspan(offset, tensor.data.size());
      if (tensor.name.starts_with("parameter.")) offset += tensor.data.size();
    }
    throw std::out_of_range("no parameter " + name);
  }
  std::size_t num_parameters() const {
    return std::ranges::count_if(file_.tensors,
                                 [](const auto& t) { return t.name.starts_with("parameter."); });
  }

  void check_gradients(const Tensor<1>& block, const ParameterLayout& layout) const {
    for (const Parameter& p : layout.parameters()) {
      CAPTURE(p.name);
      CHECK(relative_error(values_of(flat(block), p), gradient(p.name)) < kTolerance);
    }
  }

 private:
  SafetensorsFile file_;
};

inline void copy(Matrix to, ConstMatrix from) {
  REQUIRE(to.rows == from.rows);
  REQUIRE(to.cols == from.cols);
  for (int r = 0; r < to.rows; ++r) std::copy_n(from.row(r), from.cols, to.row(r));
}

// ---- Settings of a fixture ----

inline void set(std::string& to, const std::string& value) { to = value; }
inline void set(int& to, const std::string& value) { to = std::stoi(value); }
inline void set(double& to, const std::string& value) { to = std::stod(value); }
inline void set(bool& to, const std::string& value) { to = value == "1"; }
inline void set(Ramp& to, const std::string& value) {
  to = {std::stod(value), std::stod(value), 1.0};
}
inline void set(LogRange& to, const std::string& value) {
  to = {std::stod(value), std::stod(value.substr(value.find(' ')))};
}
inline void set(std::array<int, 2>& to, const std::string& value) {
  const std::size_t space = value.find(' ');
  to = {std::stoi(value), std::stoi(value.substr(space))};
}

/// Returns the agent's settings of an episode fixture; sight.<..> and request.<..> are not among
/// them.
inline AgentConfig config_of(const Fixture& fixture) {
  AgentConfig config;
  config.glimpse.detach_state = false;  // UNSAID in episodes.py
  SceneConfig scene;
  const Settings all = describe(config, scene);
  for (const auto& [key, value] : fixture.metadata()) {
    if (key.starts_with("sight.") || key.starts_with("request.")) continue;
    CAPTURE(key);
    const auto setting = std::ranges::find(all, key, &Setting::key);
    REQUIRE(setting != all.end());
    std::visit(
        [&](auto* field) {
          if constexpr (requires { set(*field, value); })
            set(*field, value);
          else
            FAIL("no fixture has such a value yet");
        },
        setting->field);
  }
  return config;
}

}  // namespace saccade
