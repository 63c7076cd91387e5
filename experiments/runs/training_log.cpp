#include "experiments/runs/training_log.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/input_file.h"
#include "base/output.h"
#include "base/read_text.h"
#include "base/sync.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

std::string json_of(const MetricsRow& row) {
  std::string text;
  for (const MetricFacts& facts : kMetrics) {
    const auto found = row.find(Metric::named(facts.name));
    if ((facts.written & kInMetrics) == 0 || found == row.end()) continue;
    text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", facts.name,
                        std::isfinite(found->second) ? metrics_cell(found->second) : "null");
  }
  return "{" + text + "}";
}

// Whether a line is a whole row up to `keep_episodes`.
bool is_kept(const std::string& line, std::int64_t keep_episodes) {
  const nlohmann::json row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  return row.is_object() && row.contains("episodes") && row["episodes"].is_number() &&
         row["episodes"].get<double>() <= as_written(static_cast<double>(keep_episodes));
}

}  // namespace

MetricsLines::MetricsLines(const fs::path& path, std::int64_t keep_episodes) {
  std::string kept;
  {
    const std::unique_ptr<InputFile> old = InputFile::if_there(path);
    for (std::string line; old && std::getline(*old, line);)
      if (is_kept(line, keep_episodes)) kept += line + "\n";
  }
  replace_text(path, kept);
  file_ = AppendedFile(path);
}

void MetricsLines::append(const MetricsRow& row) { file_.append(json_of(row) + "\n"); }

TrainingLog::TrainingLog(const RunFolder& folder, const LogConfig& config,
                         std::int64_t keep_episodes)
    : table_(folder.metrics(), keep_episodes) {
  if (config.jsonl) lines_.emplace(folder.metrics_lines(), keep_episodes);
  if (config.tensorboard) events_.emplace(folder.events(), keep_episodes);
  sync_folder(folder.path());  // the name of the events; those of the others last
}

void TrainingLog::sync() const {
  table_.sync();
  if (lines_) lines_->sync();
  if (events_) events_->sync();
}

void TrainingLog::append(const MetricsRow& row) {
  table_.append(row);
  if (lines_) lines_->append(row);
  if (events_) events_->add_scalars(std::llround(row.at("episodes")), row);
}

void TrainingLog::show(std::int64_t episodes, const fs::path& recording) {
  if (!events_) return;
  events_->add_picture(episodes, "recording", read_text(recording));
}

}  // namespace saccade
