#include "experiments/runs/finished_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "agent/answering/stopping.h"
#include "agent/looking/looking.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/printable.h"
#include "base/read_text.h"
#include "base/system_reason.h"
#include "experiments/config/preset.h"
#include "experiments/runs/run_document.h"
#include "experiments/runs/trained.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// Upper bounds that no real run reaches.
constexpr std::size_t kMostGlimpses = 2048, kMostDataFiles = 100, kMostThresholds = 1000;
constexpr int kMostMapSide = 2048;              // side of a canvas
constexpr std::uintmax_t kMostStudy = 8 << 20;  // bytes of a list of runs

// Returns a share with its interval if all three values are present.
std::optional<SceneShare> scene_share(const RunDocument& summary, Metric metric) {
  for (const Metric one : {metric, metric.low(), metric.high()})
    if (!summary.has_number(one)) return std::nullopt;
  return SceneShare{summary.number(metric), summary.number(metric.low()),
                    summary.number(metric.high())};
}

double number_or_0(const RunDocument& summary, Metric metric) {
  return summary.has(metric.name()) ? summary.number(metric) : 0.0;
}

LookMap read_map(const RunDocument& map) {
  LookMap look_map;
  look_map.rows = map.count("rows", kMostMapSide);
  look_map.cols = map.count("cols", kMostMapSide);
  const auto cells = static_cast<std::size_t>(look_map.rows * look_map.cols);
  look_map.exposure = map.numbers("weights", "attention/look_map", {cells, cells});
  return look_map;
}

Sizes exactly(std::size_t size) { return {size, size}; }

// `count` points of at most `most` looks on average.
std::vector<StopPoint> read_points(const RunDocument& points, std::size_t count, std::size_t most) {
  const Metric error = "test/stopped_error", looks = "test/looks";
  const auto ends = [&](const std::string& key, Metric metric) {
    return std::pair(points.numbers(key + "_low", metric, exactly(count)),
                     points.numbers(key + "_high", metric, exactly(count)));
  };
  const std::vector<double> errors = points.numbers("error", error, exactly(count)),
                            means = points.numbers_up_to(static_cast<double>(most), "looks", looks,
                                                         exactly(count));
  const auto [error_low, error_high] = ends("error", error);
  const auto [looks_low, looks_high] = ends("looks", looks);
  std::vector<StopPoint> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(
        {{errors[i], error_low[i], error_high[i]}, {means[i], looks_low[i], looks_high[i]}});
  return all;
}

StopCurves read_stopping(const RunDocument& stopping) {
  StopCurves curves;
  curves.thresholds = stopping.numbers("thresholds", "test/stopped_error", {1, kMostThresholds});
  const std::size_t thresholds = curves.thresholds.size();
  const RunDocument always = stopping.part("always");
  const std::size_t most =  // T
      always.numbers("looks", "test/looks", {1, kMostGlimpses}).size();
  curves.test = read_points(stopping.part("test"), thresholds, most);
  curves.valid = read_points(stopping.part("valid"), thresholds, most);
  curves.always = read_points(always, most, most);
  curves.oracle = read_points(stopping.part("oracle"), 1, most)[0];
  return curves;
}

std::optional<FinishedRun::OwnStop> read_own_stop(const RunDocument& summary) {
  const auto error = scene_share(summary, "test/stopped_error");
  const auto looks = scene_share(summary, "test/looks");
  if (!error || !looks || !summary.has_number("test/stop_threshold")) return std::nullopt;
  return FinishedRun::OwnStop{
      summary.number("test/stop_threshold"),
      {{error->value, error->low, error->high}, {looks->value, looks->low, looks->high}}};
}

void read_details(FinishedRun& run, const RunDocument& details) {
  run.class_names = details.texts("class_names", {1, kMaxClasses});
  run.error_by_glimpse = details.numbers("test/error_by_glimpse", {0, kMostGlimpses});
  const bool classifies = !run.error_by_glimpse.empty();
  const std::size_t cells = classifies ? run.class_names.size() * run.class_names.size() : 0;
  run.confusion = details.numbers("test/confusion", {cells, cells});
  run.look_map = read_map(details.part(Metric("attention/look_map").name()));
  if (const std::string stopping = Metric("test/stopping").name(); details.has(stopping))
    run.stopping = read_stopping(details.part(stopping));
}

void read_figures(FinishedRun& run, const RunDocument& summary) {
  const double scenes = number_or_0(summary, "test/scenes");  // 0: of an older version
  run.scenes = scenes > 0 ? static_cast<int>(scenes) : run.config.evaluation.scenes;
  run.error = summary.number("test/error");
  run.error_over_scenes =
      scene_share(summary, "test/error").value_or(SceneShare{run.error, run.error, run.error});
  for (const Metric metric : kControls)
    if (const auto share = scene_share(summary, metric)) run.controls[metric] = *share;
  if (summary.has(Metric("attention/on_target").name())) {
    run.on_target = summary.number("attention/on_target");
    run.on_target_by_glimpse =
        summary.numbers("attention/on_target_by_glimpse", {1, kMostGlimpses});
  }
  if (stops_by_itself(run)) run.own_stop = read_own_stop(summary);
}

