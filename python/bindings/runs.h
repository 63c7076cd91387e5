#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "experiments/runs/run_folder.h"
#include "experiments/verbs/verb.h"

namespace saccade::python {

/// A row of metrics.csv by the names of its columns and in their order; `episodes` is an integer.
nanobind::dict to_python(const MetricsRow& row);

/// Throws InputError for a number that the option of a verb does not allow. In Python it goes by
/// the option's name without dashes. Nothing is allowed, too.
void require_allowed(const Verb& verb, const std::string& option, std::optional<int> value);
/// The same of `threads`, where 0 are all there are.
void require_allowed_threads(int threads);

}  // namespace saccade::python
