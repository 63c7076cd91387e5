#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "agent/learning/learner.h"
#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "base/ranks.h"
#include "experiments/config/config.h"
#include "experiments/evaluation/attention_weights.h"
#include "experiments/evaluation/coverage.h"
#include "experiments/evaluation/set_sizes.h"
#include "experiments/evaluation/stopping.h"
#include "nn/parallel.h"

namespace saccade {

/// Options of one pass over the evaluation scenes.
struct PassRequest {
  SamplingMode sampling = SamplingMode::deterministic;
  Policy policy = nullptr;  // replaces the model's own for every glimpse
  bool shuffled = false;    // each episode looks where another one did
  double progress = 1.0;    // training progress, which sets std and temperature
  int passes = 1;           // class probabilities are averaged over this many passes
  int beam = 1;             // beam width of a decoder
  bool details = false;     // fill in Evaluation::details, from the last pass
  std::function<void(int scenes)> played = nullptr;  // reports scenes played; called by any thread
  AttentionWeights* attention = nullptr;  // of the same number of scenes; records the last pass
};

/// Data for the charts of an evaluation. Errors and confusion are only for classes, otherwise
/// empty.
struct EvaluationDetails {
  std::vector<double> error_by_glimpse;  // (T), if answered after that many glimpses
  std::vector<double> confusion;         // (C, C): scenes by class (row) and answer (column)
  MapSize map;
  std::vector<double> look_map;  // (rows, cols): mean weight of a look's finest patches
  LookOutcomes outcomes = {};    // of the last pass, if the agent may stop before its last look
  std::vector<SearchedScene> searched = {};  // (N): of a visual search, else empty
};

/// Result of an evaluation. Shares are in [0, 1]. Of an agent that stops early, everything is that
/// of the looks up to its stop, and of its answer there.
struct Evaluation {
  int scenes = 0;
  int images = 0;  // distinct images shown: fewer than scenes if some show the same digit
  double error = 0.0;
  double error_low = 0.0, error_high = 0.0;  // 95 % interval: see share_interval
  double looks = 0.0;                        // mean number of looks
  double on_target = 0.0;                    // weight of the looks inside a digit's box
  std::vector<double> on_target_by_glimpse;  // (T), of the episodes that came so far; 0 if none did
  std::vector<double> zoom_by_glimpse;       // (T), mean (Gaze::zoom) of these
  double zoom = 0.0;                         // mean over the looks
  double border = 0.0;                       // weight of the looks at the edge: |x| or |y| >= 0.98
  double distance = 0.0;  // mean distance of a look to the nearest digit's centre, in half canvases
  // Share of the digit's box that the finest patches saw in an episode; for a moving ball, in one
  // look.
  double coverage = 0.0;
  double entropy = 0.0;  // nats, of the distribution that placed the looks, mean over the glimpses
  // For sequences: edits (Levenshtein 1966) needed to correct the predictions, as a fraction of all
  // symbols of the labels.
  double symbol_error = 0.0;
  // For attention over states: weight of the states after looks at the digit that was to be found,
  // or to be read out at that moment.
  double on_answer = 0.0;
  EvaluationDetails details;
};

struct Tally;

/// Evaluates fixed weights on scenes 0, 1, ... of an environment. The result does not depend on the
/// number of workers or of ranks, which share the scenes. Keeps references to `model`, `workers`
/// and `ranks`.
class Evaluator {
 public:
  Evaluator(const Model& model, const EnvironmentFactory& environments, int scenes,
            std::uint64_t seed, Workers& workers, Ranks& ranks = alone());
  ~Evaluator();

  int scenes() const { return scenes_; }

  /// Called on all ranks; returns the same on all. Attention can be recorded only with a single
  /// rank. Throws Stopped on all ranks if any is asked to stop (base/stop.h).
  Evaluation run(std::span<const float> parameters, const PassRequest& request);

 private:
  void play(Rollout& rollout, int chunk, std::span<const float> parameters,
            const PassRequest& request);
  void gather_tallies();
  EvaluationDetails details(double looks) const;

  const Model& model_;
  Workers& workers_;
  Ranks& ranks_;
  int scenes_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Rollout>> rollouts_;  // one per worker
  std::vector<Tally> tallies_;                      // one per chunk
};

}  // namespace saccade
