#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/runs/finished_run.h"

namespace saccade {

/// A value over seeds with its 95 % interval. With one seed there is no interval: `known` is false
/// and both ends equal the value. Intervals over the scenes of a test, which say nothing about
/// other seeds, appear only where the name says so.
struct Estimate {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
  bool known = false;
};

/// One point of a learning curve: the error on the validation scenes, and the cost so far.
struct CurvePoint {
  double episodes = 0.0;
  double gflop = 0.0;    // of training; 0: unknown
  double seconds = 0.0;  // including evaluations, mean over seeds
  Estimate error;
};

/// Share of each answer among the scenes of each class; rows are the true class.
struct Confusion {
  int classes = 0;
  std::vector<double> shares;  // (C, C); a row sums to 1, or to 0 if the class did not occur
};

/// The learning curve of one run: the error on the validation scenes, at the costs of the first
/// points of Variant::curve.
using RunCurve = std::vector<double>;

/// One of the values a variant was tuned over, and its validation results.
struct Try {
  std::vector<std::string> values = {};             // one for each of Comparison::tuned_by
  std::vector<std::filesystem::path> folders = {};  // one per seed
  Estimate valid_error = {};                        // lowest error, over tuning_seeds
  bool chosen = false;
};

/// The error with the same weights made to look elsewhere.
struct Control {
  Metric metric;        // one of kControls
  Estimate error = {};  // over seeds
  // Whether the variant's own error is clearly lower: the 95 % intervals do not overlap; over
  // seeds, or for a single seed, and for seeds that all differ by the same, over the test scenes.
  bool beaten = true;
};

/// How the runs of a variant do when they stop as soon as they are sure: over seeds, or for a
/// single seed over the scenes of its test.
struct StopEstimate {
  Estimate error;  // a share
  Estimate looks;  // mean number of looks
};

struct Stopping {
  bool over_scenes = false;               // the intervals
  std::vector<double> thresholds = {};    // (K), ascending
  std::vector<StopEstimate> curve = {};   // (K)
  std::vector<StopEstimate> always = {};  // (T): after k looks
  StopEstimate oracle = {};               // at the first right answer
  std::vector<double> chosen = {};  // one threshold per seed, chosen on its validation scenes,
                                    // or the agent's own
  bool own = false;                 // the agents stop by themselves, at these
  StopEstimate stopped = {};        // at these
};

/// The runs of one configuration with different seeds, and their results. Errors and shares are
/// fractions on the test set, for the single deterministic pass.
struct Variant {
  std::string label;                           // unique, for display
  std::vector<std::filesystem::path> folders;  // one per seed, in seed order
  std::vector<std::uint64_t> seeds;
  std::vector<double> errors;  // one per seed
  // The same with an interval over the scenes, if the run kept it; empty or one per seed.
  std::vector<Estimate> errors_over_scenes;

  Estimate mean;
  Estimate interquartile_mean;
  // Of the error from the first variant's: of the common seeds, paired, or of the two means if
  // there are none or a single pair says less. Its interval is over seeds. Not set for the first
  // variant.
  std::optional<Estimate> difference;
  // Set if `difference` has no interval: between one run of each, with the same seed if possible,
  // over their common scenes.
  std::optional<Estimate> difference_over_scenes;
  std::optional<Estimate> improvement;  // P(a run has a lower error than one of the first variant)

  double episodes = 0.0;           // of training
  double gflop_per_episode = 0.0;  // of training, forward and backward; 0: unknown
  double canvas_pixels = 0.0;      // covered by the looks of an episode at the widest scale; 0:
                                   // unknown
  double seconds = 0.0;            // of a run, mean over seeds
  Estimate on_target;              // share of look weight; only if `looks`

  std::vector<Control> controls;  // those of kControls that all runs have

  bool looks = true;     // false for models that read the whole canvas
  int num_glimpses = 1;  // T
  std::vector<CurvePoint> curve;
  std::vector<RunCurve> run_curves;  // one per seed
  // The rest requires that the runs kept test.json; otherwise empty.
  std::vector<Estimate> error_by_glimpse;      // (T): if answered after that many glimpses
  std::vector<Estimate> on_target_by_glimpse;  // (T), or to the last look that an agent took
  Confusion confusion;
  LookMap look_map;
  std::optional<Stopping> stopping;  // if all its runs may stop before the last look

  std::vector<std::string> settings;  // one for each of Comparison::differing
  // In what the scenes of its test are not those of its training; usually nothing.
  std::vector<Difference> from_training;

  // If the variant was tuned: the tries. One is chosen by the seeds that all of them have.
  std::vector<Try> tries;
  std::vector<std::uint64_t> tuning_seeds;
};

/// Returns the error of a single seed with its interval over the scenes, if known. With more seeds,
/// quote the interval of the mean instead.
std::optional<Estimate> error_over_scenes(const Variant& variant);

/// Returns the try that was chosen for a tuned variant.
const Try& chosen_try(const Variant& variant);

/// A folder that was given but not compared, and the reason.
struct LeftOut {
  std::filesystem::path folder;
  std::string reason;
};

/// A comparison of trained agents. The first variant is the reference.
struct Comparison {
  std::string name = {};  // common name of all runs, such as a study's; otherwise empty
  std::vector<Variant> variants;
  std::vector<LeftOut> left_out;
  std::vector<std::string> differing;    // keys in which the variants' configurations differ
  std::vector<std::string> class_names;  // (C)
  int scenes = 0;                        // in a test
  int resamples = 0;                     // of the bootstrap
  std::vector<std::string> commands;     // that made the runs and this comparison, in order

  // Keys for which each variant uses its own best value; they are not in `differing`.
  std::vector<std::string> tuned_by = {};
};

}  // namespace saccade
