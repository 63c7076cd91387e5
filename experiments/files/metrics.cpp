#include "experiments/files/metrics.h"

#include <stdexcept>

namespace saccade {

Metric Metric::named(std::string_view name) {
  const MetricFacts* facts = find(name);
  if (facts == nullptr)
    throw std::logic_error("the table of metrics has no '" + std::string(name) + "'");
  return Metric(facts);
}

}  // namespace saccade
