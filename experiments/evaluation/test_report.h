#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "agent/model/model.h"
#include "experiments/config/config.h"
#include "experiments/evaluation/evaluator.h"
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

/// Results of a trained agent on the test scenes. The first pass is deterministic; its error is the
/// one to quote. Further passes, as far as the model has them: sampled looks and the mean over
/// several such passes, the argmax of a soft distribution, and ablations that show whether looking
/// matters: random, central and shuffled looks, where each episode looks where another one did.
struct TestReport {
  std::vector<TestPass> passes;

  const Evaluation& deterministic() const { return passes.front().result; }
};

/// `config` gives the number of averaged passes and the beam width. `attention`, if any, receives
/// that of the deterministic pass; `on_progress` receives the progress over the scenes of all
/// passes.
TestReport test_agent(const Model& model, std::span<const float> parameters, Evaluator& evaluator,
                      const EvaluationConfig& config, AttentionWeights* attention = nullptr,
                      const ProgressCallback& on_progress = nullptr);

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
  std::vector<double> zooms = {};  // (T): mean of each look; empty without a zoom
};
/// Formats in per cent.
std::string to_text(const TestTable& table);

TestTable to_table(const TestReport& report, const Model& model);

/// Returns the metrics for summary.json, shares as fractions: test/error, test/error_low, ...; for
/// sequences also test/symbol_error, for actions test/earned, for attention over states
/// attention/on_answer.
MetricValues to_metrics(const TestReport& report, const Model& model);

/// Returns the mean zoom of each look of the first pass (T), empty for agents without a zoom.
std::vector<double> zooms_of(const TestReport& report, const Model& model);

/// Returns the chart data of the first pass as JSON: attention/on_target_by_glimpse,
/// test/error_by_glimpse, test/confusion (counts, rows are the true class) and attention/look_map.
std::string to_details(const TestReport& report, const std::vector<std::string>& class_names);

}  // namespace saccade
