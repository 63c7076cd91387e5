#include "experiments/watch/watch_page.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/clock.h"
#include "experiments/comparison/drawing_svg.h"
#include "experiments/comparison/html.h"
#include "experiments/comparison/page_assets.h"
#include "experiments/comparison/page_parts.h"
#include "experiments/pictures/video.h"
#include "experiments/watch/live_charts.h"
#include "experiments/watch/watch_assets.h"

namespace saccade {
namespace {

using State = RunStatus::State;

std::string note(const std::string& text) {
  return "<p class=\"note\">" + html_escaped(text) + "</p>\n";
}

// What the script replaces as a whole.
std::string part(const std::string& name, const std::string& html) {
  return fmt::format("<div data-part=\"{}\">\n{}</div>\n", name, html);
}

std::string curves_section(const Watched& watched) {
  const std::vector<Chart> charts = live_charts(watched.shown);
  const bool training = watched.in_training > 0;
  std::string html;
  if (charts.empty())
    html = note(training ? "Nothing is logged yet." : "No run has logged anything.");
  else
    html = "<div class=\"charts beside\">\n" + figures(charts, [](const Chart&) { return true; }) +
           "</div>\n";
  if (watched.in_training > watched.shown.size())
    html += note(fmt::format("The {} of {} runs in training that logged last.",
                             watched.shown.size(), watched.in_training));
  return section(training ? "In training" : "Last trained; nothing is in training", html);
}

std::string recording_section(const std::optional<WatchedRecording>& recording) {
  if (!recording) return "";
  const VideoShape shape =
      recording->media_type == "video/mp4" ? shape_of_mp4(recording->file) : VideoShape{};
  const auto version = recording->written.time_since_epoch().count();
  return section(
      "Last recording",
      recording_figure({.media_type = recording->media_type,
                        .source = fmt::format("{}?{}", encoded_path(recording->path), version),
                        .title = recording->title,
                        .rows = shape.rows,
                        .cols = shape.cols}));
}

// "12.30 %", as text beside the value says of which scenes.
std::string error_cell(const RunStatus& status) {
  if (!status.error) return "";
  return fmt::format("{:.2f} %<small>{}</small>", 100 * *status.error,
                     status.state == State::done ? "test" : "in training");
}

std::optional<double> last_value(const WatchedRun& run, Metric metric) {
  if (run.rows.empty() || !run.rows.back().contains(metric)) return std::nullopt;
  return run.rows.back().at(metric);
}

// How long a run will take at the speed so far.
std::string time_left(const WatchedRun& run) {
  constexpr double kMost = 1e8;  // three years
  const auto elapsed = last_value(run, "time/elapsed");
  const double share = run.status.share;
  if (run.status.state != State::running || !elapsed || share <= 0.0) return "";
  const double left = *elapsed * (1.0 - share) / share;
  return left >= 0.0 && left < kMost ? clock_time(left) : "";
}

std::string speed_cell(const WatchedRun& run) {
  const auto speed = last_value(run, "time/episodes_per_second");
  return run.status.state == State::running && speed ? short_number(*speed) : "";
}

std::string remark(const RunStatus& status) {
  if (status.holder) return html_escaped(to_text(*status.holder));
  return html_escaped(status.message.substr(0, status.message.find('\n')));
}

std::string runs_section(const WatchedFolder& folder) {
  std::string html;
  std::vector<RunStatus> all;
  std::vector<Cells> rows;
  for (const WatchedRun& run : folder.runs) {
    const RunStatus& status = run.status;
    all.push_back(status);
    rows.push_back({html_escaped(run.name),
                    fmt::format("<span class=\"{0}\">{0}</span>", name_of(status.state)),
                    status.share > 0.0 ? fmt::format("{:.0f} %", 100 * status.share) : "",
                    error_cell(status), speed_cell(run), time_left(run), remark(status)});
  }
  if (rows.empty()) return section(html_escaped(folder.folder.string()), note(folder.fault));
  html = "<p class=\"counts\">" + html_escaped(counts_of(all)) + "</p>\n" +
         labelled_table({"run", "state", "done", "error", "episodes/s", "time left", ""}, rows,
                        "figures status");
  return section(html_escaped(folder.folder.string()), html);
}

std::string title_of(const Watched& watched) {
  std::vector<RunStatus> all;
  for (const WatchedFolder& folder : watched.folders)
    for (const WatchedRun& run : folder.runs) all.push_back(run.status);
  return counts_of(all);
}

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%H:%M:%S}", fmt::localtime(now));
}

}  // namespace

std::string encoded_path(const std::string& path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string encoded;
  for (const char c : path)
    if (kPlain.find(c) != std::string_view::npos)
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return encoded;
}

std::string watch_page(const Watched& watched) {
  std::string parts = part("curves", curves_section(watched)) +
                      part("recording", recording_section(watched.recording));
  for (std::size_t i = 0; i < watched.folders.size(); ++i)
    parts += part(fmt::format("runs-{}", i), runs_section(watched.folders[i]));
  return filled(watch_html(), {{"title", html_escaped(title_of(watched))},
                               {"time", time_of_day()},
                               {"parts", parts},
                               {"css", style_of_drawings(static_cast<int>(kMostCurves)) +
                                           std::string(report_css()) + std::string(watch_css())}});
}

}  // namespace saccade
