#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace saccade {

/// How far a training is: a bar that redraws itself on a terminal, plain lines elsewhere.
class Progress {
 public:
  /// `quiet` shows nothing.
  Progress(std::int64_t total_episodes, bool quiet);

  /// Redraws the bar at most five times a second; nothing where the output is no terminal.
  void update(std::int64_t episodes, double episodes_per_second, double error);
  /// A line that stays. `text` is added to the figures.
  void line(std::int64_t episodes, double episodes_per_second, double error,
            const std::string& text);
  /// Ends the bar's line.
  void finish();

 private:
  std::string figures(std::int64_t episodes, double rate, double error) const;

  std::int64_t total_;
  bool quiet_;
  bool terminal_;
  bool bar_shown_ = false;
  std::chrono::steady_clock::time_point last_draw_;
};

}  // namespace saccade
