#include "experiments/runs/training_log.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/input_file.h"
#include "base/output.h"
#include "base/read_text.h"
#include "base/sync.h"
#include "experiments/config/settings.h"
#include "experiments/config/unused_settings.h"

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

// Numbers and flags as they are, everything else as text.
EventSetting event_setting(const Setting& setting, const Config& config) {
  return std::visit(
      [&]<class T>(const T* field) -> EventSetting {
        if constexpr (std::is_same_v<T, bool>)
          return *field;
        else if constexpr (std::is_arithmetic_v<T>)
          return static_cast<double>(*field);
        else
          return value_of(config, setting.key);
      },
      field_in(config, setting.field));
}

std::vector<std::pair<std::string, EventSetting>> effective_settings(const Config& config) {
  const std::set<std::string> unread = unread_settings(config);
  std::vector<std::pair<std::string, EventSetting>> all;
  for (const Setting& setting : settings())
    if (!unread.contains(setting.key))
      all.emplace_back(setting.key, event_setting(setting, config));
  return all;
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

TrainingLog::TrainingLog(const RunFolder& folder, const Config& config, std::int64_t keep_episodes)
    : table_(folder.metrics(), keep_episodes) {
  if (config.log.jsonl) lines_.emplace(folder.metrics_lines(), keep_episodes);
  if (config.log.tensorboard) {
    events_.emplace(folder.events(), keep_episodes);
    events_->begin_session(effective_settings(config));
  }
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

void log_test(const RunFolder& folder, std::int64_t episodes, const MetricValues& figures) {
  MetricValues others;
  for (const auto& [metric, value] : figures)
    if (!metric.is_written(kInMetrics)) others.emplace(metric, value);
  EventFile events(folder.events(), episodes);
  events.end_session(episodes, others);
  events.sync();
}

}  // namespace saccade
