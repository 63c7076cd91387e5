#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "experiments/commands/command.h"
#include "experiments/runs/run_folder.h"

namespace saccade::python {

/// Returns a row of metrics.csv as column name -> value, in column order; `episodes` is an integer.
nanobind::dict to_python(const MetricsRow& row);

/// Throws InputError for a number outside the range of the command's option, naming the option
/// without dashes as in Python. No value is allowed, too.
void require_allowed(const Command& command, const std::string& option, std::optional<int> value);
/// The same for `threads`, where 0 means all processors.
void require_allowed_threads(int threads);

}  // namespace saccade::python
