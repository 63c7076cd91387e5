#pragma once

#include <memory>
#include <span>

#include "agent/config.h"
#include "agent/core.h"
#include "agent/glimpse_network.h"
#include "nn/parameters.h"

namespace saccade {

/// One affine output of the core's state: y = h W + b.
class LinearHead {
 public:
  LinearHead(const std::string& name, int inputs, int outputs, const Initial& initial,
             ParameterLayout& layout);

  /// y (R, outputs), h (R, inputs)
  void forward(Matrix y, ConstMatrix h, std::span<const float> parameters) const;
  /// Writes the head's gradients.
  void backward(std::span<float> gradient, ConstMatrix dy, ConstMatrix h) const;
  /// Adds the gradient of h to dh. A head that is never asked for it is detached.
  void state_backward(Matrix dh, ConstMatrix dy, std::span<const float> parameters) const;

 private:
  const ParameterLayout* layout_;
  int weight_, bias_;
};

/// Where to look next: mu = tanh(W_2 relu(W_1 h + b_1) + b_2). Reads a detached state.
class Locator {
 public:
  Locator(int inputs, int hidden, ParameterLayout& layout);

  /// mean (R, 2) in [-1, 1], hidden (R, width), state (R, H)
  void forward(Matrix mean, Matrix hidden, ConstMatrix state,
               std::span<const float> parameters) const;
  /// Writes the locator's gradients. Overwrites dmean by its gradient before the tanh, and uses
  /// dhidden (R, width) as scratch.
  void backward(std::span<float> gradient, Matrix dhidden, Matrix dmean, ConstMatrix mean,
                ConstMatrix hidden, ConstMatrix state, std::span<const float> parameters) const;

  int hidden_size() const { return width_; }
  Work work() const;

 private:
  const ParameterLayout* layout_;
  int inputs_, width_;
  int hidden_weight_, hidden_bias_, mean_weight_, mean_bias_;
};

/// The recurrent attention model: its parts and the places of their parameters. Stateless.
class Model {
 public:
  Model(const AgentConfig& config, int glimpse_size, int num_classes);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const AgentConfig& config() const { return config_; }
  const ParameterLayout& layout() const { return layout_; }
  int glimpse_size() const { return glimpse_size_; }
  int num_classes() const { return num_classes_; }
  int num_glimpses() const { return config_.glimpse.num_glimpses; }
  /// The first glimpse whose location is drawn from a learned distribution; T if none is.
  int first_action() const;

  /// mu_1 = tanh(parameter) of a learned first glimpse.
  void first_mean(float* mean, std::span<const float> parameters) const;
  /// Deviation of the Gaussian policy at `progress` in [0, 1] of the training.
  float location_std(double progress, std::span<const float> parameters) const;

  /// Multiply-adds of a training episode.
  Work work() const;
  /// Multiply-adds x 2 of a training episode, forward and backward, in 10^9.
  double gflop_per_episode() const;

 private:
  AgentConfig config_;
  int glimpse_size_, num_classes_;
  ParameterLayout layout_;

 public:
  const GlimpseNetwork glimpse_network;
  const std::unique_ptr<const Core> core;
  const Locator locator;
  const LinearHead classifier;
  const LinearHead baseline;
  const int first_location;  // parameter (1, 2); -1 where the first glimpse is not learned
  const int log_std;         // parameter (1, 1); -1 where the deviation is not learned
};

}  // namespace saccade
