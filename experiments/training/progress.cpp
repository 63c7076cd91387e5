#include "experiments/training/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/printable.h"

namespace saccade {
namespace {

constexpr std::chrono::milliseconds kRedraw{200};

double seconds_left(std::int64_t episodes, const RunWork& work, double per_second) {
  return per_second > 0.0 ? (all_work(work) - work_done(work, episodes)) / per_second : 0.0;
}

}  // namespace

std::string training_figures(std::int64_t episodes, const RunWork& work, double per_second,
                             double error) {
  return fmt::format("{:>3} %  {:>10} episodes  {:>6.0f}/s  error {:>5.2f} %  left {}",
                     100 * episodes / std::max<std::int64_t>(work.episodes, 1), episodes,
                     per_second, 100 * error, clock_time(seconds_left(episodes, work, per_second)));
}

void show(const std::string& text) {
  std::fputs(text.c_str(), stdout);  // an error is ignored: a closed output must not end the
                                     // training
  std::fflush(stdout);
}

RunProgress::RunProgress(Screen screen) : screen_(std::move(screen)) {}

void RunProgress::note(const std::string& text) {
  test_bar_.reset();
  screen_.write(printable(text));
}

void RunProgress::update(std::int64_t episodes, double rate, double error) {
  if (!screen_.terminal) return;
  const Clock::time_point now = screen_.now();
  if (bar_shown_ && now - last_draw_ < kRedraw) return;
  last_draw_ = now;
  bar_shown_ = true;
  const std::int64_t total = std::max<std::int64_t>(work_.episodes, 1);
  std::string text =
      fmt::format("{:>3} %  {:.0f}/s  error {:.2f} %", 100 * episodes / total, rate, 100 * error);
  if (valid_error_) text += fmt::format("  valid {:.2f} %", 100 * *valid_error_);
  text += fmt::format("  left {}", clock_time(seconds_left(episodes, work_, rate)));
  const double share = static_cast<double>(episodes) / static_cast<double>(total);
  screen_.write(kClearLine + with_bar(text, share, screen_.columns()));
}

void RunProgress::line(std::int64_t episodes, double rate, double error, const std::string& text) {
  screen_.write(fmt::format("{}{}{}{}\n", bar_shown_ ? kClearLine : "",
                            training_figures(episodes, work_, rate, error),
                            text.empty() ? "" : "  ", text));
  bar_shown_ = false;
}

void RunProgress::row(const MetricsRow& row, TrainingHandle& /*training*/) {
  if (row.contains("valid/error")) valid_error_ = row.at("valid/error");
}

void RunProgress::finish() {
  if (bar_shown_) screen_.write(kClearLine);
  bar_shown_ = false;
}

ProgressCallback RunProgress::testing() {
  return test_bar_.emplace("final test", screen_).on_progress();
}

}  // namespace saccade
