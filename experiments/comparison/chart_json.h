#pragma once

#include <string>
#include <vector>

#include "experiments/comparison/chart.h"

namespace saccade {

/// The charts as one JSON document, safe between <script> tags: `charts` with the members of Chart
/// under their names (a series has its `colour` and `marker` in place of `variant`), and
/// `heat_colours`. Numbers have seven significant digits; what is not finite is null.
std::string charts_json(const std::vector<Chart>& charts);

/// #rrggbb
std::string css_colour(Colour colour);

}  // namespace saccade