// Numbers compare by value: seed-2 sorts before seed-10.
bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const auto number = [&](const std::string& s, std::size_t& at) {
        const std::size_t first = std::min(s.find_first_not_of('0', at), s.size());
        at = first;
        while (at < s.size() && digit(s[at])) ++at;
        return s.substr(first, at - first);
      };
      const std::string x = number(a, i), y = number(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i, ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

bool is_run(const fs::path& folder) {
  std::error_code none;
  return fs::exists(folder / "config.yaml", none);
}

// Returns the subfolders; those of experiments without overrides come first. A link to a folder is
// passed over, and so is what a training that begins or ends removes meanwhile.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> inside;
  std::error_code error, none;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (!entry->is_symlink(none) && entry->is_directory(none)) inside.push_back(entry->path());
  if (error && error != std::errc::no_such_file_or_directory)
    throw_refused(folder.string() + ": cannot be read", error.value());
  const auto rank = [](const fs::path& p) { return p.filename() == "base" ? 0 : 1; };
  std::ranges::sort(inside, [&](const fs::path& a, const fs::path& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b)
                              : natural_less(a.filename().string(), b.filename().string());
  });
  return inside;
}

// Returns whether a part of the path below the folder is a link.
bool leads_through_link(fs::path folder, const fs::path& below) {
  std::error_code none;
  return std::ranges::any_of(below, [&](const fs::path& part) {
    folder /= part;
    return fs::is_symlink(fs::symlink_status(folder, none));
  });
}

// Collects the runs listed by a study, which are inside its folder.
void find_listed(const fs::path& folder, std::vector<fs::path>& runs) {
  const fs::path file = folder / kStudyFile;
  std::error_code none;
  if (!fs::exists(file, none)) return;
  std::istringstream study(read_text(file, kMostStudy));
  for (std::string line; std::getline(study, line);) {
    const fs::path run = fs::path(line).lexically_normal();
    if (run.empty() || run.is_absolute() || *run.begin() == "..")
      throw InputError(
          fmt::format("{}: '{}' is not a folder inside", file.string(), abridged(line)));
    if (!leads_through_link(folder, run)) runs.push_back(folder / run);
  }
}

void find_below(const fs::path& folder, std::vector<fs::path>& runs) {
  if (is_run(folder)) {
    if (std::ranges::find(runs, folder) == runs.end()) runs.push_back(folder);
    return;
  }
  find_listed(folder, runs);
  for (const fs::path& inside : folders_in(folder)) find_below(inside, runs);
}

}  // namespace

bool is_finished(const RunFolder& folder) {
  const std::unique_ptr<InputFile> file = InputFile::if_there(folder.summary());
  // Versions before 0.2 could be killed while writing it.
  if (!file || file->size() == 0) return false;
  const RunDocument summary(folder.summary(), kMostFacts);
  return summary.has("status") && summary.text("status") == "finished";
}

bool stops_by_itself(const FinishedRun& run) {
  const AgentConfig& agent = run.config.agent;
  return takes_glimpses(agent) && find_stop_kind(agent.glimpse.stop).stops;
}

FinishedRun read_trained_run(const fs::path& path) {
  const RunFolder folder(path);
  if (!is_run(path))
    throw InputError(fmt::format("{}: not a run folder: no config.yaml", path.string()));
  folder.require_no_links();
  if (!is_finished(folder)) throw InputError(fmt::format("{}: is not finished", path.string()));
  FinishedRun run;
  run.folder = path;
  run.config =
      parse_config(read_config_text(path / "config.yaml"), (path / "config.yaml").string());
  run.tested = run.config;
  run.command = read_text(path / "command.txt", kMostFacts);
  run.command.erase(run.command.find_last_not_of('\n') + 1);
  run.checksums =
      RunDocument(path / "meta.json", kMostFacts).texts_by_name("data_crc32", {0, kMostDataFiles});

  const RunDocument summary(folder.summary(), kMostFacts);
  run.valid_error = summary.number("valid/error");
  run.episodes = summary.number("episodes");
  run.seconds = summary.number("time/elapsed");
  run.gflop_per_episode = number_or_0(summary, "episode/gflop");
  run.canvas_pixels = number_or_0(summary, "episode/canvas_pixels");
  run.curve = read_curve(folder.metrics());
  return run;
}

void read_test(FinishedRun& run) {
  const RunFolder folder(run.folder);
  read_figures(run, RunDocument(folder.summary(), kMostFacts));
  if (fs::exists(folder.details()))  // runs of older versions have no such file
    read_details(run, RunDocument(folder.details(), kMostDetails));
}

void read_test(FinishedRun& run, const std::string& summary, const std::string& details) {
  const RunFolder folder(run.folder);
  read_figures(run, RunDocument::of_text(summary, folder.summary().string()));
  read_details(run, RunDocument::of_text(details, folder.details().string()));
}

FinishedRun read_finished_run(const fs::path& folder) {
  FinishedRun run = read_trained_run(folder);
  read_test(run);
  return run;
}

std::vector<fs::path> find_runs(const fs::path& given) {
  const fs::path folder = find_run_folder(given);
  if (!fs::is_directory(folder))
    throw InputError(fmt::format("{}: no such folder", folder.string()));
  std::vector<fs::path> runs;
  find_below(folder.lexically_normal(), runs);
  if (runs.empty())
    throw InputError(fmt::format(
        "{}: neither a run folder (no config.yaml) nor a study (none below)", folder.string()));
  return runs;
}

}  // namespace saccade
