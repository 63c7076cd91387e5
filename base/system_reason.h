#pragma once

#include <cerrno>
#include <filesystem>
#include <string>

namespace saccade {

/// Why the system refused the last thing that was asked of it: "No space left on device". Streams
/// do not always leave a reason: errno is set to 0 before they are asked.
std::string system_reason(int error = errno);

/// Throws "<what>: <the reason>". InputError where the user can give another file or place: this
/// one is not there, not theirs, no file or badly named. Else std::runtime_error: the disk is full
/// or broken, there are too many files open.
[[noreturn]] void throw_refused(const std::string& what, int error = errno);

/// The same of what std::filesystem threw: "<path>: <the reason>".
[[noreturn]] void throw_refused(const std::filesystem::filesystem_error& error);

}  // namespace saccade
