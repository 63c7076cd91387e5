#pragma once

#include <string>

#include "experiments/comparison/comparison.h"

namespace saccade {

// The tables of the report page, as HTML.

/// One row per variant: its error, how it compares with the first variant and with its controls,
/// and where it looks. Columns that no variant has, such as intervals if all have one seed, are
/// omitted.
std::string figures_table(const Comparison& comparison);
/// One row per variant: the cost of its training and of one episode. Times are clock_time().
std::string costs_table(const Comparison& comparison);
/// One row per run.
std::string runs_table(const Comparison& comparison);
/// The settings in which the variants differ; the longer of the two lists runs down the page.
std::string settings_table(const Comparison& comparison);
/// One row per try of the tuned variants, with the chosen one marked.
std::string tries_table(const Comparison& comparison);
std::string left_out_table(const Comparison& comparison);

/// Groups thousands: 8 000 000.
std::string grouped(double count);

}  // namespace saccade
