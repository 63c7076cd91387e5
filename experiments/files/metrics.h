#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace saccade {

/// Where a metric is written, as bit flags.
enum Written : unsigned {
  kInMetrics = 1,  // metrics.csv, one row per logging step
  kInSummary = 2,  // summary.json of a finished run; those of test/ also in `eval --json`
  kInDetails = 4,  // test.json: data for the charts of a test
  kInCompare = 8,  // compare.csv and `compare --json`, mean over seeds
  kOnScreen = 16,
};

/// One row of the table of metrics.
struct MetricFacts {
  std::string_view name;
  std::string_view unit;  // empty: none. A share is in [0, 1]; the screen shows per cent
  unsigned written;
  std::string_view about;
};

/// All metrics. The columns of metrics.csv are in this order.
inline constexpr auto kMetrics = std::to_array<MetricFacts>({
    {"episodes", "episodes", kInMetrics | kInSummary | kInCompare | kOnScreen, "trained so far"},
    // Training: means over the episodes since the previous row
    {"train/loss", "", kInMetrics, "all that is minimised"},
    {"train/classifier_loss", "nats", kInMetrics, "cross-entropy of the answers"},
    {"train/reinforce_loss", "", kInMetrics, "- log probability x advantage, less the bonus"},
    {"train/baseline_loss", "", kInMetrics, "squared error of the baseline"},
    {"train/attention_penalty", "", kInMetrics, "coverage, rows and entropy of soft attention"},
    {"train/error", "share", kInMetrics | kOnScreen, "answered wrongly"},
    {"train/reward", "", kInMetrics, "the return of an episode's first look"},
    {"train/grad_norm", "", kInMetrics, "of the last update, before clipping"},
    {"train/learning_rate", "", kInMetrics, "of the last update"},
    {"train/location_std", "half canvases", kInMetrics, "of the Gaussian policy"},
    {"train/temperature", "", kInMetrics, "of the distribution over a grid"},
    // Validation scenes, with the averaged weights
    {"valid/error", "share", kInMetrics | kInSummary | kInCompare | kOnScreen,
     "in summary.json of the best checkpoint, in a comparison that of what was tried"},
    {"valid/looks", "looks", kInMetrics, "mean number before the answer; of agents that stop"},
    {"valid/symbol_error", "share", kInMetrics, "edits by symbol; of sequences"},
    // Looks: in metrics.csv on the validation scenes, in summary.json on the test scenes
    {"attention/on_target", "share", kInMetrics | kInSummary | kInCompare | kOnScreen,
     "of the looks' weight, inside a digit's box"},
    {"attention/border", "share", kInMetrics | kInSummary, "of the looks' weight, at the edge"},
    {"attention/distance", "half canvases", kInMetrics | kInSummary,
     "of a look to the nearest digit's centre"},
    {"attention/coverage", "share", kInMetrics | kInSummary, "of the digit's box that was seen"},
    {"attention/entropy", "nats", kInMetrics | kInSummary,
     "of the policy, also at looks that it does not place; in metrics.csv of training"},
    {"attention/on_answer", "share", kInMetrics | kInSummary | kOnScreen,
     "of the weight over the states, after looks at the answer"},
    {"time/episodes_per_second", "1/s", kInMetrics | kOnScreen, "of training alone"},
    {"time/elapsed", "s", kInMetrics | kInSummary | kInCompare, "evaluations included"},

    {"best_episodes", "episodes", kInSummary,
     "when valid/error, with the price of looks if any, was least"},
    {"episode/gflop", "GFLOP", kInSummary | kInCompare, "of training, forward and backward"},
    {"episode/canvas_pixels", "pixels", kInSummary | kInCompare, "under the looks, widest scale"},
    {"attention/on_target_by_glimpse", "share", kInSummary | kInDetails, "(T)"},
    {"attention/zoom", "pixels", kInSummary,
     "canvas pixels, along a side, in a pixel of the finest scale; mean"},
    {"attention/zoom_by_glimpse", "pixels", kInSummary | kOnScreen, "(T)"},
    {"attention/on_target_random", "share", kInSummary | kOnScreen, "of random looks"},
    // Test scenes, with the checkpoint that was best on the validation scenes; _low and _high are a
    // 95 % interval: Wilson's over the images, and in a comparison Student's t over seeds
    {"test/scenes", "scenes", kInSummary | kOnScreen, ""},
    {"test/images", "images", kInSummary | kOnScreen,
     "that the scenes show; the interval is over these"},
    {"test/error", "share", kInSummary | kInCompare | kOnScreen, "single deterministic pass"},
    {"test/error_low", "share", kInSummary | kInCompare | kOnScreen, ""},
    {"test/error_high", "share", kInSummary | kInCompare | kOnScreen, ""},
    {"test/error_beam", "share", kInSummary | kOnScreen, "beam search of a decoder"},
    {"test/error_beam_low", "share", kInSummary | kOnScreen, ""},
    {"test/error_beam_high", "share", kInSummary | kOnScreen, ""},
    {"test/error_sampled", "share", kInSummary | kOnScreen, "one pass of sampled looks"},
    {"test/error_sampled_low", "share", kInSummary | kOnScreen, ""},
    {"test/error_sampled_high", "share", kInSummary | kOnScreen, ""},
    {"test/error_averaged", "share", kInSummary | kOnScreen, "mean of sampled passes"},
    {"test/error_averaged_low", "share", kInSummary | kOnScreen, ""},
    {"test/error_averaged_high", "share", kInSummary | kOnScreen, ""},
    {"test/error_argmax", "share", kInSummary | kOnScreen, "most probable glimpse alone"},
    {"test/error_argmax_low", "share", kInSummary | kOnScreen, ""},
    {"test/error_argmax_high", "share", kInSummary | kOnScreen, ""},
    {"test/error_shuffled", "share", kInSummary | kInCompare | kOnScreen,
     "each looks where another did"},
    {"test/error_shuffled_low", "share", kInSummary | kInCompare | kOnScreen, ""},
    {"test/error_shuffled_high", "share", kInSummary | kInCompare | kOnScreen, ""},
    {"test/error_center", "share", kInSummary | kInCompare | kOnScreen,
     "looks at the centre alone"},
    {"test/error_center_low", "share", kInSummary | kInCompare | kOnScreen, ""},
    {"test/error_center_high", "share", kInSummary | kInCompare | kOnScreen, ""},
    {"test/error_random", "share", kInSummary | kInCompare | kOnScreen, "random looks"},
    {"test/error_random_low", "share", kInSummary | kInCompare | kOnScreen, ""},
    {"test/error_random_high", "share", kInSummary | kInCompare | kOnScreen, ""},
    {"test/stop_threshold", "", kInSummary | kOnScreen,
     "stops once the highest probability is above; or that of having stopped, if learned"},
    {"test/stopped_error", "share", kInSummary | kInCompare | kOnScreen, "when it stops there"},
    {"test/stopped_error_low", "share", kInSummary | kInCompare | kOnScreen, ""},
    {"test/stopped_error_high", "share", kInSummary | kInCompare | kOnScreen, ""},
    {"test/looks", "looks", kInSummary | kInCompare | kOnScreen, "until it stops, mean"},
    {"test/looks_low", "looks", kInSummary | kInCompare | kOnScreen, ""},
    {"test/looks_high", "looks", kInSummary | kInCompare | kOnScreen, ""},
    {"test/stopped_gflop", "GFLOP", kInSummary | kOnScreen,
     "of an episode until it stops, forward"},
    {"test/stopped_pixels", "pixels", kInSummary | kOnScreen,
     "under the looks until it stops, widest scale"},
    {"test/symbol_error", "share", kInSummary | kOnScreen, "edits by symbol; of sequences"},
    {"test/symbol_error_beam", "share", kInSummary | kOnScreen, "the same by beam search"},
    {"test/earned", "share", kInSummary, "of what could be; of actions"},

    {"test/error_by_glimpse", "share", kInDetails, "(T): if asked after so many glimpses"},
    {"test/confusion", "scenes", kInDetails, "(C, C): rows are the labels"},
    {"test/stopping", "", kInDetails, "error and mean looks by threshold; also in `eval --json`"},
    {"test/search", "", kInDetails, "error and mean looks by set size; also in `eval --json`"},
    {"test/other_scenes", "", kOnScreen,
     "settings of scenes and files of digits that are not as in training; in `eval --json`"},
    {"attention/look_map", "", kInDetails, "weight of the finest patches, mean of a look"},

    {"seeds", "runs", kInCompare, ""},
    {"failing_seeds", "runs", kInCompare, "with an error above twice the median of the seeds"},
    {"valid/error_low", "share", kInCompare, ""},
    {"valid/error_high", "share", kInCompare, ""},
    {"test/error_iqm", "share", kInCompare, "interquartile mean over seeds"},
    {"test/error_iqm_low", "share", kInCompare, ""},
    {"test/error_iqm_high", "share", kInCompare, ""},
    {"difference", "share", kInCompare | kOnScreen, "of the error to the first variant"},
    {"difference_low", "share", kInCompare | kOnScreen, ""},
    {"difference_high", "share", kInCompare | kOnScreen, ""},
    {"improvement_probability", "share", kInCompare | kOnScreen, "P(less error than the first)"},
    {"improvement_probability_low", "share", kInCompare | kOnScreen, ""},
    {"improvement_probability_high", "share", kInCompare | kOnScreen, ""},
    {"attention/on_target_low", "share", kInCompare, ""},
    {"attention/on_target_high", "share", kInCompare, ""},
});

