#include "experiments/comparison/matrix_charts.h"

#include <fmt/format.h>

#include <algorithm>

namespace saccade {
namespace {

constexpr double kHundred = 100.0;

/// Axis over cells, labelled in canvas pixels.
Axis pixel_axis(const std::string& title, int cells, int cell) {
  Axis axis = linear_axis(title, 0.0, cells * cell);
  for (Tick& tick : axis.ticks) tick.value /= cell;
  axis.high = cells;
  std::erase_if(axis.ticks, [&](const Tick& tick) { return tick.value > cells; });
  return axis;
}

std::string where_looked(const LookMap& map, const std::string& label) {
  const auto peak = std::ranges::max_element(map.exposure) - map.exposure.begin();
  double all = 0.0, middle = 0.0;
  for (int y = 0; y < map.rows; ++y)
    for (int x = 0; x < map.cols; ++x) {
      const double exposure = map.exposure[y * map.cols + x];
      all += exposure;
      const bool inside =
          4 * y >= map.rows && 4 * y < 3 * map.rows && 4 * x >= map.cols && 4 * x < 3 * map.cols;
      if (inside) middle += exposure;
    }
  return fmt::format(
      "Where {} looks on a canvas of {} x {} pixels: most at pixel ({}, {}); {:.0f} % of what is "
      "looked at lies in the middle quarter of the area.",
      label, map.cols * map.cell, map.rows * map.cell, peak % map.cols * map.cell,
      peak / map.cols * map.cell, all > 0.0 ? middle / all * kHundred : 0.0);
}

std::string class_name(const Comparison& comparison, int label) {
  return label < static_cast<int>(comparison.class_names.size()) ? comparison.class_names[label]
                                                                 : std::to_string(label);
}

std::string most_confused(const Comparison& comparison, const ChartMatrix& matrix) {
  double worst = 0.0, right = 0.0;
  int there = 0, answered = 0, seen = 0;
  for (int row = 0; row < matrix.rows; ++row) {
    const double* shares = &matrix.values[row * matrix.cols];
    if (std::any_of(shares, shares + matrix.cols, [](double share) { return share > 0.0; })) ++seen;
    right += shares[row];
    for (int col = 0; col < matrix.cols; ++col)
      if (col != row && shares[col] > worst) {
        worst = shares[col];
        there = row;
        answered = col;
      }
  }
  const std::string mean =
      fmt::format("{:.2f} % right, mean over {} classes", seen > 0 ? right / seen : 0.0, seen);
  if (worst == 0.0) return mean + "; no class is taken for another.";
  return fmt::format("{}; most often {} is taken for {}, in {:.2f} % of its scenes.", mean,
                     class_name(comparison, there), class_name(comparison, answered), worst);
}

}  // namespace

void add_look_maps(const Comparison& comparison, std::vector<Chart>& charts) {
  double high = 0.0;
  for (const Variant& variant : comparison.variants)
    for (const double exposure : variant.look_map.exposure) high = std::max(high, exposure);
  if (high <= 0.0) return;
  for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
    const Variant& variant = comparison.variants[v];
    const LookMap& map = variant.look_map;
    if (!variant.looks || map.exposure.empty()) continue;
    charts.push_back({.id = fmt::format("looks_{}", v + 1),
                      .title = "Where it looks: " + variant.label,
                      .text = where_looked(map, variant.label),
                      .kind = ChartKind::heat_map,
                      .x = pixel_axis("x, pixels", map.cols, map.cell),
                      .y = pixel_axis("y, pixels", map.rows, map.cell),
                      .matrix = {map.rows, map.cols, map.exposure, high, {}}});
  }
}

void add_confusions(const Comparison& comparison, std::vector<Chart>& charts) {
  for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
    const Variant& variant = comparison.variants[v];
    const int classes = variant.confusion.classes;
    if (classes == 0) continue;
    ChartMatrix matrix{.rows = classes, .cols = classes, .high = kHundred};
    for (const double share : variant.confusion.shares) matrix.values.push_back(share * kHundred);
    for (int label = 0; label < classes; ++label)
      matrix.names.push_back(class_name(comparison, label));
    charts.push_back({.id = fmt::format("confusion_{}", v + 1),
                      .title = "Confusion: " + variant.label,
                      .text = fmt::format("Which class {} takes for which: {}", variant.label,
                                          most_confused(comparison, matrix)),
                      .kind = ChartKind::confusion,
                      .x = {.title = "answer", .high = double(classes)},
                      .y = {.title = "what was there", .high = double(classes)},
                      .matrix = matrix});
  }
}

}  // namespace saccade
