#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>

#include "base/clock.h"

namespace saccade {

/// Told that `done` of `total` is done: first 0, which begins anew, then more and more, by any of
/// several threads and not always in order. Empty: nobody listens.
using Told = std::function<void(std::int64_t done, std::int64_t total)>;

/// Where a line may renew itself. No colours are used, so that NO_COLOR has nothing to forbid.
struct Screen {
  bool terminal = false;                          // else it may not
  std::function<int()> columns;                   // of now; 0: not known
  std::function<void(const std::string&)> write;  // is seen at once
  std::function<Clock::time_point()> now = [] { return Clock::now(); };
};

/// That of standard output or error: no terminal where it is a file or a pipe, or where TERM is
/// "dumb".
Screen screen_of(std::FILE* file);

/// For a terminal: back to the beginning of the line, which is cleared.
inline constexpr const char* kClearLine = "\r\x1b[2K";

/// A bar filled to `share` in [0, 1], and an ASCII text behind it: in all less than `columns` wide
/// (0: not known), the bar as wide as there is room, or none.
std::string with_bar(const std::string& text, double share, int columns);

/// What work shows that has taken two seconds: a line that renews itself and is gone at the end.
/// On a terminal alone.
class ProgressBar {
 public:
  /// `what`: a word on the work. Draws on standard error by default.
  explicit ProgressBar(std::string what, Screen screen = screen_of(stderr));
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(std::int64_t done, std::int64_t total);
  /// Refers to this bar.
  Told told();

 private:
  const std::string what_;
  const Screen screen_;
  std::mutex mutex_;
  const Clock::time_point begun_;
  Clock::time_point start_;  // of what is being done
  Clock::time_point last_draw_;
  std::int64_t done_ = 0, total_ = 0;
  bool shown_ = false;
};

/// Does work(told), whose progress is shown meanwhile.
template <class Work>
auto with_progress(const std::string& what, const Work& work) {
  ProgressBar bar(what);
  return work(bar.told());
}

}  // namespace saccade
