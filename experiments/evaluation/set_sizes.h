#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/evaluation/stopping.h"

namespace saccade {

/// A scene of a visual search (env/search.h).
struct SearchedScene {
  int size = 0;   // number of digits after the cue
  int label = 0;  // 1: the target is one of them
};

/// What an agent did in the scenes of one set size and one label. Means; NaN without scenes.
struct SetSizeResult {
  int scenes = 0;
  double error = 0.0;          // share of wrong answers after all looks
  double stopped_error = 0.0;  // and when it stops as soon as it is sure
  double looks = 0.0;          // until then, the cue's included
};

/// Error and looks against set size, as the literature on visual search reports reaction times
/// (Treisman and Gelade 1980; Wolfe 1998): a slope near 0 is a target that pops out, and a serial
/// search that ends at the target has half the slope where it is present.
struct SetSizeReport {
  double threshold = 1.0;  // of the sureness at which it stops; 1: never
  std::vector<int> sizes;  // (S), ascending
  std::array<std::vector<SetSizeResult>, 2> results = {};  // (S) by label
  // Looks an item, by label: of the line of least squares through the looks at all scenes; none if
  // they have one set size.
  std::array<std::optional<double>, 2> slopes = {};
};

/// `scenes` (N) are those of `outcomes`.
SetSizeReport set_size_report(std::span<const SearchedScene> scenes, const LookOutcomes& outcomes,
                              double threshold);

/// A table for the screen, in per cent.
std::string to_text(const SetSizeReport& report);

/// {"threshold": x, "set_sizes": (S), "absent": results, "present": results}, where results are
/// {"scenes": (S), "error": (S), "stopped_error": (S), "looks": (S), "looks_per_item": x}; null
/// without scenes.
nlohmann::ordered_json to_json(const SetSizeReport& report);

}  // namespace saccade
