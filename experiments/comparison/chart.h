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
  std::string title = {};  // with the unit
  double low = 0.0;
  double high = 1.0;
  bool logarithmic = false;      // then `low` is positive
  bool clock = false;            // whether values are seconds that are told as clock_time()
  std::vector<Tick> ticks = {};  // ascending, within [low, high]
};

/// From round number to round number around [low, high], with about `count` ticks.
Axis linear_axis(const std::string& title, double low, double high, int count = 6);
/// The same by ratios: ticks at 1, 2, 5 times a power of ten. 0 < low <= high.
Axis logarithmic_axis(const std::string& title, double low, double high);

/// By ratios with ticks at round times. 1 s <= low <= high.
Axis clock_axis(const std::string& name, double low, double high);
/// A value on an axis as people read it: "12.3", or "3:05".
std::string told_on(const Axis& axis, double value);
/// The same with the unit: "12.3 million episodes".
std::string told_with_unit(const Axis& axis, double value);

enum class ChartKind {
  lines,      // estimates over x with a band where the interval is known
  points,     // estimates over x with whiskers, joined where a series has more than one
  rows,       // a row a series: its one estimate along x, with whiskers, and the single runs
  confusion,  // a matrix of shares in per cent, its cells written out
  heat_map,   // a matrix of exposures
};

/// Numbers in the units of the axes.
struct Series {
  std::string name = {};
  int variant = 0;             // its place among the variants: which colour and marker; unique
  std::vector<double> x = {};  // (N); of `rows`: the row
  std::vector<Estimate> estimates = {};  // (N)
  std::vector<double> singles = {};      // of `rows`: the single runs
};

/// Rows from top to bottom.
struct ChartMatrix {
  int rows = 0;
  int cols = 0;
  std::vector<double> values = {};      // (rows, cols), in [0, high]
  double high = 1.0;                    // what has the strongest colour
  std::vector<std::string> names = {};  // of rows and columns alike; empty: they are pixels
};

/// A chart as numbers and words. draw_chart() draws it.
struct Chart {
  std::string id = {};     // of letters, digits and _; unique
  std::string title = {};  // of one line
  std::string text = {};   // what it shows, in words, for who does not see it
  ChartKind kind = ChartKind::lines;
  Axis x = {}, y = {};
  std::vector<Series> series = {};
  ChartMatrix matrix = {};  // of `confusion` and `heat_map`
};

/// The charts of a comparison that have data, in the order of a report. Their ids: final_error,
/// learning_episodes, error_by_glimpse, error_by_num_glimpses (where the variants differ in it;
/// those alike in all else make one series), on_target_by_glimpse, then cost_gflop and
/// cost_seconds: the validation error against the arithmetic and the time that the training has
/// taken so far, on an axis of ratios, since what learns at another price learns at another scale.
/// One that would be an earlier one with another axis is left out: that of arithmetic where an
/// episode costs all variants the same within a fifth, that of time where an episode takes all of
/// them the same, or the same for the same arithmetic. Then looks_n and confusion_n of variant n =
/// 1, 2, ... Shares are in per cent. Figures must be finite.
std::vector<Chart> charts_of(const Comparison& comparison);

/// So many significant digits or all before the point, no exponent: of three 12.3, 0.0123, 1234, 2.
/// Empty for what is not finite.
std::string short_number(double value, int digits);
std::string short_number(double value);  // of three digits

/// Whether it is one of `confusion` and `heat_map`.
bool is_matrix(const Chart& chart);

}  // namespace saccade
