#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/model/model.h"
#include "experiments/config/config.h"
#include "experiments/evaluation/evaluator.h"
#include "experiments/evaluation/stopping.h"
#include "experiments/files/metrics.h"
#include "experiments/files/progress_bar.h"

namespace saccade {

/// One way of looking at the test scenes with the same weights, and its result.
struct TestPass {
  std::string label;  // for the screen
  Metric metric;      // of its error; has an interval
  PassRequest request;
  Evaluation result;
};

/// How to test an agent that stops as soon as it is sure.
struct StopRequest {
  Evaluator* valid = nullptr;            // of the validation scenes; null: it is not tested so
  std::optional<double> threshold = {};  // in (0, 1); otherwise that of an agent that stops by
                                         // itself, or chosen on these scenes
  StopTarget target = {};                // for this
};

/// The result.
struct StopReport {
  StopCurves curves;
  double threshold = 1.0;
  StopPoint point = {};  // at the threshold, on the test scenes
  EpisodeCost cost;
};

/// Results of a trained agent on the test scenes. The first pass is deterministic; its error is the
/// one to quote. Further passes, as far as the model has them: sampled looks and the mean over
/// several such passes, the argmax of a soft distribution, and ablations that show whether looking
/// matters: random, central and shuffled looks, where each episode looks where another one did.
struct TestReport {
  std::vector<TestPass> passes;
  std::optional<StopReport> stopping = {};     // if it was requested and the agent may stop
  std::optional<SetSizeReport> searched = {};  // of a visual search, at the threshold of `stopping`

  const Evaluation& deterministic() const { return passes.front().result; }
};

/// Tests an agent that may stop, if `stop` names the validation scenes, also as one that stops as
/// soon as it is sure. Throws InputError as check_threshold, check_target and chosen_threshold do,
/// before the test scenes are read. `config` gives the number of averaged passes and the beam
/// width. `attention`, if any, receives that of the deterministic pass; `on_progress` receives the
/// progress over the scenes of all passes.
TestReport test_agent(const Model& model, std::span<const float> parameters, Evaluator& evaluator,
                      const EvaluationConfig& config, AttentionWeights* attention = nullptr,
                      const ProgressCallback& on_progress = nullptr, const StopRequest& stop = {});

/// Number of passes over the test scenes that test_agent makes.
int test_passes(const Model& model, const EvaluationConfig& config);

/// The passes of a test by the metric of their error, in table order.
inline constexpr std::array<Metric, 8> kPasses = {
    "test/error",        "test/error_beam",     "test/error_sampled", "test/error_averaged",
    "test/error_argmax", "test/error_shuffled", "test/error_center",  "test/error_random"};
/// Returns the screen label of a pass.
std::string label_of(Metric pass, const EvaluationConfig& config);

/// The table of a test for the screen. Shares are fractions.
struct TestTable {
  struct Line {
    std::string label;
    double error, low, high;
    std::optional<double> symbol_error = {}, on_target = {};  // blank if unknown
  };
  int scenes = 0, images = 0;                        // images: 0 if not kept
  bool acts = false, spells = false, looks = false;  // of the agent
  std::vector<Line> lines;
  std::optional<double> on_answer;
  // A line of an agent that stops as soon as it is sure.
  struct Stopped {
    double threshold;
    StopPoint point;
  };
  std::optional<Stopped> stopped = {};
  std::vector<double> zooms = {};  // (T): mean of each look; empty without a zoom
};
/// Formats in per cent.
std::string to_text(const TestTable& table);

TestTable to_table(const TestReport& report, const Model& model);

/// The report of an agent that stops as soon as it is sure, for the screen: error and mean looks at
/// some thresholds, beside those of always k looks and of the oracle.
std::string to_text(const StopReport& report);

/// Returns the metrics for summary.json, shares as fractions: test/error, test/error_low, ...; for
/// sequences also test/symbol_error, for actions test/earned, for attention over states
/// attention/on_answer.
MetricValues to_metrics(const TestReport& report, const Model& model);

/// Returns the mean zoom of each look of the first pass (T), empty for agents without a zoom.
std::vector<double> zooms_of(const TestReport& report, const Model& model);

/// Returns the chart data of the first pass as JSON: attention/on_target_by_glimpse,
/// test/error_by_glimpse, test/confusion (counts, rows are the true class), attention/look_map and,
/// if they were measured, test/stopping and test/search as to_json writes them.
std::string to_details(const TestReport& report, const std::vector<std::string>& class_names);

/// {"thresholds": (K), "test": points (K), "valid": points (K), "always": points (T), "oracle":
/// points (1)}, where points are {"error": [], "error_low": [], "error_high": [], "looks": [],
/// "looks_low": [], "looks_high": []}.
nlohmann::ordered_json to_json(const StopCurves& curves);

}  // namespace saccade
