#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace saccade::python {

/// "ValueError: the text of what was raised", without a traceback. Needs the interpreter's lock.
inline std::string text_of(const nanobind::python_error& raised) {
  const std::string type = nanobind::str(raised.type().attr("__name__")).c_str();
  return type + ": " + nanobind::str(raised.value()).c_str();
}

}  // namespace saccade::python
