#pragma once

#include <vector>

#include "experiments/comparison/chart.h"

namespace saccade {

/// Appends looks_<n> for each variant with a look map, all on one colour scale so that they can be
/// compared.
void add_look_maps(const Comparison& comparison, std::vector<Chart>& charts);
/// Appends confusion_<n> for each variant with a confusion matrix, in per cent.
void add_confusions(const Comparison& comparison, std::vector<Chart>& charts);

}  // namespace saccade
