#include "experiments/evaluation/test_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "experiments/files/json_text.h"

namespace saccade {
namespace {

std::vector<TestPass> passes_of(const Model& model, const EvaluationConfig& config) {
  std::vector<TestPass> passes;
  const auto add = [&](Metric metric, PassRequest request) {
    passes.push_back({label_of(metric, config), metric, request, {}});
  };
  add("test/error", {.details = true});
  const LookTraits& look = model.look();
  if (model.answer().spells) add("test/error_beam", {.beam = config.beam});
  if (!look.looks) return passes;
  if (look.samples) {
    add("test/error_sampled", {.sampling = SamplingMode::sample});
    if (model.answer().classifies)
      add("test/error_averaged", {.sampling = SamplingMode::sample, .passes = config.rollouts});
  }
  if (look.expects) add("test/error_argmax", {.sampling = SamplingMode::argmax});
  add("test/error_shuffled", {.shuffled = true});
  add("test/error_center", {.policy = find_policy("center")});
  add("test/error_random", {.policy = find_policy("random")});
  return passes;
}

// Chooses the threshold on the validation scenes, unless it is given or the agent's own.
StopReport chosen_on_validation(const Model& model, std::span<const float> parameters,
                                const StopRequest& stop) {
  check_target(stop.target, model.num_glimpses());
  StopReport report;
  const Evaluation valid = stop.valid->run(parameters, {.details = true});
  report.curves = stop_curves(valid.details.outcomes);
  if (stop.threshold)
    report.threshold = *stop.threshold;
  else if (model.answer().stops && !stop.target.error && !stop.target.looks)
    report.threshold = model.answer().stop_threshold;
  else
    report.threshold = report.curves.thresholds[chosen_threshold(report.curves, stop.target)];
  return report;
}

void add_test(StopReport& report, const Model& model, const LookOutcomes& test) {
  add_test(report.curves, test);
  report.point = StopMeasure(test).at(looks_until_sure(test, report.threshold));
  report.cost = cost_of(model, report.point.looks.value);
}

}  // namespace

TestReport test_agent(const Model& model, std::span<const float> parameters, Evaluator& evaluator,
                      const EvaluationConfig& config, AttentionWeights* attention,
                      const ProgressCallback& on_progress, const StopRequest& stop) {
  TestReport report{passes_of(model, config)};
  const std::int64_t total = std::int64_t{test_passes(model, config)} * evaluator.scenes();
  std::atomic<std::int64_t> done = 0;
  if (on_progress) {
    on_progress(0, total);
    for (TestPass& pass : report.passes)
      pass.request.played = [&](int scenes) { on_progress(done += scenes, total); };
  }
  report.passes.front().request.attention = attention;
  if (stop.valid != nullptr && may_stop(model))
    report.stopping = chosen_on_validation(model, parameters, stop);
  for (TestPass& pass : report.passes) pass.result = evaluator.run(parameters, pass.request);
  for (TestPass& pass : report.passes) pass.request.played = nullptr;
  const EvaluationDetails& details = report.deterministic().details;
  if (report.stopping) add_test(*report.stopping, model, details.outcomes);
  if (!details.searched.empty())
    report.searched = set_size_report(details.searched, details.outcomes,
                                      report.stopping ? report.stopping->threshold : 1.0);
  return report;
}

int test_passes(const Model& model, const EvaluationConfig& config) {
  int count = 0;
  for (const TestPass& pass : passes_of(model, config))
    count += pass.request.passes * (pass.request.shuffled ? 2 : 1);
  return count;
}

std::string label_of(Metric pass, const EvaluationConfig& config) {
  if (pass == "test/error") return "single deterministic pass";
  if (pass == "test/error_beam") return fmt::format("beam search, {} hypotheses", config.beam);
  if (pass == "test/error_sampled") return "one sampled pass";
  if (pass == "test/error_averaged")
    return fmt::format("mean of {} sampled passes", config.rollouts);
  if (pass == "test/error_argmax") return "most probable glimpse alone";
  if (pass == "test/error_shuffled") return "shuffled locations";
  if (pass == "test/error_center") return "centre policy, same weights";
  return "random policy, same weights";
}

namespace {

// "  always 2 looks                  3.54 %   [3.20, 3.92]   "
std::string point_text(const std::string& label, const StopPoint& point) {
  return fmt::format(
      "  {:<28}{:>8.2f} %   {:<15}", label, 100 * point.error.value,
      fmt::format("[{:.2f}, {:.2f}]", 100 * point.error.low, 100 * point.error.high));
}

}  // namespace

std::string to_text(const TestTable& table) {
  const std::string scenes = table.images > 0 && table.images < table.scenes
                                 ? fmt::format("test, {} scenes of {}", table.scenes, table.images)
                                 : fmt::format("test, {} scenes", table.scenes);
  const auto without_end = [](const std::string& line) {
    return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  const int looks = table.spells ? 10 : 12;  // characters
  std::string head = fmt::format("  {:<28}{:>10}   {:<15}", scenes, table.acts ? "missed" : "error",
                                 "95 % interval");
  if (table.spells) head += fmt::format("{:>10}", "by symbol");
  if (table.looks) head += fmt::format("{:>{}}", table.acts ? "on ball" : "on digit", looks);
  std::string text = without_end(head);
  for (const TestTable::Line& line : table.lines) {
    std::string row = fmt::format("  {:<28}{:>8.2f} %   {:<15}", line.label, 100 * line.error,
                                  fmt::format("[{:.2f}, {:.2f}]", 100 * line.low, 100 * line.high));
    if (table.spells)
      row += line.symbol_error ? fmt::format("{:>8.2f} %", 100 * *line.symbol_error)
                               : std::string(10, ' ');
    if (line.on_target) row += fmt::format("{:>{}.1f} %", 100 * *line.on_target, looks - 2);
    text += without_end(row);
  }
  if (const auto& stopped = table.stopped)
    text += fmt::format(
        "{}   {:.2f} looks\n",
        point_text(fmt::format("stops when surer than {}", stopped->threshold), stopped->point),
        stopped->point.looks.value);
  if (table.on_answer)
    text +=
        fmt::format("  attention over states: {:.1f} % on the answer\n", 100 * *table.on_answer);
  if (!table.zooms.empty())
    text += fmt::format("  zoom by look: {:.2f}\n", fmt::join(table.zooms, " "));
  return text;
}

std::string to_text(const StopReport& report) {
  constexpr double kShown[] = {0.5, 0.8, 0.9, 0.95, 0.97, 0.99, 0.999};
  constexpr std::size_t kMostAlways = 8;
  const StopCurves& curves = report.curves;
  const std::size_t looks = curves.always.size();
  std::string text = fmt::format("  {:<28}{:>10}   {:<15}   {}\n", "stopping when sure", "error",
                                 "95 % interval", "mean looks");
  const auto add = [&](const std::string& label, const StopPoint& point) {
    text += fmt::format("{}   {:.2f} [{:.2f}, {:.2f}]\n", point_text(label, point),
                        point.looks.value, point.looks.low, point.looks.high);
  };
  for (std::size_t k = 0; k < curves.thresholds.size(); ++k)
    if (std::ranges::find(kShown, curves.thresholds[k]) != std::end(kShown))
      add(fmt::format("surer than {}", curves.thresholds[k]), curves.test[k]);
  const std::size_t every = (looks + kMostAlways - 1) / kMostAlways;
  for (std::size_t k = 0; k < looks; ++k)
    if (k % every == 0 || k + 1 == looks)
      text +=
          point_text(fmt::format("always {} look{}", k + 1, k == 0 ? "" : "s"), curves.always[k]) +
          fmt::format("   {}\n", k + 1);
  add("oracle: at the first right", curves.oracle);
  text += fmt::format(
      "  at {} an episode takes {:.2f} of {} looks, {:.3g} GFLOP, {:.0f} canvas pixels\n",
      report.threshold, report.point.looks.value, looks, report.cost.gflop,
      report.cost.canvas_pixels);
  return text;
}

TestTable to_table(const TestReport& report, const Model& model) {
  const Evaluation& first = report.deterministic();
  TestTable table{.scenes = first.scenes,
                  .images = first.images,
                  .acts = model.answer().acts,
                  .spells = model.answer().spells,
                  .looks = model.look().looks,
                  .lines = {},
                  .on_answer = {}};
  for (const auto& [label, metric, request, e] : report.passes) {
    TestTable::Line& line = table.lines.emplace_back(TestTable::Line{
        .label = label, .error = e.error, .low = e.error_low, .high = e.error_high});
    if (table.spells) line.symbol_error = e.symbol_error;
    if (table.looks) line.on_target = e.on_target;
  }
  if (model.answer().attends && table.looks) table.on_answer = first.on_answer;
  if (const auto& stopping = report.stopping)
    table.stopped = {stopping->threshold, stopping->point};
  table.zooms = zooms_of(report, model);
  return table;
}

std::vector<double> zooms_of(const TestReport& report, const Model& model) {
  if (model.look().zoom.is_point()) return {};
  return report.deterministic().zoom_by_glimpse;
}

MetricValues to_metrics(const TestReport& report, const Model& model) {
  MetricValues metrics;
  metrics["test/scenes"] = report.deterministic().scenes;
  metrics["test/images"] = report.deterministic().images;
  for (const auto& [label, metric, request, e] : report.passes) {
    metrics[metric] = e.error;
    metrics[metric.low()] = e.error_low;
    metrics[metric.high()] = e.error_high;
    if (metric == "test/error_random") metrics["attention/on_target_random"] = e.on_target;
    if (metric == "test/error_beam") metrics["test/symbol_error_beam"] = e.symbol_error;
  }
  if (const auto& stopping = report.stopping) {
    const auto& [error, looks] = stopping->point;
    metrics["test/stop_threshold"] = stopping->threshold;
    metrics["test/stopped_error"] = error.value;
    metrics["test/stopped_error_low"] = error.low;
    metrics["test/stopped_error_high"] = error.high;
    metrics["test/looks"] = looks.value;
    metrics["test/looks_low"] = looks.low;
    metrics["test/looks_high"] = looks.high;
    metrics["test/stopped_gflop"] = stopping->cost.gflop;
    metrics["test/stopped_pixels"] = stopping->cost.canvas_pixels;
  }
  const Evaluation& e = report.deterministic();
  if (model.answer().spells) metrics["test/symbol_error"] = e.symbol_error;
  if (model.answer().acts) metrics["test/earned"] = 1.0 - e.error;
  if (!model.look().looks) return metrics;
  if (model.answer().attends) metrics["attention/on_answer"] = e.on_answer;
  metrics["attention/on_target"] = e.on_target;
  metrics["attention/border"] = e.border;
  metrics["attention/distance"] = e.distance;
  metrics["attention/coverage"] = e.coverage;
  metrics["attention/entropy"] = e.entropy;
  if (!zooms_of(report, model).empty()) metrics["attention/zoom"] = e.zoom;
  return metrics;
}

std::string to_details(const TestReport& report, const std::vector<std::string>& class_names) {
  const Evaluation& e = report.deterministic();
  nlohmann::ordered_json details{{"class_names", class_names}};
  const auto put = [&](Metric metric, nlohmann::ordered_json value) {
    details[metric.name()] = std::move(value);
  };
  put("attention/on_target_by_glimpse", e.on_target_by_glimpse);
  put("test/error_by_glimpse", e.details.error_by_glimpse);
  put("test/confusion", e.details.confusion);
  put("attention/look_map", {{"rows", e.details.map.rows},
                             {"cols", e.details.map.cols},
                             {"weights", e.details.look_map}});
  if (report.stopping) put("test/stopping", to_json(report.stopping->curves));
  if (report.searched) put("test/search", to_json(*report.searched));
  return json_text(details) + "\n";
}

nlohmann::ordered_json to_json(const StopCurves& curves) {
  const auto numbers = [](std::span<const StopPoint> points, OverScenes StopPoint::*value,
                          double OverScenes::*end) {
    std::vector<double> all;
    for (const StopPoint& point : points) all.push_back(point.*value.*end);
    return all;
  };
  const auto json = [&](std::span<const StopPoint> points) {
    return nlohmann::ordered_json{
        {"error", numbers(points, &StopPoint::error, &OverScenes::value)},
        {"error_low", numbers(points, &StopPoint::error, &OverScenes::low)},
        {"error_high", numbers(points, &StopPoint::error, &OverScenes::high)},
        {"looks", numbers(points, &StopPoint::looks, &OverScenes::value)},
        {"looks_low", numbers(points, &StopPoint::looks, &OverScenes::low)},
        {"looks_high", numbers(points, &StopPoint::looks, &OverScenes::high)}};
  };
  return {{"thresholds", curves.thresholds},
          {"test", json(curves.test)},
          {"valid", json(curves.valid)},
          {"always", json(curves.always)},
          {"oracle", json({&curves.oracle, 1})}};
}

}  // namespace saccade
