#include "python/bindings/module.h"

#include "nn/error.h"

namespace nb = nanobind;

NB_MODULE(_saccade, m) {
  nb::set_leak_warnings(false);  // of what modules hold at the end of the interpreter
  m.doc() = "The C++ side of Saccade. Use the package `saccade`.";
  nb::exception<saccade::InputError>(m, "InputError", PyExc_ValueError).doc() =
      "What was given cannot be used. The message names it and what is allowed.";
  saccade::python::bind_agents(m);
  saccade::python::bind_environments(m);
  saccade::python::bind_trainings(m);
  saccade::python::bind_runs(m);
}
