#pragma once

#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"

namespace saccade {

/// A mark on an axis.
struct Tick {
  double value = 0.0;
  std::string label = {};
};

struct Axis {
  std::string title = {};  // including the unit
  double low = 0.0;
  double high = 1.0;
  bool logarithmic = false;      // `low` is positive then
  bool clock = false;            // values are seconds, shown as clock_time()
  std::vector<Tick> ticks = {};  // ascending, within [low, high]
};

/// Returns an axis between round numbers around [low, high], with about `count` ticks.
Axis linear_axis(const std::string& title, double low, double high, int count = 6);
/// Returns a logarithmic axis with ticks at 1, 2, 5 times a power of ten. 0 < low <= high.
Axis logarithmic_axis(const std::string& title, double low, double high);

/// Returns a logarithmic axis with ticks at round times. 1 s <= low <= high.
Axis clock_axis(const std::string& name, double low, double high);
/// Returns a value as shown on an axis: "12.3", or "3:05".
std::string told_on(const Axis& axis, double value);
/// Returns the same with the unit: "12.3 million episodes".
std::string told_with_unit(const Axis& axis, double value);

enum class ChartKind {
  lines,      // estimates over x with a band where the interval is known
  points,     // estimates over x with whiskers, joined if a series has more than one
  rows,       // one row per series: its single estimate along x, with whiskers, and the individual
              // runs
  confusion,  // a matrix of shares in per cent, printed in its cells
  heat_map,   // a matrix of exposures
};

/// Numbers in the units of the axes.
struct Series {
  std::string name = {};
  int variant = 0;             // index of the variant, which selects colour and marker; unique
  std::vector<double> x = {};  // (N); the row in a `rows` chart
  std::vector<Estimate> estimates = {};  // (N)
  std::vector<double> singles = {};      // the individual runs in a `rows` chart
  // The individual runs in a `lines` chart, if there are several: (N) each, thin lines.
  std::vector<std::vector<double>> runs = {};
};

/// Rows from top to bottom.
struct ChartMatrix {
  int rows = 0;
  int cols = 0;
  std::vector<double> values = {};      // (rows, cols), in [0, high]
  double high = 1.0;                    // value with the strongest colour
  std::vector<std::string> names = {};  // of both rows and columns; empty: they are pixels
};

/// A chart as numbers and text. draw_chart() draws it.
struct Chart {
  std::string id = {};     // letters, digits and _; unique
  std::string title = {};  // one line
  std::string text = {};   // description for people who cannot see the chart
  ChartKind kind = ChartKind::lines;
  Axis x = {}, y = {};
  std::vector<Series> series = {};
  ChartMatrix matrix = {};  // for `confusion` and `heat_map`
};

/// Returns the charts of a comparison that have data, in the order of a report. Their ids:
/// final_error, learning_episodes, error_by_glimpse, error_by_num_glimpses (if the variants differ
/// in it; variants that agree in everything else form one series), error_by_looks (if several
/// agents may stop when they are sure), on_target_by_glimpse, then
/// cost_gflop and cost_seconds: the validation error against the arithmetic and the time that
/// training has used so far, on a logarithmic axis because costs differ by orders of magnitude. A
/// chart that would repeat an earlier one on a rescaled axis is left out: arithmetic if an episode
/// costs all variants the same within a fifth, time if an episode takes all of them the same time,
/// or the same time per arithmetic. Then stopping_n, looks_n and confusion_n of variant n = 1, 2,
/// ... Shares are in per cent. Values must be finite.
std::vector<Chart> charts_of(const Comparison& comparison);

/// Whether charts_of() can make a chart of this id, of any comparison.
bool is_chart_id(const std::string& id);

/// Formats with `digits` significant digits, or with all digits before the point; no exponent. With
/// three: 12.3, 0.0123, 1234, 2. Empty if not finite.
std::string short_number(double value, int digits);
std::string short_number(double value);  // three digits

/// Returns whether it is a `confusion` or a `heat_map`.
bool is_matrix(const Chart& chart);

}  // namespace saccade
