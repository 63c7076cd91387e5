#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "experiments/files/npz.h"

namespace saccade {

/// What to keep of an episode.
enum class Kept { attention, everything };

/// Which scene facts to keep in addition to `everything`.
struct KeptFacts {
  bool canvases = false;
  int boxes = 0;       // K
  bool moves = false;  // they change from look to look
};

/// The attention of an evaluation, scene by scene, as named arrays. N scenes of T glimpses; a model
/// has those of the following that apply to it:
///   locations (N, T, 2)         where it looked: (x, y) in [-1, 1]; soft kinds: the expectation;
///                               with a zoom (N, T, 3): (x, y, u), u = 1 the widest
///   glimpse_weights (N, T, G)   grid: the weight of each candidate
///   windows (N, T, 5)           window: its parameters (attention/gaussian_filters.h)
///   gate (N, T, F)              attention.input: the gate on each input of the core
///   hidden (N, r, T)            attention.hidden: the last read, r hops over the T states
///   alignment (N, J, T)         decoder: each symbol over the states; 0 after the end mark
///   core (N, T, L, T)           core attention: L = depth x heads rows per step; 0 for later
///                               steps
///   labels (N) or (N, J)        the true class or symbols; none for actions
///   answers (N), (N, J), (N, T) the predicted class or symbols, or the actions taken
///   looks (N)                   attention.glimpse.stop: the number of looks before the answer;
///                               everything by look is of all T, as if it had gone on
///   errors (N)                  the missed share of the possible reward, in [0, 1]
/// and with Kept::everything also
///   probabilities (N, T, C)     of the classes or actions after each look; (N, J, C) of symbols
///   glimpses (N, T, D)          the observation, in the order of the retina: (scale, channel, row,
///                               col); their weighted mean if a look has many places
///   stop_chances (N, T)         attention.glimpse.stop: of stopping after each look, if it came
///                               so far; of a sampled pass 0 or 1
///   states (N, T, H)            of the core, after each look
///   log_probabilities (N, T)    log pi of each look (Look::log_probability), if any are sampled
///   baselines (N, T)            b_t of the state before each look, if it is learned and reads
///                               only the state
///   canvases (N, pixels)        on request: the canvas, in [0, 1]; if it moves, (N, T, pixels)
///   boxes (N, K, 4)             on request: x, y, width, height of K digits in pixels, 0 for
///                               none; if they move, (N, T, K, 4)
///
/// Symbols are those before the end mark, padded with -1. labels, answers, looks and boxes are
/// int32, all others float32.
class AttentionWeights {
 public:
  /// Throws InputError naming --episodes, or with Kept::everything `scenes`, if the arrays exceed 2
  /// GB.
  AttentionWeights(const Model& model, int scenes, Kept kept = Kept::attention,
                   const KeptFacts& facts = {});

  /// Records episode b of a rollout as scene number `scene`. Thread-safe for different scenes.
  void record(const Rollout& rollout, int b, int scene);

  /// Records what a rollout does not contain, if the arrays have room for it: baselines (T, B), and
  /// canvases (T, B, pixels).
  void record_baselines(const Tensor<2>& baselines, int b, int scene);
  void record_canvases(const Tensor<3>& canvases, int b, int scene);
  bool keeps(const char* name) const;

  /// Writes an .npz file, replacing an existing one. This object must not be used afterwards.
  void write(const std::filesystem::path& path);
  /// Returns the arrays. This object must not be used afterwards.
  std::vector<NpzArray> take() { return std::exchange(arrays_, {}); }

 private:
  void add(const char* name, std::vector<std::size_t> shape_of_scene);
  void add_answers(const Model& model);
  float* floats(const char* name, int scene);
  int* ints(const char* name, int scene);
  void record_looks(const Rollout& rollout, int b, int scene);
  void record_states(const Rollout& rollout, int b, int scene);
  void record_everything(const Rollout& rollout, int b, int scene);
  void record_facts(const Rollout& rollout, int b, int scene);
  void record_core(const Rollout& rollout, int b, int scene);

  const Model& model_;
  std::size_t scenes_;
  KeptFacts facts_;
  std::vector<NpzArray> arrays_;
};

}  // namespace saccade
