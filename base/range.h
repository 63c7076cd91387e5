#pragma once

namespace saccade {

/// Range of an integer, inclusive.
struct Range {
  int least;
  int most;
};

}  // namespace saccade
