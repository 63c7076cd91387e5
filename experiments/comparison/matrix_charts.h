#pragma once

#include <vector>

#include "experiments/comparison/chart.h"

namespace saccade {

/// Appends looks_<n> for each variant that has a look map: one colour scale for all, so that they
/// can be held against each other.
void add_look_maps(const Comparison& comparison, std::vector<Chart>& charts);
/// Appends confusion_<n> for each variant that has its confusions, in per cent.
void add_confusions(const Comparison& comparison, std::vector<Chart>& charts);

}  // namespace saccade
