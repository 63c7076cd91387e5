#include "agent/looking/location_estimator.h"

#include "base/name_table.h"

namespace saccade {
namespace {

const NameTable<LocationEstimator>& estimator_table() {
  static const NameTable<LocationEstimator> table{
      "reinforce.estimator",
      {{"score", {}},
       {"pathwise", {.by_score = false, .by_path = true}},
       {"both", {.by_path = true}}}};
  return table;
}

}  // namespace

const LocationEstimator& find_location_estimator(const std::string& name) {
  return estimator_table().at(name);
}
std::vector<std::string> location_estimators() { return estimator_table().names(); }

}  // namespace saccade