/// A metric of the table. An unknown name as a literal does not compile.
class Metric {
 public:
  consteval Metric(const char* name)
      : place_(find(name)) {  // NOLINT: implicit, as it stands for
                              // its name
    if (place_ < 0) throw "no metric of this name in kMetrics";
  }
  /// Returns the metric of this name; throws std::logic_error if there is none.
  static Metric named(std::string_view name);
  static constexpr bool exists(std::string_view name) { return find(name) >= 0; }

  std::string name() const { return std::string(facts().name); }
  bool is_written(Written where) const { return (facts().written & where) != 0; }
  /// Returns the metric for an end of this one's interval: `name` + "_low", "_high". Throws
  /// std::logic_error if it has none.
  Metric low() const { return named(name() + "_low"); }
  Metric high() const { return named(name() + "_high"); }

  bool operator==(const Metric&) const = default;
  bool operator<(const Metric& other) const { return facts().name < other.facts().name; }

 private:
  explicit constexpr Metric(int place) : place_(place) {}
  // Returns the position in kMetrics; -1 if absent. Not a pointer, which the sanitizers' compiler
  // does not accept as a constant.
  static constexpr int find(std::string_view name) {
    for (std::size_t place = 0; place < kMetrics.size(); ++place)
      if (kMetrics[place].name == name) return static_cast<int>(place);
    return -1;
  }
  const MetricFacts& facts() const { return kMetrics[place_]; }

  int place_;
};

/// Measured values, in name order.
using MetricValues = std::map<Metric, double>;

}  // namespace saccade
