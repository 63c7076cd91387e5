#pragma once

#include <algorithm>

namespace saccade {

/// A setting that moves linearly from `from` to `to` over the first fraction `over` of training and
/// then stays there. from == to gives a constant. `over` in (0, 1].
struct Ramp {
  double from = 0.0;
  double to = 0.0;
  double over = 1.0;

  /// progress in [0, 1]: the fraction of training that is done.
  double at(double progress) const { return from + (to - from) * std::min(1.0, progress / over); }
  /// A constant with the value at `progress`; the ramp itself where it has ended.
  Ramp held_at(double progress) const {
    const double now = at(progress);
    return now == at(1.0) ? *this : Ramp{now, now, over};
  }

  bool operator==(const Ramp&) const = default;
};

}  // namespace saccade
