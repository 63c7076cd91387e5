#pragma once

#include <string>
#include <string_view>

namespace saccade::python {

/// A message of the libraries in Python's words. These name options as the command line has them;
/// here they are keyword arguments: "--resume goes on" is "resume=True goes on", "--out DIR" is
/// "out=DIR", "--fps 0: allowed" is "fps: 0; allowed", and `saccade data mnist` in backquotes is
/// saccade.data.download("mnist").
std::string in_python(std::string_view message);

}  // namespace saccade::python
