#pragma once

#include <cerrno>
#include <filesystem>
#include <string>

namespace saccade {

/// The text of an errno: "No space left on device". Streams do not always set errno, so set it to 0
/// before using them.
std::string system_reason(int error = errno);

/// Throws "<what>: <reason>". Maps errno to InputError if the user can fix it with another path
/// (missing, no permission, not a file, bad name), otherwise to std::runtime_error (disk full or
/// broken, too many open files).
[[noreturn]] void throw_refused(const std::string& what, int error = errno);

/// The same for an error of std::filesystem: "<path>: <reason>".
[[noreturn]] void throw_refused(const std::filesystem::filesystem_error& error);

}  // namespace saccade
