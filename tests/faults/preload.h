// Common parts of the preloaded libraries in this folder.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdarg>
#include <cstddef>
#include <string>

// Anonymous: a preloaded library replaces whatever it exports.
namespace {

// Returns the function that the library replaces.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Uses system calls directly, which no library replaces.
void append_to(const char* path, const std::string& bytes) {
  const int file = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (file < 0) return;
  syscall(SYS_write, file, bytes.data(), bytes.size());
  syscall(SYS_close, file);
}

std::string path_of(int file) {
  char path[PATH_MAX];
  const ssize_t size =
      readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
  return size < 0 ? "" : std::string(path, static_cast<std::size_t>(size));
}

std::string absolute(const char* path, int folder = AT_FDCWD) {
  if (path[0] == '/') return path;
  if (folder != AT_FDCWD) return path_of(folder) + "/" + path;
  char here[PATH_MAX];
  return getcwd(here, sizeof here) == nullptr ? path : std::string(here) + "/" + path;
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace
