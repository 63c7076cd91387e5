#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/own_settings.h"
#include "base/setting.h"
#include "nn/parallel.h"
#include "nn/tensor.h"

namespace saccade {

/// Keys: training.*
struct OptimizerConfig {
  std::string optimizer = "adam";  // a name of optimizers()
  double learning_rate = 1e-3;     // > 0
  std::string schedule = "cosine";
  double warmup = 0.02;               // share of training, in [0, 1)
  double final_learning_rate = 1e-5;  // where the schedule ends, if it does, in [0, learning_rate]
  double weight_decay = 0.0;          // adamw: decoupled; adam, sgd: added to the gradient; >= 0
  double momentum = 0.9;              // without a second moment, in [0, 1)
  double beta1 = 0.9;                 // adam, in [0, 1)
  double beta2 = 0.999;               // adam, in [0, 1)
  double epsilon = 1e-8;              // adam, > 0
  double max_grad_norm = 5.0;         // clipping by global norm; 0 turns it off
  double ema = 0.999;  // decay of the averaged weights, in [0, 1); 0: the last weights
  OwnValues own = {};  // training.<optimizer>.*, of registered optimisers
};

Settings describe(OptimizerConfig& config);

/// Allowed factors on the learning rate that a schedule gives.
inline constexpr Interval kRateFactor = closed(0, 1e6);

/// Throws SettingError for an unknown optimizer or schedule, and for an end of the
/// schedule that is above its beginning or that it cannot reach.
void check(const OptimizerConfig& config);

/// `adam` (Kingma and Ba 2015), `adamw` (Loshchilov and Hutter 2019), `sgd` (with momentum).
std::vector<std::string> optimizers();

/// Parameters begin .. end - 1 of a block, which learn at `factor` times the learning rate. Those
/// of factor 0 stay, and their gradient does not count in the norm.
struct RateRange {
  std::size_t begin, end;
  double factor;
};

/// What an update of parameters at one rate needs, the same for all of them.
struct UpdateCoefficients {
  float clip;            // factor on the gradient
  float rate;            // step size, with the bias corrections of the moments
  float epsilon;         // scaled as the bias correction demands
  float keep;            // factor on the weights: decoupled decay
  float decay;           // weight decay added to the gradient
  float momentum;        // sgd
  float new1, new2;      // adam: 1 - beta, rounded once
  float average;         // share of the new weights in the averaged ones
  const OwnValues* own;  // training.<optimizer>.*, of registered optimisers
};

/// Parameters that are updated, and what belongs to each.
struct ParameterBlock {
  std::size_t size;
  float* weight;
  const float* gradient;
  float* first;     // moment
  float* second;    // moment, of kinds that have one
  float* averaged;  // weight
};

/// An optimiser, named by training.optimizer.
struct OptimizerKind {
  /// Updates a block: its weights, moments and averaged weights. Called for blocks of any size by
  /// several threads, so it must treat each parameter by itself.
  void (*update)(const ParameterBlock& block, const UpdateCoefficients& k) = nullptr;
  bool has_second = false;       // moment; both are then corrected for their bias
  bool decoupled_decay = false;  // of the weights, not added to the gradient
};

/// Adds an optimiser of the program that calls it, before anything else is called, with settings
/// training.<name>.<..>. Throws as NameTable::add and add_own_settings do, and InputError for one
/// without `update`.
void register_optimizer(const std::string& name, const OptimizerKind& kind,
                        const std::vector<OwnSetting>& settings = {});

/// One optimiser over one flat parameter block. Works in chunks of a fixed size that the workers
/// share, so its result does not depend on their number; allocates nothing in a step.
class Optimizer {
 public:
  /// `rates` follow one another from 0 to `size`; none: one rate for all. Throws InputError as
  /// check() does.
  Optimizer(OptimizerConfig config, std::size_t size, const std::vector<RateRange>& rates = {});

  /// Sums the gradients of all lanes pairwise in a fixed tree (the first block is overwritten by
  /// the sum), clips it by its global norm, updates `parameters` and the averaged weights.
  /// `progress` in [0, 1] places the schedule. Returns the norm before clipping; if that is not
  /// finite nothing is changed.
  double step(Workers& workers, std::span<float> parameters, std::span<Tensor<1>* const> gradients,
              double progress);

  /// What the schedule gives, times rate_factor.
  double learning_rate(double progress) const;

  /// State for a checkpoint: `averaged` (EMA weights), `first` (momentum) and `second` moments.
  Tensor<1> averaged;
  Tensor<1> first;
  Tensor<1> second;
  std::int64_t updates = 0;
  double rate_factor = 1.0;  // in kRateFactor

 private:
  struct alignas(64) Squares {  // a cache line, so that no two threads write the same
    double sum = 0.0;
  };
  UpdateCoefficients coefficients(double factor, double norm, double progress) const;
  double reduce(Workers& workers, std::span<Tensor<1>* const> gradients);

  OptimizerConfig config_;
  std::vector<RateRange> rates_;                  // neighbours differ
  std::vector<UpdateCoefficients> coefficients_;  // of each
  std::vector<Squares> chunk_squares_;            // of the gradient
};

}  // namespace saccade
