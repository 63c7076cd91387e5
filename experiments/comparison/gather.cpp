#include "experiments/comparison/gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/stop.h"
#include "experiments/comparison/comparable_runs.h"
#include "experiments/comparison/controls.h"
#include "experiments/comparison/statistics.h"
#include "experiments/comparison/tuning.h"
#include "experiments/config/variants.h"
#include "experiments/evaluation/stopping.h"

namespace saccade {
namespace {

void add_commands(const std::vector<Runs>& configurations, std::vector<std::string>& commands) {
  for (const Runs& runs : configurations)
    for (const FinishedRun& run : runs)
      if (std::ranges::find(commands, run.command) == commands.end())
        commands.push_back(run.command);
}

// ---- Results ----

// `value(run, i)` for i in 0 .. count - 1, over the runs.
template <class Value>
std::vector<Estimate> estimates(const Runs& runs, std::size_t count, const Value& value) {
  std::vector<Estimate> all;
  std::vector<double> of_runs(runs.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::ranges::transform(runs, of_runs.begin(),
                           [&](const FinishedRun& r) { return value(r, i); });
    all.push_back(estimate_share(of_runs));
  }
  return all;
}

double mean_of(const Runs& runs, double FinishedRun::*figure) {
  double sum = 0.0;
  for (const FinishedRun& run : runs) sum += run.*figure;
  return sum / static_cast<double>(runs.size());
}

// Returns the elementwise mean over the runs.
std::vector<double> mean_of(const Runs& runs, const auto& values) {
  std::vector<double> sum(values(runs[0]).size(), 0.0);
  for (const FinishedRun& run : runs)
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += values(run)[i] / static_cast<double>(runs.size());
  return sum;
}

// Keeps the points of the curves that all runs have: one that was extended has another where it was
// to end before.
void keep_common_points(Runs& runs) {
  std::map<double, std::size_t> runs_at;  // by episodes
  for (const FinishedRun& run : runs) {
    std::set<double> own;
    for (const ValidPoint& point : run.curve) own.insert(point.episodes);
    for (const double episodes : own) ++runs_at[episodes];
  }
  for (FinishedRun& run : runs)
    std::erase_if(run.curve, [&](const ValidPoint& point) {
      return runs_at.at(point.episodes) < runs.size();
    });
}

// Of a run's shares by glimpse, those of looks that some episode took: an agent that stops may
// never come to the last ones, whose shares are 0.
std::size_t looks_taken(const FinishedRun& run) {
  const std::vector<double>& shares = run.on_target_by_glimpse;
  if (!stops_by_itself(run)) return shares.size();
  const auto last = std::find_if(shares.rbegin(), shares.rend(), [](double s) { return s > 0.0; });
  return std::max<std::size_t>(1, static_cast<std::size_t>(shares.rend() - last));
}

// Over the runs that took each look; ends after the last one that any took.
std::vector<Estimate> on_target_by_glimpse(const Runs& runs) {
  std::vector<Estimate> all;
  for (std::size_t t = 0; t < runs[0].on_target_by_glimpse.size(); ++t) {
    std::vector<double> shares;
    for (const FinishedRun& run : runs)
      if (t < looks_taken(run)) shares.push_back(run.on_target_by_glimpse[t]);
    if (shares.empty()) break;
    all.push_back(estimate_share(shares));
  }
  return all;
}

void add_curve(Variant& variant, const Runs& runs) {
  std::size_t points = runs[0].curve.size();
  for (const FinishedRun& run : runs) points = std::min(points, run.curve.size());
  const std::vector<Estimate> errors =
      estimates(runs, points, [](const FinishedRun& r, std::size_t i) { return r.curve[i].error; });
  for (std::size_t i = 0; i < points; ++i) {
    double seconds = 0.0;
    for (const FinishedRun& run : runs) seconds += run.curve[i].seconds;
    variant.curve.push_back({.episodes = runs[0].curve[i].episodes,
                             .gflop = runs[0].curve[i].episodes * runs[0].gflop_per_episode,
                             .seconds = seconds / static_cast<double>(runs.size()),
                             .error = errors[i]});
  }
  for (const FinishedRun& run : runs) {
    RunCurve& curve = variant.run_curves.emplace_back();
    for (std::size_t i = 0; i < points; ++i) curve.push_back(run.curve[i].error);
  }
}

// Adds details of the tests that every run of the variant kept.
void add_details(Variant& variant, const Runs& runs, std::size_t classes) {
  const auto kept = [](const FinishedRun& run) { return !run.error_by_glimpse.empty(); };
  if (!std::ranges::all_of(runs, kept)) return;
  const auto steps = runs[0].error_by_glimpse.size();
  variant.error_by_glimpse = estimates(
      runs, steps, [](const FinishedRun& r, std::size_t t) { return r.error_by_glimpse[t]; });
  variant.confusion = {static_cast<int>(classes),
                       mean_of(
                           runs, [](const FinishedRun& r) -> auto& { return r.confusion; })};
  for (std::size_t row = 0; row < classes; ++row) {
    const auto counts = std::span(variant.confusion.shares).subspan(row * classes, classes);
    double sum = 0.0;
    for (const double count : counts) sum += count;
    for (double& count : counts) count = sum > 0.0 ? count / sum : 0.0;
  }
  if (!variant.looks) return;
  const LookMap& map = runs[0].look_map;
  variant.look_map = {map.rows, map.cols,
                      mean_of(
                          runs, [](const FinishedRun& r) -> auto& { return r.look_map.exposure; }),
                      (runs[0].tested.scene.canvas[0] + map.rows - 1) / map.rows};
}

// ---- Stopping when sure ----

bool may_have_stopped(const FinishedRun& run) { return run.error_by_glimpse.size() > 1; }

// Measures what runs of older versions did not keep.
void measure_missing(std::vector<Tuned>& variants,
                     const std::function<StopCurves(const FinishedRun&)>& measure,
                     std::vector<LeftOut>& left_out) {
  for (Tuned& variant : variants)
    for (FinishedRun& run : variant.runs) {
      if (run.stopping || !may_have_stopped(run)) continue;
      stop_if_asked();
      try {
        run.stopping = measure(run);
      } catch (const std::runtime_error& error) {
        left_out.push_back({run.folder, fmt::format("stopping when sure: {}", error.what())});
      }
    }
}

Estimate of_one(const OverScenes& value) {
  return {value.value, value.low, value.high, /*known=*/value.high > value.low};
}

// `point(run)` over the runs; of a single one over its scenes.
template <class Point>
StopEstimate stop_estimate(const Runs& runs, const Point& point) {
  if (runs.size() == 1) {
    const StopPoint one = point(runs[0], 0);
    return {of_one(one.error), of_one(one.looks)};
  }
  std::vector<double> errors, looks;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const StopPoint one = point(runs[i], i);
    errors.push_back(one.error.value);
    looks.push_back(one.looks.value);
  }
  return {estimate_share(errors), estimate_mean(looks)};
}

void add_stopping(Variant& variant, const Runs& runs, const StopTarget& target) {
  if (!std::ranges::all_of(runs, [&](const FinishedRun& run) {
        return run.stopping && run.stopping->thresholds == runs[0].stopping->thresholds &&
               run.stopping->always.size() == runs[0].stopping->always.size();
      }))
    return;
  const StopCurves& first = *runs[0].stopping;
  check_target(target, static_cast<int>(first.always.size()));
  Stopping stopping{.over_scenes = runs.size() == 1, .thresholds = first.thresholds};
  std::vector<StopPoint> stopped;
  for (const FinishedRun& run : runs) {
    if (run.own_stop && !target.error && !target.looks) {
      stopping.own = true;
      stopping.chosen.push_back(run.own_stop->threshold);
      stopped.push_back(run.own_stop->point);
      continue;
    }
    const std::size_t chosen = chosen_threshold(*run.stopping, target);
    stopping.chosen.push_back(first.thresholds[chosen]);
    stopped.push_back(run.stopping->test[chosen]);
  }
  for (std::size_t k = 0; k < first.thresholds.size(); ++k)
    stopping.curve.push_back(stop_estimate(
        runs, [&](const FinishedRun& r, std::size_t) { return r.stopping->test[k]; }));
  for (std::size_t t = 0; t < first.always.size(); ++t)
    stopping.always.push_back(stop_estimate(
        runs, [&](const FinishedRun& r, std::size_t) { return r.stopping->always[t]; }));
  stopping.oracle =
      stop_estimate(runs, [](const FinishedRun& r, std::size_t) { return r.stopping->oracle; });
  stopping.stopped =
      stop_estimate(runs, [&](const FinishedRun&, std::size_t i) { return stopped[i]; });
  variant.stopping = std::move(stopping);
}

// Throws if a target was given and there is no agent that may stop.
void require_any_stopping(const Comparison& comparison, const StopTarget& target) {
  if (!target.error && !target.looks) return;
  if (std::ranges::any_of(comparison.variants,
                          [](const Variant& variant) { return variant.stopping.has_value(); }))
    return;
  throw InputError(fmt::format(
      "{}: no agent may stop; allowed: with agents that answer one class after several looks, or a "
      "sequence with attention.glimpse.stop",
      target.error ? fmt::format("--stop-error {}", *target.error)
                   : fmt::format("--stop-looks {}", *target.looks)));
}

void add_figures(Variant& variant, const Runs& runs, std::size_t classes) {
  for (const FinishedRun& run : runs) {
    variant.folders.push_back(run.folder);
    variant.seeds.push_back(run.config.seed);
    variant.errors.push_back(run.error);
    const SceneShare& share = run.error_over_scenes;
    variant.errors_over_scenes.push_back(
        {share.value, share.low, share.high, /*known=*/share.high > share.low});
  }
  variant.mean = estimate_share(variant.errors);
  variant.interquartile_mean = estimate_interquartile_mean(variant.errors);
  variant.controls = controls_of(runs);
  variant.episodes = runs[0].episodes;
  variant.gflop_per_episode = runs[0].gflop_per_episode;
  variant.canvas_pixels = runs[0].canvas_pixels;
  variant.seconds = mean_of(runs, &FinishedRun::seconds);
  variant.looks = runs[0].on_target.has_value();
  variant.num_glimpses = variant.looks ? runs[0].config.agent.glimpse.num_glimpses : 1;
  add_curve(variant, runs);
  if (variant.looks) {
    std::vector<double> on_target;
    for (const FinishedRun& run : runs) on_target.push_back(*run.on_target);
    variant.on_target = estimate_share(on_target);
    variant.on_target_by_glimpse = on_target_by_glimpse(runs);
  }
  add_details(variant, runs, classes);
}

// Returns the name that all runs share; empty if they differ.
std::string common_name(const std::vector<const Config*>& configs) {
  const std::string& name = configs[0]->name;
  const auto alike = [&](const Config* config) { return config->name == name; };
  return std::ranges::all_of(configs, alike) ? name : "";
}

// Returns the indices of two runs with the same seed, or of the only runs.
std::optional<std::pair<std::size_t, std::size_t>> run_of_each(const Variant& a, const Variant& b) {
  for (std::size_t i = 0; i < a.seeds.size(); ++i)
    if (const auto same = std::ranges::find(b.seeds, a.seeds[i]); same != b.seeds.end())
      return std::pair(i, static_cast<std::size_t>(same - b.seeds.begin()));
  if (a.seeds.size() == 1 && b.seeds.size() == 1) return std::pair<std::size_t, std::size_t>(0, 0);
  return std::nullopt;
}

// The error of a minus that of b: of their common seeds, or of all seeds if a single pair says
// less.
Estimate difference_over_seeds(const Variant& a, const Variant& b, std::span<const double> pairs) {
  const bool means_known = a.mean.known && b.mean.known;
  if (pairs.size() > 1 || (pairs.size() == 1 && !means_known)) return estimate_difference(pairs);
  if (means_known) return difference_of(a.mean, b.mean);
  const double value = a.mean.value - b.mean.value;
  return {value, value, value, false};
}

// Compares with the first variant: by their seeds, and by all pairs of runs.
void hold_against(Variant& variant, const Variant& first) {
  std::vector<double> pairs;
  for (std::size_t i = 0; i < variant.seeds.size(); ++i) {
    const auto same = std::ranges::find(first.seeds, variant.seeds[i]);
    if (same != first.seeds.end())
      pairs.push_back(variant.errors[i] - first.errors[same - first.seeds.begin()]);
  }
  variant.improvement = estimate_improvement(variant.errors, first.errors);
  variant.difference = difference_over_seeds(variant, first, pairs);
  if (variant.difference->known || pairs.size() > 1) return;
  if (const auto runs = run_of_each(variant, first)) {
    const Estimate over_scenes = difference_of(variant.errors_over_scenes[runs->first],
                                               first.errors_over_scenes[runs->second]);
    if (over_scenes.known) variant.difference_over_scenes = over_scenes;
  }
}

}  // namespace

