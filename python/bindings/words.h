#pragma once

#include <string>
#include <string_view>

namespace saccade::python {

/// Translates a library message to Python, where command-line options are keyword arguments:
/// "--resume continues" becomes "resume=True continues", "--out DIR" becomes "out=DIR", "--fps 0:
/// allowed" becomes "fps: 0; allowed", and `saccade data mnist` in backquotes becomes
/// saccade.data.download("mnist").
std::string in_python(std::string_view message);

}  // namespace saccade::python
