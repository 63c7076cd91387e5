#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/answering/decoder.h"
#include "agent/answering/linear_head.h"
#include "agent/config.h"
#include "agent/cores/core.h"
#include "agent/looking/canvas_network.h"
#include "agent/looking/glimpse_network.h"
#include "attention/gaussian_filters.h"
#include "attention/score.h"
#include "env/environment.h"
#include "nn/parameters.h"

namespace saccade {

/// Where to look next: y = W_2 relu(W_1 h + b_1) + b_2, which each kind of attention reads in its
/// own way. For REINFORCE the state is detached: state_backward is not called.
class Locator {
 public:
  /// The output layer is called `locator.<output>`; its bias begins as `initial_bias` (outputs).
  Locator(int inputs, int hidden, const std::string& output, std::vector<float> initial_bias,
          ParameterLayout& layout);

  /// y (R, outputs), hidden (R, width), state (R, H)
  void forward(Matrix y, Matrix hidden, ConstMatrix state, std::span<const float> parameters) const;
  /// dhidden (R, width), before its activation.
  void activation_backward(Matrix dhidden, ConstMatrix dy, ConstMatrix hidden,
                           std::span<const float> parameters) const;
  /// Adds the gradient of the state to dstate (R, H).
  void state_backward(Matrix dstate, ConstMatrix dhidden, std::span<const float> parameters) const;
  /// Writes the locator's gradients.
  void weight_backward(std::span<float> gradient, ConstMatrix dhidden, ConstMatrix dy,
                       ConstMatrix hidden, ConstMatrix state) const;

  int hidden_size() const { return width_; }
  Work work(bool state_gradient) const;

 private:
  const ParameterLayout* layout_;
  int inputs_, width_, outputs_;
  int hidden_weight_, hidden_bias_, output_weight_, output_bias_;
};

/// What a model is to see.
struct Sight {
  int glimpse_size = 0;    // D
  int num_classes = 0;     // C
  CanvasSize canvas = {};  // for grids and windows
  int patch_size = 0;      // of the retina, for pictures and metrics
  AnswerKind answer = AnswerKind::one_class;
  int max_symbols = 0;  // J: of a sequence
};

/// `recurrent`, and the baselines that see the whole canvas, `mlp` and `cnn`.
std::vector<std::string> model_kinds();

/// The recurrent attention model: its parts and the places of their parameters. Stateless.
class Model {
 public:
  /// Throws InputError naming the keys where the parts do not fit.
  Model(const AgentConfig& config, const Sight& sight);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const AgentConfig& config() const { return config_; }
  const ParameterLayout& layout() const { return layout_; }
  /// D: of the retina, or of the filters of a window.
  int glimpse_size() const { return filters ? filters->glimpse_size() : sight_.glimpse_size; }
  int num_classes() const { return sight_.num_classes; }
  CanvasSize canvas() const { return sight_.canvas; }
  /// J: of the longest sequence, where the answer is one.
  int max_symbols() const { return sight_.max_symbols; }
  /// T
  int num_glimpses() const;
  AnswerKind answer_kind() const { return sight_.answer; }
  /// Whether the core reads the whole canvas, or a network does: there are no looks.
  bool sees_canvas() const {
    return canvas_network != nullptr || kind_.family == GlimpseKind::Family::whole;
  }
  /// Whether a read of the states h_1 .. h_T weighs them.
  bool attends_over_states() const {
    return (hidden && config_.hidden.kind != "last") || (decoder && decoder->attends());
  }
  /// Of attention.glimpse.kind whole: rows and columns that the canvas is shrunk to.
  std::array<int, 2> whole_size() const;
  /// F: width of the features that the core reads.
  int feature_size() const;
  /// H: width of the core's state.
  int state_size() const;

  const GlimpseKind& glimpse_kind() const { return kind_; }
  bool learns_by(GlimpseKind::Learning learning) const { return kind_.learning == learning; }
  bool has_grid() const { return kind_.family == GlimpseKind::Family::grid; }
  /// The first glimpse whose location is learned by REINFORCE; T if none is.
  int first_action() const;
  /// The first step with a decision that is: of where to look, or of an action.
  int first_decision() const { return answer_kind() == AnswerKind::actions ? 0 : first_action(); }

  // Of a grid.
  int num_candidates() const { return static_cast<int>(places.shape()[0]); }
  /// Whether every candidate is looked at, and whether every one passes the glimpse network.
  bool looks_at_all_candidates() const;
  bool embeds_candidates() const;
  /// Whether each step passes one glimpse through the glimpse network.
  bool sees_one_glimpse() const;

  /// mu_1 = tanh(parameter) of a learned first glimpse.
  void first_mean(float* mean, std::span<const float> parameters) const;
  /// Deviation of the Gaussian policy at `progress` in [0, 1] of the training.
  float location_std(double progress, std::span<const float> parameters) const;
  /// Temperature of the distribution over a grid at `progress`.
  float temperature(double progress) const;
  /// Half the width and height of the finest patch, in location units.
  std::array<float, 2> patch_half_sides() const;

  /// Multiply-adds of a training episode.
  Work work() const;
  /// Multiply-adds x 2 of a training episode, forward and backward, in 10^9.
  double gflop_per_episode() const;

 private:
  struct Settled {};
  Model(const AgentConfig& config, const Sight& sight, Settled);
  Work look_work() const;
  Work answer_work() const;

  AgentConfig config_;
  GlimpseKind kind_;
  Sight sight_;
  ParameterLayout layout_;

 public:
  const Tensor<2> places;  // (G, 2): candidates of a grid; none without one
  const std::unique_ptr<const CanvasNetwork> canvas_network;  // of mlp and cnn, which have no looks
  const std::optional<const GaussianFilters> filters;         // of a window
  const std::optional<const GlimpseNetwork> glimpse_network;
  const std::optional<const InputGate> gate;  // attention.input
  const std::unique_ptr<const Core> core;
  const std::optional<const Locator> locator;           // none where a score places the glimpses
  const std::unique_ptr<const Score> score;             // addressing: content
  const std::unique_ptr<const HiddenAttention> hidden;  // where the answer is one class
  const std::optional<const LinearHead> classifier;     // of classes, or of actions
  const std::optional<const Decoder> decoder;           // where it is a sequence
  const std::optional<const LinearHead> baseline;       // where something may learn by REINFORCE
  const int first_location;  // parameter (1, 2); -1 where the first glimpse is not learned
  const int log_std;         // parameter (1, 1); -1 where the deviation is not learned
};

}  // namespace saccade
