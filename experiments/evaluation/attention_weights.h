#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "experiments/files/npz.h"

namespace saccade {

/// What is kept of an episode.
enum class Kept { attention, everything };

/// What is kept of the scenes besides, with everything.
struct KeptFacts {
  bool canvases = false;
  int boxes = 0;       // K
  bool moves = false;  // they change from look to look
};

/// All attention of an evaluation, scene by scene, as arrays by name. N scenes of T glimpses; those
/// that a model has:
///   locations (N, T, 2)         where it looked: (x, y) in [-1, 1], of soft kinds the expectation
///   glimpse_weights (N, T, G)   of a grid: the weight of each candidate
///   windows (N, T, 5)           of a window: its numbers (attention/gaussian_filters.h)
///   gate (N, T, F)              of attention.input: the gate on each number that the core reads
///   hidden (N, r, T)            of attention.hidden: of the last read, r hops over the T states
///   alignment (N, J, T)         of a decoder: of each symbol over the states; 0 after the end mark
///   core (N, T, L, T)           of core attention: L = depth x heads rows a step; 0 for later
///   steps labels (N) or (N, J)        the class or the symbols that were right; none of actions
///   answers (N), (N, J), (N, T) the class, the symbols or the actions that were said
///   errors (N)                  the share of what could be earned that was not, in [0, 1]
/// and of everything also
///   probabilities (N, T, C)     of the classes or actions after each look; (N, J, C) of symbols
///   glimpses (N, T, D)          what was seen, in the order of the retina: (scale, channel, row,
///                               col); of many places at once their weighted mean
///   states (N, T, H)            of the core, after each look
///   log_probabilities (N, T)    log pi of each look (Look::log_probability), where some are drawn
///   baselines (N, T)            b_t of the state before each look, where one is learned and reads
///                               the state alone
///   canvases (N, pixels)        if asked for: what is looked at, in [0, 1]; of what moves (N, T,
///                               pixels)
///   boxes (N, K, 4)             if asked for: x, y, width, height of K digits in pixels, 0 where
///                               none is; of what moves (N, T, K, 4)
///
/// Symbols are those before the end mark, and then -1. labels, answers and boxes are int32, all
/// else float32.
class AttentionWeights {
 public:
  /// Throws InputError naming --episodes, or of everything `scenes`, if the arrays take more than
  /// 2 GB.
  AttentionWeights(const Model& model, int scenes, Kept kept = Kept::attention,
                   const KeptFacts& facts = {});

  /// Takes episode b of a rollout as scene number `scene`. Threads may call it at once, for
  /// different scenes.
  void record(const Rollout& rollout, int b, int scene);

  /// The same of what a rollout does not have by itself, where there is room for it: baselines
  /// (T, B), and canvases (T, B, pixels).
  void record_baselines(const Tensor<2>& baselines, int b, int scene);
  void record_canvases(const Tensor<3>& canvases, int b, int scene);
  bool keeps(const char* name) const;

  /// Writes an .npz file, over what is there, and ends this.
  void write(const std::filesystem::path& path);
  /// Hands over the arrays, and ends this.
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
