#pragma once

#include <filesystem>
#include <vector>

#include "experiments/files/metrics.h"

namespace saccade {

/// One row of metrics.csv; what is not there stays empty.
using MetricsRow = MetricValues;

/// The rows of a metrics.csv, which somebody may be writing; none where there is no file. Columns
/// that are no metrics, and cells that are no numbers, are passed over. Throws InputError for a
/// file of more bytes or rows than a run can have.
std::vector<MetricsRow> read_metrics(const std::filesystem::path& path);

/// An evaluation on the validation scenes.
struct ValidPoint {
  double episodes, seconds, error;
};

/// Those of a run that is finished. Throws InputError with line and column for a file that is not
/// there or not whole: a column that is missing, a row of more or fewer cells than columns, a cell
/// that is no number or not in the range of its metric.
std::vector<ValidPoint> read_curve(const std::filesystem::path& path);

}  // namespace saccade
