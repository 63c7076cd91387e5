#pragma once

#include <map>
#include <string>

#include "agent/model.h"
#include "experiments/evaluation.h"

namespace saccade {

/// The figures of a trained agent on the test scenes.
struct TestReport {
  Evaluation deterministic;  // one pass, looking at the policy's mean: the figure to quote
  Evaluation sampled;        // one pass, sampling
  Evaluation averaged;       // the mean of `passes` sampled passes
  Evaluation random;         // the same weights, looking at random
  int passes = 1;
};

TestReport test_agent(std::span<const float> parameters, Evaluator& evaluator, int passes);

/// The report as a table for the screen, in per cent.
std::string to_table(const TestReport& report);

/// Metric name -> value, shares as fractions: test/error, test/error_low, ...
std::map<std::string, double> to_metrics(const TestReport& report);

}  // namespace saccade
