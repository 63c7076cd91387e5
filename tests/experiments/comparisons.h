#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "experiments/comparison/chart.h"
#include "experiments/comparison/comparison.h"

namespace saccade {

// Handmade comparisons, without runs.

inline Estimate around(double value, double room) {
  return {.value = value, .low = value - room, .high = value + room, .known = room > 0.0};
}

/// A variant that ends at `error` and takes `num_glimpses` looks at a canvas of 6 x 8 pixels, with
/// 3 classes. `seeds` is at least 1; all numbers depend on these three.
inline Variant made_variant(const std::string& label, double error, int seeds, int num_glimpses) {
  const double room = seeds > 1 ? 0.1 * error : 0.0;
  Variant variant;
  variant.label = label;
  variant.mean = around(error, room);
  variant.interquartile_mean = around(0.98 * error, room);
  variant.difference = around(error - 0.02, room);
  variant.improvement = around(0.4, seeds > 1 ? 0.2 : 0.0);
  variant.episodes = 4e6;
  variant.gflop_per_episode = 0.0123;
  variant.canvas_pixels = 4321.0;
  variant.seconds = 3000.0 * error / 0.02;
  variant.on_target = around(0.75, room);
  variant.controls = {{"test/error_shuffled", around(0.51, room)},
                      {"test/error_center", around(0.62, room)},
                      {"test/error_random", around(0.73, room)}};
  variant.num_glimpses = num_glimpses;
  variant.settings = {label};
  for (int seed = 1; seed <= seeds; ++seed) {
    variant.seeds.push_back(static_cast<std::uint64_t>(seed));
    variant.folders.push_back("runs/" + label + "/seed-" + std::to_string(seed));
    variant.errors.push_back(error * (1.0 + 0.1 * std::sin(7.0 * seed)));
    variant.errors_over_scenes.push_back(around(seeds > 1 ? variant.errors.back() : error, 0.001));
  }
  for (int i = 1; i <= 8; ++i) {
    const double now = error + 0.6 * std::exp(-0.9 * i);
    variant.curve.push_back({.episodes = 5e5 * i,
                             .gflop = 5e5 * i * variant.gflop_per_episode,
                             .seconds = variant.seconds * i / 8.0,
                             .error = around(now, seeds > 1 ? 0.12 * now : 0.0)});
  }
  for (int seed = 1; seed <= seeds; ++seed) {
    RunCurve& run = variant.run_curves.emplace_back();
    for (const CurvePoint& point : variant.curve)
      run.push_back(point.error.value * (1.0 + 0.1 * std::sin(5.0 * seed)));
  }
  for (int t = 1; t <= num_glimpses; ++t) {
    variant.error_by_glimpse.push_back(around(error + 0.5 * std::exp(-1.0 * t), room));
    variant.on_target_by_glimpse.push_back(around(0.9 - 0.6 / t - error, room));
  }
  if (num_glimpses > 1) {
    Stopping stopping{.over_scenes = seeds == 1, .thresholds = {0.0, 0.9, 1.0}};
    for (int t = 1; t <= num_glimpses; ++t)
      stopping.always.push_back({variant.error_by_glimpse[t - 1], around(t, 0.0)});
    stopping.curve = {stopping.always.front(),
                      {around(1.1 * error, room), around(1.5, 0.2)},
                      stopping.always.back()};
    stopping.oracle = {around(0.5 * error, room), around(1.2, 0.1)};
    stopping.chosen.assign(static_cast<std::size_t>(seeds), 0.9);
    stopping.stopped = stopping.curve[1];
    variant.stopping = stopping;
  }
  variant.confusion = {.classes = 3,
                       .shares = {0.99, 0.01, 0.0, 0.02, 0.95, 0.03, 0.0, error, 1.0 - error}};
  variant.look_map = {.rows = 6, .cols = 8, .exposure = {}};
  for (int pixel = 0; pixel < 6 * 8; ++pixel)
    variant.look_map.exposure.push_back(error * pixel * (47 - pixel));
  return variant;
}

inline Comparison made_comparison(std::vector<Variant> variants) {
  return {.variants = std::move(variants),
          .left_out = {{"runs/broken", "has no summary.json"}},
          .differing = {"attention.glimpse.kind"},
          .class_names = {"zero", "one", "two"},
          .scenes = 10000,
          .resamples = 2000,
          .commands = {"saccade run a.yaml", "saccade compare runs/a runs/b"}};
}

inline Comparison two_variants() {
  return made_comparison({made_variant("soft", 0.02, 5, 4), made_variant("hard", 0.03, 4, 4)});
}

inline const Chart& chart_named(const std::vector<Chart>& charts, const std::string& id) {
  const auto found = std::ranges::find(charts, id, &Chart::id);
  REQUIRE_MESSAGE(found != charts.end(), id);
  return *found;
}

inline Chart chart_of(const Comparison& comparison, const std::string& id) {
  return chart_named(charts_of(comparison), id);
}

}  // namespace saccade
