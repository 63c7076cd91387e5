#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/range.h"
#include "experiments/evaluation/test_report.h"
#include "experiments/files/metrics.h"
#include "experiments/files/progress_bar.h"
#include "experiments/runs/trained.h"

namespace saccade {

struct EvaluateRequest {
  static constexpr Range kScenes{1, 100'000'000}, kDraws{1, 1000};

  std::filesystem::path run_folder;
  TestedOn on = {};
  std::filesystem::path weights = {};  // .npz of all attention to write; empty: none
  int threads = 0;
  // Of an agent that stops as soon as it is sure: the threshold, or what it is chosen for on the
  // validation scenes. At most one.
  std::optional<double> stop = {};
  StopTarget stop_target = {};
};

/// The result of testing a trained agent.
struct TestFigures {
  TestTable table;                           // for the screen
  MetricValues metrics;                      // see to_metrics()
  std::vector<double> on_target_by_glimpse;  // (T)
  std::optional<StopReport> stopping;        // of an agent that may stop before its last look
  std::vector<double> zoom_by_glimpse;       // (T); empty without a zoom
  std::optional<SetSizeReport> searched;     // of a visual search
  std::vector<Difference> from_training;  // in what scenes and digits differ from those of training
  std::string details;                    // see to_details()
};

/// Tests the best checkpoint of a run (its last, where there is no best yet) on the test set, or on
/// other scenes of its digits. Writes nothing into the run folder.
/// `weights` gets the attention of the single deterministic pass
/// (experiments/evaluation/attention_weights.h). Throws InputError before anything is computed if
/// there is a file already, or not an .npz is to be written, and for a rule to stop of an agent
/// that may not (may_stop), or that test_agent refuses.
TestFigures evaluate(const EvaluateRequest& request, const ProgressCallback& on_progress = nullptr);

/// How a trained agent does that stops as soon as it is sure, on the scenes of its configuration's
/// validation and test. Throws InputError if it may not stop, if the digits are not those of its
/// training, and as Trained does.
StopCurves measure_stopping(const std::filesystem::path& run_folder, Workers& workers);

/// In what the scenes are not those of training, if they are not; the table; then, of an agent that
/// may stop, the curves; then, of a search, those by set size.
std::string to_text(const TestFigures& figures);

/// One document whose keys are the metric names.
nlohmann::ordered_json to_json(const TestFigures& figures);

}  // namespace saccade
