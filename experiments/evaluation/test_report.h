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

/// One way of looking at the test scenes with the same weights, and what came of it.
struct TestPass {
  std::string label;  // for the screen
  Metric metric;      // of its error; it has an interval
  PassRequest request;
  Evaluation result;
};

/// The figures of a trained agent on the test scenes. The first pass is the deterministic one,
/// whose error is the figure to quote. Then, where the model has them: sampled looks and the mean
/// over several such passes, the argmax of a soft distribution, and the ablations that show whether
/// looking matters: random and central looks, and shuffled ones, where each episode looks where
/// another one did.
struct TestReport {
  std::vector<TestPass> passes;

  const Evaluation& deterministic() const { return passes.front().result; }
};

/// `config` says how many passes are averaged, and how wide a beam is. `attention`, if any, gets
/// that of the deterministic pass; `told` hears of the scenes of all passes.
TestReport test_agent(const Model& model, std::span<const float> parameters, Evaluator& evaluator,
                      const EvaluationConfig& config, AttentionWeights* attention = nullptr,
                      const Told& told = nullptr);

/// Passes over the test scenes that test_agent makes.
int test_passes(const Model& model, const EvaluationConfig& config);

/// The passes of a test by the metric of their error, in the order of its table.
inline constexpr std::array<Metric, 8> kPasses = {
    "test/error",        "test/error_beam",     "test/error_sampled", "test/error_averaged",
    "test/error_argmax", "test/error_shuffled", "test/error_center",  "test/error_random"};
/// What the screen calls a pass.
std::string label_of(Metric pass, const EvaluationConfig& config);

/// What the screen shows of a test. Shares are fractions.
struct TestTable {
  struct Line {
    std::string label;
    double error, low, high;
    std::optional<double> symbol_error = {}, on_target = {};  // what is not known is left blank
  };
  int scenes = 0, images = 0;                        // images: 0 where that was not kept
  bool acts = false, spells = false, looks = false;  // the agent
  std::vector<Line> lines;
  std::optional<double> on_answer;
};
/// In per cent.
std::string to_text(const TestTable& table);

/// The report as such a table.
std::string to_table(const TestReport& report, const Model& model);

/// What summary.json gets of it, shares as fractions: test/error, test/error_low, ...; of sequences
/// test/symbol_error as well, of actions test/earned, of attention over states attention/on_answer.
MetricValues to_metrics(const TestReport& report, const Model& model);

/// What is drawn of the first pass, as JSON: attention/on_target_by_glimpse, test/error_by_glimpse,
/// test/confusion (counts, rows are what was there) and attention/look_map.
std::string to_details(const TestReport& report, const std::vector<std::string>& class_names);

}  // namespace saccade
