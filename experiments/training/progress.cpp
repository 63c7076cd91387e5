#include "experiments/training/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace saccade {
namespace {

constexpr std::chrono::milliseconds kRedraw{200};

}  // namespace

std::string progress_bar(std::int64_t done, std::int64_t total) {
  constexpr int kWidth = 24;
  const int filled = static_cast<int>(kWidth * done / std::max<std::int64_t>(total, 1));
  std::string text;
  for (int i = 0; i < kWidth; ++i) text += i < filled ? "█" : "░";
  return text;
}

std::string training_figures(std::int64_t episodes, std::int64_t total, double per_second,
                             double error) {
  const double left = per_second > 0.0 ? static_cast<double>(total - episodes) / per_second : 0.0;
  return fmt::format("{:>3} %  {:>10} episodes  {:>6.0f}/s  error {:>5.2f} %  left {}",
                     100 * episodes / std::max<std::int64_t>(total, 1), episodes, per_second,
                     100 * error, clock_time(left));
}

void show(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

RunProgress::RunProgress() : terminal_(isatty(STDOUT_FILENO) != 0) {}

void RunProgress::note(const std::string& text) { show(text); }

void RunProgress::update(std::int64_t episodes, double rate, double error) {
  const auto now = Clock::now();
  if (!terminal_ || (bar_shown_ && now - last_draw_ < kRedraw)) return;
  last_draw_ = now;
  bar_shown_ = true;
  show(kClearLine + progress_bar(episodes, total_) + " " +
       training_figures(episodes, total_, rate, error));
}

void RunProgress::line(std::int64_t episodes, double rate, double error, const std::string& text) {
  show(fmt::format("{}{}{}{}\n", bar_shown_ ? kClearLine : "",
                   training_figures(episodes, total_, rate, error), text.empty() ? "" : "  ",
                   text));
  bar_shown_ = false;
}

void RunProgress::finish() {
  if (bar_shown_) show(kClearLine);
  bar_shown_ = false;
}

}  // namespace saccade
