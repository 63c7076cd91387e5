#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/output.h"
#include "experiments/files/metrics.h"

namespace saccade {

/// One row of metrics.csv; missing values are absent.
using MetricsRow = MetricValues;

/// The first line of metrics.csv: the metrics of kMetrics that are written there, in their order.
std::string metrics_header();
/// A number as metrics.csv holds it, with 8 digits, and its value then.
std::string metrics_cell(double value);
double as_written(double value);

/// metrics.csv: a header, then one row per logging step. The step column is
/// `episodes`, the last is time/elapsed.
class MetricsFile {
 public:
  /// Opens for appending. First drops rows beyond `keep_episodes`, which were written after the
  /// checkpoint that the run resumes from, and damaged ones without a number of episodes. Gives the
  /// others the columns of this version.
  MetricsFile(const std::filesystem::path& path, std::int64_t keep_episodes);

  /// Throws std::logic_error for a metric that is not written in metrics.csv.
  void append(const MetricsRow& row);
  void sync() const { file_.sync(); }

  /// time/elapsed of the last kept row; 0 if there is none.
  double elapsed() const { return elapsed_; }

 private:
  AppendedFile file_;
  double elapsed_ = 0.0;
};

/// Reads the rows of a metrics.csv that may be in the process of being written; none if the file
/// does not exist. Skips unknown columns and cells that are not numbers. Throws InputError for a
/// file with more bytes or rows than a run can have.
std::vector<MetricsRow> read_metrics(const std::filesystem::path& path);

/// One evaluation on the validation scenes.
struct ValidPoint {
  double episodes, seconds, error;
};

/// Reads the learning curve of a finished run. Throws InputError with line and column for a file
/// that is missing or incomplete: a missing column, a row with more or fewer cells than columns, a
/// cell that is not a number or outside the range of its metric.
std::vector<ValidPoint> read_curve(const std::filesystem::path& path);

}  // namespace saccade
