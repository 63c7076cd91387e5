#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"
#include "experiments/comparison/tuning.h"

namespace saccade {

/// Returns the controls that all these runs of a variant have. One is beaten if its error is
/// clearly above the agent's: by the 95 % interval of the difference, paired by seed; with a single
/// seed, if their intervals over the scenes do not overlap.
std::vector<Control> controls_of(const Runs& runs);

/// Returns the error of a control, if the variant has it.
std::optional<Estimate> control_error(const Variant& variant, Metric metric);

/// Returns the column title of a control: "shuffled", "centre", "random".
std::string control_title(Metric metric);

/// Returns a sentence for each variant whose error is not clearly lower than that of every control:
/// "hard: attention does nothing that random looks (9.10 %) could not: its error, 9.00 %, is not
/// clearly less."
std::vector<std::string> idle_attention(const Comparison& comparison);

}  // namespace saccade
