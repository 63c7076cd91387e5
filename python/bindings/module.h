#pragma once

#include <nanobind/nanobind.h>

namespace saccade::python {

/// Each adds its classes and functions to the module.
void bind_agents(nanobind::module_& m);
void bind_environments(nanobind::module_& m);
void bind_looks(nanobind::module_& m);
void bind_trainings(nanobind::module_& m);
void bind_runs(nanobind::module_& m);
void bind_data(nanobind::module_& m);

}  // namespace saccade::python
