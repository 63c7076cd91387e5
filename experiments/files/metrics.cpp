#include "experiments/files/metrics.h"

#include <stdexcept>

namespace saccade {

Metric Metric::named(std::string_view name) {
  const int place = find(name);
  if (place < 0) throw std::logic_error("the table of metrics has no '" + std::string(name) + "'");
  return Metric(place);
}

}  // namespace saccade
