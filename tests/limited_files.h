#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>

namespace saccade {

/// Limits the size of files until its end, as a full disk would; applies to child processes, too.
class LimitedFiles {
 public:
  explicit LimitedFiles(rlim_t most_bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{most_bytes, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~LimitedFiles() { setrlimit(RLIMIT_FSIZE, &before_); }
  LimitedFiles(const LimitedFiles&) = delete;
  LimitedFiles& operator=(const LimitedFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace saccade
