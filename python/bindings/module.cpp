#include "python/bindings/module.h"

#include <exception>
#include <filesystem>
#include <stdexcept>

#include "nn/error.h"
#include "nn/system_reason.h"

namespace nb = nanobind;

namespace {

// What std::filesystem throws is InputError where the path is to blame, else RuntimeError.
void translate_filesystem_error(const std::exception_ptr& thrown, void* input_error) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::filesystem::filesystem_error& error) {
    try {
      saccade::throw_refused(error);
    } catch (const saccade::InputError& refused) {
      PyErr_SetString(static_cast<PyObject*>(input_error), refused.what());
    } catch (const std::runtime_error& refused) {
      PyErr_SetString(PyExc_RuntimeError, refused.what());
    }
  }
}

}  // namespace

NB_MODULE(_saccade, m) {
  nb::set_leak_warnings(false);  // of what modules hold at the end of the interpreter
  m.doc() = "The C++ side of Saccade. Use the package `saccade`.";
  const nb::exception<saccade::InputError> input_error(m, "InputError", PyExc_ValueError);
  input_error.doc() = "What was given cannot be used. The message names it and what is allowed.";
  nb::register_exception_translator(translate_filesystem_error, input_error.ptr());
  saccade::python::bind_agents(m);
  saccade::python::bind_environments(m);
  saccade::python::bind_trainings(m);
  saccade::python::bind_runs(m);
}
