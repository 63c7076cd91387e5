#pragma once

#include <cmath>

namespace saccade {

/// A setting that is a range of positive numbers, spaced by their logarithm; `from` <= `to`.
struct LogRange {
  double from = 1.0;
  double to = 1.0;

  bool is_point() const { return from == to; }
  /// from (to / from)^((1 + u) / 2), for u in [-1, 1].
  double at(double u) const { return from * std::pow(to / from, 0.5 * (1.0 + u)); }
  /// d log at(u) / d u
  double log_slope() const { return 0.5 * std::log(to / from); }

  bool operator==(const LogRange&) const = default;
};

}  // namespace saccade
