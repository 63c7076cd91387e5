#pragma once

#include <filesystem>
#include <mutex>
#include <system_error>

// The C++ library for WebAssembly has neither threads nor files. Included before every source of
// the module, whose only thread never waits, and which finds no file.
namespace std {

class mutex {
 public:
  void lock() {}
  bool try_lock() { return true; }
  void unlock() {}
};

namespace filesystem {
inline bool exists(const path&, error_code&) { return false; }
}  // namespace filesystem

}  // namespace std
