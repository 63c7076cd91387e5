#include "experiments/comparison/gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "agent/model.h"
#include "experiments/comparison/statistics.h"
#include "experiments/config/variants.h"
#include "nn/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

using Runs = std::vector<FinishedRun>;

// Why two runs were not given the same test; empty if they were.
std::string other_test(const FinishedRun& first, const FinishedRun& run) {
  std::string why = task_difference(first.config, first.checksums, run.config, run.checksums);
  const EvaluationConfig &a = first.config.evaluation, &b = run.config.evaluation;
  if (why.empty() && a.scenes != b.scenes)
    why = fmt::format("evaluation.scenes is {} and {}", a.scenes, b.scenes);
  if (why.empty() && a.seed != b.seed)
    why = fmt::format("evaluation.seed is {} and {}", a.seed, b.seed);
  return why.empty() ? "" : fmt::format("{} (there: {})", why, first.folder.string());
}

bool same_variant(const FinishedRun& a, const FinishedRun& b) {
  const Config* const both[] = {&a.config, &b.config};
  return differing_keys(both).empty();
}

// ---- What is compared ----

// Sorts runs into variants, and says of each that cannot be compared why.
class Grouping {
 public:
  explicit Grouping(std::vector<LeftOut>& left_out) : left_out_(left_out) {}

  // Every run of a folder that was given.
  void add_all(const fs::path& given) {
    bool used = false;
    std::string other;  // why a run had another test
    for (const fs::path& folder : find_runs(given)) {
      const bool is_new = taken_.insert(fs::weakly_canonical(folder)).second;
      used |= !is_new || add(folder, other);
    }
    if (!used && !other.empty())
      throw InputError(fmt::format("{}: mixed tasks: {}", given.string(), other));
  }

  // By variant, in the order of the seeds.
  std::vector<Runs> sorted() && {
    for (Runs& runs : variants_)
      std::ranges::sort(runs, {}, [](const FinishedRun& r) { return r.config.seed; });
    return std::move(variants_);
  }

 private:
  // Whether it is compared; where its test was another one, `other` says what differs.
  bool add(const fs::path& folder, std::string& other) {
    if (!is_finished(RunFolder(folder))) return leave_out(folder, "not finished");
    FinishedRun run;
    try {
      run = read_finished_run(folder);
    } catch (const InputError& error) {
      return leave_out(folder, error.what());
    }
    if (const std::string why = variants_.empty() ? "" : other_test(variants_[0][0], run);
        !why.empty()) {
      other = why;
      return leave_out(folder, why);
    }
    Runs& variant = variant_of(run);
    const auto twin = std::ranges::find_if(
        variant, [&](const FinishedRun& r) { return r.config.seed == run.config.seed; });
    if (twin != variant.end())
      return leave_out(folder,
                       fmt::format("same configuration and seed as {}", twin->folder.string()));
    variant.push_back(std::move(run));
    return true;
  }

  Runs& variant_of(const FinishedRun& run) {
    const auto found = std::ranges::find_if(
        variants_, [&](const Runs& runs) { return same_variant(runs[0], run); });
    return found != variants_.end() ? *found : variants_.emplace_back();
  }

  bool leave_out(const fs::path& folder, const std::string& reason) {
    left_out_.push_back({folder, reason});
    return false;
  }

  std::vector<LeftOut>& left_out_;
  std::vector<Runs> variants_;
  std::set<fs::path> taken_;
};

// The runs that can be compared, by variant; the others are put into `comparison`.
std::vector<Runs> group(std::span<const fs::path> folders, Comparison& comparison) {
  Grouping grouping(comparison.left_out);
  for (const fs::path& given : folders) grouping.add_all(given);
  std::vector<Runs> variants = std::move(grouping).sorted();
  if (variants.empty())
    throw InputError(fmt::format("{}: no run is finished ({})", folders[0].string(),
                                 comparison.left_out[0].reason));
  return variants;
}

// ---- Figures ----

constexpr int kBandResamples = 2000;  // there are many of them, and they are only drawn

// `value(run, i)` for i in 0 .. count - 1, over the runs.
template <class Value>
std::vector<Estimate> estimates(const Runs& runs, std::size_t count, const Value& value) {
  std::vector<Estimate> all;
  std::vector<double> of_runs(runs.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::ranges::transform(runs, of_runs.begin(),
                           [&](const FinishedRun& r) { return value(r, i); });
    all.push_back(estimate_mean(of_runs, kBandResamples));
  }
  return all;
}

double mean_of(const Runs& runs, double FinishedRun::*figure) {
  double sum = 0.0;
  for (const FinishedRun& run : runs) sum += run.*figure;
  return sum / static_cast<double>(runs.size());
}

// Means over the runs, element by element.
std::vector<double> mean_of(const Runs& runs, const auto& values) {
  std::vector<double> sum(values(runs[0]).size(), 0.0);
  for (const FinishedRun& run : runs)
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += values(run)[i] / static_cast<double>(runs.size());
  return sum;
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
                             .seconds = seconds / static_cast<double>(runs.size()),
                             .error = errors[i]});
  }
}

// What was kept of the tests, where every run of the variant kept it.
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
                      (runs[0].config.scene.canvas[0] + map.rows - 1) / map.rows};
}

void add_figures(Variant& variant, const Runs& runs, std::size_t classes) {
  for (const FinishedRun& run : runs) {
    variant.folders.push_back(run.folder);
    variant.seeds.push_back(run.config.seed);
    variant.errors.push_back(run.error);
  }
  variant.mean = estimate_mean(variant.errors);
  variant.interquartile_mean = estimate_interquartile_mean(variant.errors);
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
    variant.on_target = estimate_mean(on_target);
    variant.on_target_by_glimpse =
        estimates(runs, runs[0].on_target_by_glimpse.size(),
                  [](const FinishedRun& r, std::size_t t) { return r.on_target_by_glimpse[t]; });
  }
  add_details(variant, runs, classes);
}

// Against the first variant: by the seeds that both have, and by all pairs.
void hold_against(Variant& variant, const Variant& first) {
  std::vector<double> pairs;
  for (std::size_t i = 0; i < variant.seeds.size(); ++i) {
    const auto same = std::ranges::find(first.seeds, variant.seeds[i]);
    if (same != first.seeds.end())
      pairs.push_back(variant.errors[i] - first.errors[same - first.seeds.begin()]);
  }
  if (!pairs.empty()) variant.difference = estimate_mean(pairs);
  variant.improvement = estimate_improvement(variant.errors, first.errors);
}

}  // namespace

Comparison gather(std::span<const fs::path> folders) {
  Comparison comparison;
  const std::vector<Runs> runs = group(folders, comparison);
  const FinishedRun& first = runs[0][0];
  comparison.scenes = first.config.evaluation.scenes;
  comparison.resamples = kResamples;
  for (const Runs& variant : runs)
    for (const FinishedRun& run : variant) {
      if (comparison.class_names.empty()) comparison.class_names = run.class_names;
      if (std::ranges::find(comparison.commands, run.command) == comparison.commands.end())
        comparison.commands.push_back(run.command);
    }
  comparison.variants.resize(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    add_figures(comparison.variants[i], runs[i], comparison.class_names.size());
    if (i > 0) hold_against(comparison.variants[i], comparison.variants[0]);
  }
  std::vector<const Config*> configs;
  for (const Runs& variant : runs) configs.push_back(&variant[0].config);
  comparison.differing = differing_keys(configs);
  const std::vector<std::string> labels = variant_labels(configs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    comparison.variants[i].label = labels[i];
    for (const std::string& key : comparison.differing)
      comparison.variants[i].settings.push_back(value_of(*configs[i], key));
  }
  return comparison;
}

}  // namespace saccade
