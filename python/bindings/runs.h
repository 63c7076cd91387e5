#pragma once

#include <nanobind/nanobind.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/range.h"
#include "experiments/config/config.h"
#include "experiments/runs/metrics_file.h"

namespace saccade::python {

/// Returns a row of metrics.csv as column name -> value, in column order; `episodes` is an integer.
nanobind::dict to_python(const MetricsRow& row);
/// Returns a JSON object as dictionaries and lists. Numbers that are not finite become None, and
/// invalid UTF-8 is replaced, as in JSON text.
nanobind::dict to_python(const nlohmann::ordered_json& document);

/// Every key of a configuration and its value.
using ConfigItems = std::vector<std::pair<std::string, nanobind::object>>;
ConfigItems items_of(const Config& config);

/// Throws InputError for a number outside the range, calling it `name`. No value is allowed, too.
void require_allowed(const std::string& name, Range range, std::optional<int> value);
/// The same for `threads`, where 0 means all processors.
void require_allowed_threads(int threads);

}  // namespace saccade::python
