#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "experiments/files/event_file.h"
#include "experiments/runs/run_folder.h"

namespace saccade {

/// metrics.jsonl: the rows of metrics.csv, one JSON object a line. Its keys are the columns that
/// have a value, in their order and with the digits of metrics.csv; what is not finite is null.
class MetricsLines {
 public:
  /// As MetricsFile does: rows beyond `keep_episodes`, and what is no whole row, are dropped first.
  MetricsLines(const std::filesystem::path& path, std::int64_t keep_episodes);
  void append(const MetricsRow& row);
  void sync() const { file_.sync(); }

 private:
  AppendedFile file_;
};

/// What a training says while it goes on: the rows of metrics.csv, and the same in metrics.jsonl
/// and as TensorBoard's events where the configuration asks for them.
class TrainingLog {
 public:
  /// Opens for appending. What was written after `keep_episodes` - after the checkpoint that a
  /// resumed run goes on from - is dropped first, everywhere; -1 drops all.
  TrainingLog(const RunFolder& folder, const LogConfig& config, std::int64_t keep_episodes);

  /// Throws std::logic_error for a metric that is not written in metrics.csv.
  void append(const MetricsRow& row);
  /// A recording (.png, .gif), which TensorBoard shows under `recording`.
  void show(std::int64_t episodes, const std::filesystem::path& recording);

  /// Has the system write what was appended to the disk. Throws as AppendedFile.
  void sync() const;

  /// time/elapsed of the last row that was kept; 0 without one.
  double elapsed() const { return table_.elapsed(); }

 private:
  MetricsFile table_;
  std::optional<MetricsLines> lines_;
  std::optional<EventFile> events_;
};

}  // namespace saccade
