#pragma once

#include <filesystem>
#include <vector>

#include "experiments/files/metrics.h"

namespace saccade {

/// One row of metrics.csv; missing values are absent.
using MetricsRow = MetricValues;

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
