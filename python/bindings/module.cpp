#include "python/bindings/module.h"

#include <exception>
#include <filesystem>
#include <stdexcept>

#include "base/error.h"
#include "base/system_reason.h"
#include "experiments/runs/build_facts.h"
#include "python/bindings/words.h"

namespace nb = nanobind;

namespace {

// Translates errors of the libraries to Python. An exception of std::filesystem becomes InputError
// if the path is at fault, otherwise RuntimeError.
void translate_error(const std::exception_ptr& thrown, void* input_error) {
  const auto raise = [](PyObject* kind, const std::exception& error) {
    PyErr_SetString(kind, saccade::python::in_python(error.what()).c_str());
  };
  try {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::filesystem::filesystem_error& error) {
      saccade::throw_refused(error);
    }
  } catch (const saccade::InputError& error) {
    raise(static_cast<PyObject*>(input_error), error);
  } catch (const std::range_error&) {  // mapped to its own exception
    throw;
  } catch (const std::overflow_error&) {
    throw;
  } catch (const std::runtime_error& error) {
    raise(PyExc_RuntimeError, error);
  }
}

}  // namespace

NB_MODULE(_saccade, m) {
  nb::set_leak_warnings(false);  // modules hold objects until the interpreter ends
  m.doc() = "The C++ side of Saccade. Use the package `saccade`.";
  const nb::exception<saccade::InputError> input_error(m, "InputError", PyExc_ValueError);
  input_error.doc() = "What was given cannot be used. The message names it and what is allowed.";
  nb::register_exception_translator(translate_error, input_error.ptr());
  saccade::python::bind_agents(m);
  saccade::python::bind_environments(m);
  saccade::python::bind_looks(m);
  saccade::python::bind_trainings(m);
  saccade::python::bind_runs(m);
  saccade::python::bind_data(m);
  m.attr("version") = nb::str(saccade::version().c_str());
}
