#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "experiments/comparison/comparison.h"

namespace saccade {

/// Table for the screen, in per cent, with the folders that were left out.
std::string to_table(const Comparison& comparison);
/// The same as Markdown.
std::string to_markdown(const Comparison& comparison);
/// One row per variant, errors and shares as fractions; unknown values stay empty.
std::string to_csv(const Comparison& comparison);
/// One document: {"variants": [...], "left_out": [...], ...}, errors and shares as fractions.
nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace saccade
