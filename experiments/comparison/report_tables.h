#pragma once

#include <string>

#include "experiments/comparison/comparison.h"

namespace saccade {

// The tables of the report's page, as HTML.

/// A row a variant: its error, how it compares with the first variant and with its controls, and
/// where it looks. What no variant has, such as intervals where all have one seed, has no column.
std::string figures_table(const Comparison& comparison);
/// A row a variant: what its training and an episode of it have cost. Times on the page are
/// clock_time().
std::string costs_table(const Comparison& comparison);
/// A row a run.
std::string runs_table(const Comparison& comparison);
/// In what the variants' configurations differ; the longer of the two lists goes down the page.
std::string settings_table(const Comparison& comparison);
/// A row a try of tuned variants, and which one stands for its variant.
std::string tries_table(const Comparison& comparison);
std::string left_out_table(const Comparison& comparison);

/// 8 000 000
std::string grouped(double count);

}  // namespace saccade
