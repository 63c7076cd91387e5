#include "experiments/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace saccade {
namespace {

constexpr std::chrono::milliseconds kRedraw{200};
constexpr int kBarWidth = 24;
constexpr const char* kClearLine = "\r\x1b[2K";

std::string clock_time(double seconds) {
  const auto s = static_cast<long>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

}  // namespace

Progress::Progress(std::int64_t total_episodes, bool quiet)
    : total_(total_episodes), quiet_(quiet), terminal_(isatty(STDOUT_FILENO) != 0) {}

void Progress::update(std::int64_t episodes, double rate, double error) {
  const auto now = std::chrono::steady_clock::now();
  if (quiet_ || !terminal_ || (bar_shown_ && now - last_draw_ < kRedraw)) return;
  last_draw_ = now;
  bar_shown_ = true;
  const int filled = static_cast<int>(kBarWidth * episodes / total_);
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
  fmt::print("{}{} {}", kClearLine, bar, figures(episodes, rate, error));
  std::fflush(stdout);
}

void Progress::line(std::int64_t episodes, double rate, double error, const std::string& text) {
  if (quiet_) return;
  fmt::print("{}{}{}{}\n", bar_shown_ ? kClearLine : "", figures(episodes, rate, error),
             text.empty() ? "" : "  ", text);
  std::fflush(stdout);
  bar_shown_ = false;
}

void Progress::finish() {
  if (bar_shown_) fmt::print("{}", kClearLine);
  std::fflush(stdout);
  bar_shown_ = false;
}

std::string Progress::figures(std::int64_t episodes, double rate, double error) const {
  const double left = rate > 0.0 ? static_cast<double>(total_ - episodes) / rate : 0.0;
  return fmt::format("{:>3} %  {:>10} episodes  {:>6.0f}/s  error {:>5.2f} %  left {}",
                     100 * episodes / total_, episodes, rate, 100 * error, clock_time(left));
}

}  // namespace saccade
