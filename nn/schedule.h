#pragma once

#include <string>
#include <vector>

namespace saccade {

/// Returns the factor on the learning rate at `progress` in [0, 1]: a linear rise from 0 over the
/// first fraction `warmup`, then by name: `constant` (1), `linear` and `cosine` (to
/// `final_factor`), `exponential` (geometrically to `final_factor`, which must then be > 0). Throws
/// InputError if the name is unknown.
double learning_rate_factor(const std::string& schedule, double progress, double warmup,
                            double final_factor);

std::vector<std::string> learning_rate_schedules();
/// Whether it moves to `final_factor`, which has no effect otherwise. Throws InputError if the name
/// is unknown.
bool schedule_has_end(const std::string& schedule);
/// Whether `final_factor` may be 0. Throws InputError if the name is unknown.
bool schedule_may_end_at_zero(const std::string& schedule);

}  // namespace saccade
