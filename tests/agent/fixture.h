#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "agent/spec/config.h"
#include "nn/safetensors.h"
#include "tests/agent/support.h"
#include "tests/support.h"

// Fixtures written by tests/reference/make.py with PyTorch.
namespace saccade {

/// Float against double arithmetic, relative to the largest number: 10 to 100 rounding errors.
constexpr double kTolerance = 5e-6;

inline std::filesystem::path reference_folder() { return source_folder() / "tests/reference"; }

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

using Field = std::variant<std::string*, int*, double*, bool*, std::array<int, 2>*, Ramp*>;

/// Settings of the agent by their configuration names.
inline std::map<std::string, Field> fields(AgentConfig& c) {
  AttendConfig& attend = c.hidden.attend;
  return {{"model.kind", &c.model.kind},
          {"model.core", &c.model.core},
          {"model.hidden_size", &c.model.hidden_size},
          {"model.heads", &c.model.heads},
          {"model.depth", &c.model.depth},
          {"model.glimpse_hidden", &c.model.glimpse_hidden},
          {"model.location_hidden", &c.model.location_hidden},
          {"model.feature_size", &c.model.feature_size},
          {"model.locator_hidden", &c.model.locator_hidden},
          {"model.glimpse_network", &c.model.glimpse_network},
          {"model.glimpse_filters", &c.model.glimpse_filters},
          {"model.glimpse_kernel", &c.model.glimpse_kernel},
          {"model.glimpse_stride", &c.model.glimpse_stride},
          {"model.context", &c.model.context},
          {"model.context_size", &c.model.context_size},
          {"model.context_hidden", &c.model.context_hidden},
          {"model.canvas_hidden", &c.model.canvas_hidden},
          {"model.channels", &c.model.channels},
          {"model.kernel_size", &c.model.kernel_size},
          {"attention.glimpse.kind", &c.glimpse.kind},
          {"attention.glimpse.num_glimpses", &c.glimpse.num_glimpses},
          {"attention.glimpse.first", &c.glimpse.first},
          {"attention.glimpse.std", &c.glimpse.std},
          {"attention.glimpse.learn_std", &c.glimpse.learn_std},
          {"attention.glimpse.grid", &c.glimpse.grid.cells},
          {"attention.glimpse.stride", &c.glimpse.grid.stride},
          {"attention.glimpse.tiles", &c.glimpse.grid.tiles},
          {"attention.glimpse.addressing", &c.glimpse.addressing},
          {"attention.glimpse.score", &c.glimpse.score},
          {"attention.glimpse.score_hidden", &c.glimpse.score_hidden},
          {"attention.glimpse.expect", &c.glimpse.expect},
          {"attention.glimpse.temperature", &c.glimpse.temperature},
          {"attention.glimpse.entropy", &c.glimpse.entropy},
          {"attention.glimpse.coverage", &c.glimpse.coverage},
          {"attention.glimpse.row_penalty", &c.glimpse.row_penalty},
          {"attention.glimpse.filters", &c.glimpse.filters},
          {"attention.glimpse.detach_state", &c.glimpse.detach_state},
          {"attention.glimpse.size", &c.glimpse.size},
          {"attention.glimpse.order", &c.glimpse.order},
          {"attention.input.kind", &c.input.kind},
          {"attention.input.alpha", &c.input.alpha},
          {"attention.input.learn_alpha", &c.input.learn_alpha},
          {"attention.input.gain", &c.input.gain},
          {"attention.hidden.kind", &c.hidden.kind},
          {"attention.hidden.query", &c.hidden.query},
          {"attention.hidden.output", &c.hidden.output},
          {"attention.hidden.score", &attend.score},
          {"attention.hidden.score_hidden", &attend.score_hidden},
          {"attention.hidden.area", &attend.area},
          {"attention.hidden.position", &attend.position},
          {"attention.hidden.window", &attend.window},
          {"attention.hidden.mask", &c.hidden.mask},
          {"attention.hidden.hops", &c.hidden.hops},
          {"attention.hidden.penalty", &c.hidden.penalty},
          {"decoder.core", &c.decoder.core},
          {"decoder.hidden_size", &c.decoder.hidden_size},
          {"reinforce.rollouts", &c.reinforce.rollouts},
          {"reinforce.estimator", &c.reinforce.estimator},
          {"reinforce.advantage", &c.reinforce.advantage},
          {"reinforce.critic", &c.reinforce.critic},
          {"reinforce.critic_hidden", &c.reinforce.critic_hidden},
          {"reinforce.reward", &c.reinforce.reward},
          {"reinforce.weight", &c.reinforce.weight},
          {"reinforce.entropy", &c.reinforce.entropy},
          {"reinforce.baseline_weight", &c.reinforce.baseline_weight},
          {"reinforce.shared_baseline", &c.reinforce.shared_baseline},
          {"reinforce.constant", &c.reinforce.constant},
          {"reinforce.trace", &c.reinforce.trace},
          {"reinforce.discount", &c.reinforce.discount},
          {"reinforce.action_entropy", &c.reinforce.action_entropy},
          {"training.classifier_weight", &c.training.classifier_weight},
          {"training.step_loss", &c.training.step_loss}};
}

inline void set(std::string& to, const std::string& value) { to = value; }
inline void set(int& to, const std::string& value) { to = std::stoi(value); }
inline void set(double& to, const std::string& value) { to = std::stod(value); }
inline void set(bool& to, const std::string& value) { to = value == "1"; }
inline void set(Ramp& to, const std::string& value) {
  to = {std::stod(value), std::stod(value), 1.0};
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
  const std::map<std::string, Field> all = fields(config);
  for (const auto& [key, value] : fixture.metadata()) {
    if (key.starts_with("sight.") || key.starts_with("request.")) continue;
    CAPTURE(key);
    REQUIRE(all.contains(key));
    std::visit([&](auto* field) { set(*field, value); }, all.at(key));
  }
  return config;
}

}  // namespace saccade
