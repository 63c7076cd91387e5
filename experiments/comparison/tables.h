#pragma once

#include <string>

#include "experiments/comparison/comparison.h"

namespace saccade {

/// The table for the screen, in per cent, with what was left out.
std::string to_table(const Comparison& comparison);
/// The same as Markdown.
std::string to_markdown(const Comparison& comparison);
/// One row a variant, errors and shares as fractions; what is not known stays empty.
std::string to_csv(const Comparison& comparison);
/// One document: {"variants": [...], "left_out": [...], ...}, errors and shares as fractions.
std::string to_json(const Comparison& comparison);

}  // namespace saccade
