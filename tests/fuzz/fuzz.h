#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"

// A fuzz target is a parser of untrusted files and a function that passes it an input. For any
// input, the parser accepts it or throws InputError; another exception propagates and ends the
// program, as does a finding of a sanitizer.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace saccade::fuzz {

/// The rest of an input.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  /// Consumes the next byte as a choice of 0 .. count - 1: the letters '0', '1', ... are the
  /// choices in order, so that seeds can be typed. Returns 0 at the end of the input.
  std::size_t choose(std::size_t count) {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(rest_.front() - '0');
    rest_.remove_prefix(1);
    return byte % count;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

inline void put_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

/// Returns whether `read` accepted the input; false if it threw InputError.
template <class Read>
bool takes(const Read& read) {
  try {
    read();
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Ends the program as a finding unless `holds`.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace saccade::fuzz