Comparison gather(std::span<const std::filesystem::path> folders,
                  std::span<const std::string> tuned_by, const ProgressCallback& on_progress,
                  const StopTarget& stop_target, const RunAgain& again,
                  const SceneOverrides& other_scenes) {
  check_tuned_by(tuned_by);
  Comparison comparison;
  comparison.tuned_by.assign(tuned_by.begin(), tuned_by.end());
  std::vector<Runs> configurations = group_runs(folders, other_scenes, comparison.left_out);
  add_commands(configurations, comparison.commands);
  std::vector<Tuned> tuned = tune(std::move(configurations), tuned_by, comparison.left_out);
  read_tests(tuned, other_scenes.empty() ? nullptr : again.test, comparison.left_out);
  require_any(!tuned.empty(), folders, comparison.left_out);
  if (again.stopping) measure_missing(tuned, again.stopping, comparison.left_out);

  comparison.scenes = tuned[0].runs[0].scenes;
  comparison.resamples = kResamples;
  std::vector<const Config*> configs;
  for (const Tuned& variant : tuned) {
    configs.push_back(&variant.runs[0].config);
    for (const FinishedRun& run : variant.runs)
      if (comparison.class_names.empty()) comparison.class_names = run.class_names;
  }
  comparison.name = common_name(configs);
  comparison.differing = differing_keys(configs, tuned_by);
  const std::vector<std::string> labels = variant_labels(configs, tuned_by);
  for (Tuned& variant : tuned) keep_common_points(variant.runs);
  comparison.variants.resize(tuned.size());
  for (std::size_t i = 0; i < tuned.size(); ++i) {
    stop_if_asked();
    if (on_progress)
      on_progress(static_cast<std::int64_t>(i), static_cast<std::int64_t>(tuned.size()));
    Variant& variant = comparison.variants[i];
    variant.label = labels[i];
    variant.from_training = scene_differences(*configs[i], tuned[i].runs[0].tested);
    variant.tries = std::move(tuned[i].tries);
    variant.tuning_seeds = std::move(tuned[i].seeds);
    for (const std::string& key : comparison.differing)
      variant.settings.push_back(value_of(*configs[i], key));
    add_figures(variant, tuned[i].runs, comparison.class_names.size());
    add_stopping(variant, tuned[i].runs, stop_target);
    if (i > 0) hold_against(variant, comparison.variants[0]);
  }
  require_any_stopping(comparison, stop_target);
  return comparison;
}

}  // namespace saccade
