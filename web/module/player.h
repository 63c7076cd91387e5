#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/learning/checkpoint.h"
#include "agent/model/rollout.h"
#include "experiments/config/config.h"
#include "experiments/files/npz.h"
#include "experiments/task/task.h"

namespace saccade {

/// Whether each look of the agent goes to one place that may be given.
bool looks_at_points(const LookTraits& look);

/// How a player looks at the canvas.
struct PlayOptions {
  bool random = false;            // the looks are random; otherwise the agent's own
  bool samples = false;           // the looks of a hard agent are sampled; otherwise its means
  std::uint64_t seed = 0;         // of what is random
  std::span<const float> places;  // (given, L): the first looks, at these places
  // In place of what the agent has at the end of its training (Player::exploration).
  std::optional<float> std = {}, temperature = {};
};

/// A trained agent and the scene before it, one at a time.
class Player {
 public:
  /// `weights` is a checkpoint with the averaged weights of `config`. The scenes are made of the
  /// digits of `digits.test`, which may be replaced between scenes. Throws InputError if the parts
  /// do not fit, or for a task whose scenes change while they are looked at or have no canvas.
  Player(const Config& config, std::shared_ptr<Digits> digits, const Checkpoint& weights);

  const Task& task() const { return task_; }

  /// Shows scene `number` of evaluation scenes with this seed, in a scene of these settings, which
  /// must have the canvas and the answers of the agent's own. In `digit_order`, scene n shows digit
  /// n of the digits; otherwise a random one. Throws InputError as SceneMaker does.
  const SceneFacts& show(std::uint64_t number, std::uint64_t seed, const SceneConfig& scene,
                         bool digit_order);
  /// The image (rows, cols, channels) of a digit of which scenes are made; may be written. Throws
  /// InputError for another digit than there are.
  std::span<std::uint8_t> digit(int index);
  /// Its class. Throws InputError for another digit or class than there are.
  int label(int index) const;
  void set_label(int index, int label);
  /// The canvas (channels, rows, cols) that is looked at; may be written.
  std::vector<std::uint8_t>& canvas() { return canvas_; }

  /// What the retina sees at a location (L), between pixels if the agent's own looks do: (D),
  /// pixels in [0, 1]. Valid until the next call.
  std::span<const float> look(const float* location);

  /// An episode on the canvas. The arrays are those of AttentionWeights without the dimension of
  /// scenes, with everything kept, and
  ///   means (T, 2)      points that are learned: the place where the agent meant to look, before
  ///                     the spread; NaN before the first look that it learns to place
  ///   deviations (T, 2) beside them: the standard deviations of a sampled place, by x and by y
  ///   sureness (T)      what is compared with a threshold to stop after each look; of one class,
  ///                     and of sequences of an agent that stops by itself
  ///   gaze_places (T, K, 2), gaze_weights (T, K)  where each look went, with weights that sum to 1
  ///   gaze_size (T, 2)  half its width and half its height
  ///   exposure (T)      visibility of a place with weight w: min(1, w exposure)
  const std::vector<NpzArray>& play(const PlayOptions& options);
  /// The answer in the last episode as text, as scenes have theirs.
  std::string spoken_answer() const;
  /// The standard deviation of a sampled look in the last episode, in half canvases; of
  /// relative moves, in steps.
  float spread() const { return rollout_.look->exploration.std; }
  /// How widely the agent looks about at the end of its training.
  Exploration exploration() const;

 private:
  std::unique_ptr<Environment> on_canvas() const;
  void check_digit(int index) const;
  void add_means();

  const std::shared_ptr<Digits> digits_;
  const Task task_;
  Tensor<1> weights_;
  std::vector<std::uint8_t> canvas_;
  std::unique_ptr<Environment> eye_;
  Rollout rollout_;
  SceneFacts facts_;
  std::vector<float> glimpse_, slopes_;
  std::vector<NpzArray> arrays_;
};

}  // namespace saccade
