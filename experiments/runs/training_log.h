#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "experiments/files/event_file.h"
#include "experiments/runs/metrics_file.h"
#include "experiments/runs/run_folder.h"

namespace saccade {

/// metrics.jsonl: the rows of metrics.csv, one JSON object per line. The keys are the columns that
/// have a value, in column order and with the digits of metrics.csv; non-finite values are null.
class MetricsLines {
 public:
  /// Like MetricsFile: first drops rows beyond `keep_episodes` and incomplete rows.
  MetricsLines(const std::filesystem::path& path, std::int64_t keep_episodes);
  void append(const MetricsRow& row);
  void sync() const { file_.sync(); }

 private:
  AppendedFile file_;
};

/// The log of a training: metrics.csv, and the same rows in metrics.jsonl and as TensorBoard events
/// if the configuration asks for them, which begin with the settings.
class TrainingLog {
 public:
  /// Opens for appending. First drops from every file whatever was written after `keep_episodes`,
  /// i.e. after the checkpoint that the run resumes from; -1 drops everything.
  TrainingLog(const RunFolder& folder, const Config& config, std::int64_t keep_episodes);

  /// Throws std::logic_error for a metric that is not written in metrics.csv.
  void append(const MetricsRow& row);
  /// A recording (.png, .gif), which TensorBoard shows under `recording`.
  void show(std::int64_t episodes, const std::filesystem::path& recording);

  /// Syncs the appended data to disk. Throws as AppendedFile.
  void sync() const;

  /// time/elapsed of the last kept row; 0 if there is none.
  double elapsed() const { return table_.elapsed(); }

 private:
  MetricsFile table_;
  std::optional<MetricsLines> lines_;
  std::optional<EventFile> events_;
};

/// Adds the figures of the final test that are no column of metrics.csv to the TensorBoard events,
/// in place of those of an earlier test; syncs them.
void log_test(const RunFolder& folder, std::int64_t episodes, const MetricValues& figures);

}  // namespace saccade
