#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/runs/finished_run.h"

namespace saccade {

/// A figure over seeds and where it may well lie: a 95 % interval. With one seed there is none:
/// `known` is false and both ends are the figure. An interval over the scenes of a test, which does
/// not say what another seed would do, is only where the name says so.
struct Estimate {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
  bool known = false;
};

/// One point of a learning curve: the error on the validation scenes, and what it has cost so far.
struct CurvePoint {
  double episodes = 0.0;
  double gflop = 0.0;    // of training; 0: not known
  double seconds = 0.0;  // evaluations included, mean over seeds
  Estimate error;
};

/// The share of each class among the answers to each class, rows are what was there.
struct Confusion {
  int classes = 0;
  std::vector<double> shares;  // (C, C); a row sums to 1, or to 0 where the class was not there
};

/// One of the values that a variant was tuned by, and how its runs did on the validation scenes.
struct Try {
  std::vector<std::string> values = {};             // one for each of Comparison::tuned_by
  std::vector<std::filesystem::path> folders = {};  // one a seed
  Estimate valid_error = {};                        // a run's least, over Variant::tuning_seeds
  bool chosen = false;
};

/// What became of the error where the same weights were made to look elsewhere.
struct Control {
  Metric metric;        // one of kControls
  Estimate error = {};  // over the seeds
  // Whether the variant's own error is clearly less: their 95 % intervals do not overlap, over the
  // seeds, or of one seed over its test scenes.
  bool beaten = true;
};

/// The runs of one configuration with different seeds, and what they came to. Errors and shares are
/// fractions on the test set by the single deterministic pass.
struct Variant {
  std::string label;                           // unique, for people
  std::vector<std::filesystem::path> folders;  // one a seed, in the order of the seeds
  std::vector<std::uint64_t> seeds;
  std::vector<double> errors;  // one a seed
  // The same with an interval over the scenes, where the run kept it; empty or one a seed.
  std::vector<Estimate> errors_over_scenes;

  Estimate mean;
  Estimate interquartile_mean;
  std::optional<Estimate> difference;  // of the error to the first variant, paired by seed
  // Where `difference` has no interval: of a run each, of the same seed if there is one, over the
  // scenes, which are the same.
  std::optional<Estimate> difference_over_scenes;
  std::optional<Estimate> improvement;  // P(a run has less error than one of the first variant)

  double episodes = 0.0;           // of training
  double gflop_per_episode = 0.0;  // of training, forward and backward; 0: not known
  double canvas_pixels = 0.0;      // under the looks of an episode, widest scale; 0: not known
  double seconds = 0.0;            // of a run, mean over seeds
  Estimate on_target;              // share of the looks' weight; only where `looks`

  std::vector<Control> controls;  // of kControls, those that all runs have

  bool looks = true;     // whether the model looks about at all; those that see the canvas do not
  int num_glimpses = 1;  // T
  std::vector<CurvePoint> curve;
  // The rest is of runs that kept test.json; else empty.
  std::vector<Estimate> error_by_glimpse;      // (T): if asked after so many glimpses
  std::vector<Estimate> on_target_by_glimpse;  // (T)
  Confusion confusion;
  LookMap look_map;

  std::vector<std::string> settings;  // one for each of Comparison::differing

  // Where it was tuned: what was tried, one of it chosen by the seeds that all of it has.
  std::vector<Try> tries;
  std::vector<std::uint64_t> tuning_seeds;
};

/// The error of one seed with its interval over the scenes, where that is known. With more seeds
/// the interval to quote is the mean's.
std::optional<Estimate> error_over_scenes(const Variant& variant);

/// The try of a tuned variant that stands for it.
const Try& chosen_try(const Variant& variant);

/// A folder that was given and not compared, and why.
struct LeftOut {
  std::filesystem::path folder;
  std::string reason;
};

/// Trained agents side by side. The first variant is the one that others are held against.
struct Comparison {
  std::string name = {};  // what all runs are named, such as a study; else empty
  std::vector<Variant> variants;
  std::vector<LeftOut> left_out;
  std::vector<std::string> differing;    // keys in which the variants' configurations differ
  std::vector<std::string> class_names;  // (C)
  int scenes = 0;                        // of a test
  int resamples = 0;                     // of the bootstrap
  std::vector<std::string> commands;     // that made the runs and this, in order

  // Keys of which each variant has the value that is best for it; they are none of `differing`.
  std::vector<std::string> tuned_by = {};
};

}  // namespace saccade
