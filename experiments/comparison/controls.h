#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"
#include "experiments/comparison/tuning.h"

namespace saccade {

/// The controls that all of these runs of a variant have, held against its error over the seeds.
std::vector<Control> controls_of(const Runs& runs, const Estimate& error);

/// The error of the control of that metric, where the variant has it.
std::optional<Estimate> control_error(const Variant& variant, Metric metric);

/// What a column of a control is called: "shuffled", "centre", "random".
std::string control_title(Metric metric);

/// A sentence for each variant whose error is not clearly less than every control's: "hard:
/// attention does nothing that random looks (9.10 %) could not: its error, 9.00 %, is not clearly
/// less."
std::vector<std::string> idle_attention(const Comparison& comparison);

}  // namespace saccade
