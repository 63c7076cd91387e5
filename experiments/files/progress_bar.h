#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>

#include "base/clock.h"

namespace saccade {

/// Progress callback: `done` of `total` is done. Starts with 0, which restarts the count, then
/// increases; may be called by several threads and slightly out of order. Empty: nobody listens.
using ProgressCallback = std::function<void(std::int64_t done, std::int64_t total)>;

/// A screen on which a line may be redrawn. No colours are used, so NO_COLOR has no effect.
struct Screen {
  bool terminal = false;                          // if not, no line may be redrawn
  std::function<int()> columns;                   // current width; 0: unknown
  std::function<void(const std::string&)> write;  // visible immediately
  std::function<Clock::time_point()> now = [] { return Clock::now(); };
};

/// Returns the screen of standard output or error. It is no terminal if it is a file or a pipe, or
/// if TERM is "dumb".
Screen screen_of(std::FILE* file);

/// On a terminal: returns to the start of the line and clears it.
inline constexpr const char* kClearLine = "\r\x1b[2K";

/// Returns a bar filled to `share` in [0, 1] followed by an ASCII text, in all narrower than
/// `columns` (0: unknown); the bar is shortened or omitted to fit.
std::string with_bar(const std::string& text, double share, int columns);

/// Shows the progress of work that takes longer than two seconds, in a line that is redrawn and
/// erased at the end. Only on a terminal.
class ProgressBar {
 public:
  /// `what`: a label for the work. Draws on standard error by default.
  explicit ProgressBar(std::string what, Screen screen = screen_of(stderr));
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(std::int64_t done, std::int64_t total);
  /// Refers to this bar.
  ProgressCallback on_progress();

 private:
  const std::string what_;
  const Screen screen_;
  std::mutex mutex_;
  const Clock::time_point begun_;
  Clock::time_point start_;  // of the current work
  Clock::time_point last_draw_;
  std::int64_t done_ = 0, total_ = 0;
  bool shown_ = false;
};

/// Runs work(on_progress) while showing its progress.
template <class Work>
auto with_progress(const std::string& what, const Work& work) {
  ProgressBar bar(what);
  return work(bar.on_progress());
}

}  // namespace saccade
