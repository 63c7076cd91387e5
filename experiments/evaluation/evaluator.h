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
#include "experiments/evaluation/attention_weights.h"
#include "experiments/evaluation/coverage.h"
#include "nn/parallel.h"

namespace saccade {

/// Scenes that one worker takes at a time: part of what an evaluation's last bits depend on.
constexpr int kScenesAtATime = 100;

/// How scenes are looked at in an evaluation.
struct PassRequest {
  Readout readout = Readout::deterministic;
  Policy policy = nullptr;  // in place of the model's own, for every glimpse
  bool shuffled = false;    // each episode looks where another one did
  double progress = 1.0;    // of the training: places std and temperature
  int passes = 1;           // class probabilities are averaged over so many passes
  int beam = 1;             // of a decoder's search
  bool details = false;     // fill in Evaluation::details; of the last pass
  std::function<void(int scenes)> played = nullptr;  // told of so many more, by any of the threads
  AttentionWeights* attention = nullptr;  // of as many scenes, to be recorded; of the last pass
};

/// What is drawn of an evaluation. Errors and confusion are of classes: else there are none.
struct EvaluationDetails {
  std::vector<double> error_by_glimpse;  // (T), of the answer after so many glimpses
  std::vector<double> confusion;         // (C, C): scenes of a class (row) by the answer (column)
  MapSize map;
  std::vector<double> look_map;  // (rows, cols): weight of the finest patches there, mean of a look
};

/// What an evaluation found. Shares are in [0, 1].
struct Evaluation {
  int scenes = 0;
  int images = 0;  // that they show: fewer where some show the same digit
  double error = 0.0;
  double error_low = 0.0, error_high = 0.0;  // 95 % interval: see share_interval
  double on_target = 0.0;                    // weight of the looks inside a digit's box
  std::vector<double> on_target_by_glimpse;  // (T)
  double border = 0.0;    // weight of the looks at the edge: |x| or |y| of 0.98 and more
  double distance = 0.0;  // mean distance of a look to the nearest digit's centre, in half canvases
  // Share of the digit's box that the finest patches saw in an episode, of a ball that moves in a
  // look.
  double coverage = 0.0;
  double entropy = 0.0;  // nats, of what placed the looks, mean over the glimpses
  // Of sequences: edits (Levenshtein 1966) that would make right what was said, over all symbols
  // that were to be said.
  double symbol_error = 0.0;
  // Of attention over states: the weight of those after a look at the digit that was to be found,
  // or read out at that moment.
  double on_answer = 0.0;
  EvaluationDetails details;
};

struct Tally;

/// Looks at scenes 0, 1, ... of an environment with fixed weights. The result does not depend on
/// the number of workers or of ranks, which share the scenes. Keeps references to `model`,
/// `workers` and `ranks`.
class Evaluator {
 public:
  Evaluator(const Model& model, const EnvironmentFactory& environments, int scenes,
            std::uint64_t seed, Workers& workers, Ranks& ranks = alone());
  ~Evaluator();

  int scenes() const { return scenes_; }

  /// The same on all ranks. What is recorded of attention is of one rank alone. Throws Stopped on
  /// all ranks where any is asked to stop (base/stop.h).
  Evaluation run(std::span<const float> parameters, const PassRequest& request);

 private:
  void play(Rollout& rollout, int chunk, std::span<const float> parameters,
            const PassRequest& request);
  void gather_tallies();
  EvaluationDetails details() const;

  const Model& model_;
  Workers& workers_;
  Ranks& ranks_;
  int scenes_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Rollout>> rollouts_;  // one a worker
  std::vector<Tally> tallies_;                      // one a chunk
};

}  // namespace saccade
