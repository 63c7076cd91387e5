#include "experiments/runs/run_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "experiments/config/config.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/metrics_file.h"
#include "experiments/runs/run_document.h"
#include "experiments/runs/run_failure.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// Reads what has been logged so far.
void read_progress(RunStatus& status, const RunFolder& folder) {
  const fs::path config = folder.path() / "config.yaml";
  std::error_code none;
  if (!fs::exists(config, none)) return;
  try {
    const std::vector<MetricsRow> rows = read_metrics(folder.metrics());
    if (rows.empty()) return;
    const auto all = static_cast<double>(read_config(config).agent.training.episodes);
    const MetricsRow& last = rows.back();
    const auto value = [&](Metric metric) {
      return checked(metric, last.at(metric), folder.metrics().string());
    };
    if (last.contains("episodes")) status.share = std::min(1.0, value("episodes") / all);
    if (last.contains("train/error")) status.error = value("train/error");
  } catch (const std::runtime_error&) {
    return;  // the file is being written at this moment
  }
}

}  // namespace

const char* name_of(RunStatus::State state) {
  switch (state) {
    case RunStatus::State::done:
      return "done";
    case RunStatus::State::running:
      return "running";
    case RunStatus::State::failed:
      return "failed";
    case RunStatus::State::stopped:
      return "stopped";
    case RunStatus::State::waiting:
      break;
  }
  return "waiting";
}

RunStatus status_of(const RunFolder& folder) {
  RunStatus status;
  status.folder = folder.path();
  try {
    if (is_finished(folder)) {
      status.error = read_finished_run(folder.path()).error;
      status.share = 1.0;
      status.state = RunStatus::State::done;
      return status;
    }
  } catch (const std::runtime_error& fault) {
    // The existing files cannot be read; otherwise the run was removed or extended meanwhile.
    std::error_code none;
    if (fs::exists(folder.summary(), none)) {
      status.state = RunStatus::State::failed;
      status.message = fault.what();
      return status;
    }
  }
  read_progress(status, folder);
  status.holder = find_holder(folder.path());
  if (status.holder) {
    status.state = RunStatus::State::running;
  } else if (const std::optional<RunFailure> failure = read_failure(folder)) {
    status.state = RunStatus::State::failed;
    status.message = failure->message;
  } else if (fs::exists(folder.last_checkpoint()) || fs::exists(folder.previous_checkpoint())) {
    status.state = RunStatus::State::stopped;
  }
  return status;
}

std::string counts_of(std::span<const RunStatus> runs) {
  std::string text = fmt::format("{} {}", runs.size(), runs.size() == 1 ? "run" : "runs");
  const char* before = ": ";
  for (const RunStatus::State state : kRunStates)
    if (const auto count = std::ranges::count(runs, state, &RunStatus::state); count > 0)
      text += fmt::format("{}{} {}", std::exchange(before, ", "), count, name_of(state));
  return text;
}

std::string name_below(const fs::path& folder, const fs::path& run) {
  const fs::path below = run.lexically_normal().lexically_relative(folder.lexically_normal());
  if (below != "." && !below.empty()) return below.string();
  const fs::path whole = fs::absolute(run).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

}  // namespace saccade
