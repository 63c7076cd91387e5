#include "experiments/training/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace saccade {
namespace {

constexpr std::chrono::milliseconds kRedraw{200};
constexpr int kBarWidth = 24;
constexpr const char* kClearLine = "\r\x1b[2K";
constexpr const char* kLineUp = "\x1b[1A";

std::string bar(std::int64_t done, std::int64_t total) {
  const int filled = static_cast<int>(kBarWidth * done / std::max<std::int64_t>(total, 1));
  std::string text;
  for (int i = 0; i < kBarWidth; ++i) text += i < filled ? "█" : "░";
  return text;
}

std::string figures(std::int64_t episodes, std::int64_t total, double rate, double error) {
  const double left = rate > 0.0 ? static_cast<double>(total - episodes) / rate : 0.0;
  return fmt::format("{:>3} %  {:>10} episodes  {:>6.0f}/s  error {:>5.2f} %  left {}",
                     100 * episodes / std::max<std::int64_t>(total, 1), episodes, rate, 100 * error,
                     clock_time(left));
}

// A line that is redrawn must not wrap: as much of it as the terminal has columns for. ASCII.
std::string cut_to_terminal(const std::string& line) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return line;
  return line.substr(0, size.ws_col - 1);
}

void show(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

}  // namespace

// ---- One training ----

RunProgress::RunProgress() : terminal_(isatty(STDOUT_FILENO) != 0) {}

void RunProgress::note(const std::string& text) { show(text); }

void RunProgress::update(std::int64_t episodes, double rate, double error) {
  const auto now = Clock::now();
  if (!terminal_ || (bar_shown_ && now - last_draw_ < kRedraw)) return;
  last_draw_ = now;
  bar_shown_ = true;
  show(kClearLine + bar(episodes, total_) + " " + figures(episodes, total_, rate, error));
}

void RunProgress::line(std::int64_t episodes, double rate, double error, const std::string& text) {
  show(fmt::format("{}{}{}{}\n", bar_shown_ ? kClearLine : "",
                   figures(episodes, total_, rate, error), text.empty() ? "" : "  ", text));
  bar_shown_ = false;
}

void RunProgress::finish() {
  if (bar_shown_) show(kClearLine);
  bar_shown_ = false;
}

// ---- The runs of a study ----

StudyProgress::StudyProgress(std::string name, std::vector<std::int64_t> episodes, bool quiet)
    : name_(std::move(name)),
      episodes_(std::move(episodes)),
      quiet_(quiet),
      terminal_(isatty(STDOUT_FILENO) != 0),
      start_(Clock::now()) {}

void StudyProgress::begin_run(const std::string& label, const RunFolder&) {
  label_ = label;
  ++runs_;
  total_ = now_ = 0;  // until the training begins
  first_ = -1;
  run_start_ = Clock::now();
  last_draw_ = {};
}

void StudyProgress::update(std::int64_t episodes, double rate, double error) {
  if (first_ < 0) first_ = episodes;
  now_ = episodes;
  const auto now = Clock::now();
  if (quiet_ || !terminal_ || now - last_draw_ < kRedraw) return;
  last_draw_ = now;
  const std::string line = run_name() + "  " + figures(episodes, total_, rate, error);
  show(fmt::format("{0}{1}\n{0}{2}{3}\r", kClearLine, cut_to_terminal(line),
                   cut_to_terminal(whole()), kLineUp));
}

void StudyProgress::end_run(const std::string& text, bool failed, bool trained) {
  failed_ += failed;
  const double seconds = seconds_since(run_start_);
  if (trained) {
    trained_episodes_ += static_cast<double>(now_ - first_);
    trained_seconds_ += seconds;
  }
  total_ = 0;
  if (quiet_) return;
  const std::string line =
      fmt::format("{}  {}{}", run_name(), text, trained ? "  " + clock_time(seconds) : "");
  if (terminal_)
    show(fmt::format("{0}{1}\n{0}{2}\r", kClearLine, line, cut_to_terminal(whole())));
  else
    show(line + "\n" + whole() + "\n");
}

void StudyProgress::end_study() {
  if (!quiet_ && terminal_) show("\n");
}

std::string StudyProgress::run_name() const {
  return fmt::format("{:>4}/{}  {}", runs_, episodes_.size(), label_);
}

std::string StudyProgress::whole() const {
  const auto all = static_cast<int>(episodes_.size());
  const int done = total_ > 0 ? runs_ - 1 : runs_;
  double left = 0.0;
  for (int i = done; i < all; ++i) left += static_cast<double>(episodes_[i]);
  std::string text = fmt::format("{}: {} of {} runs done", name_, done, all);
  if (failed_ > 0) text += fmt::format(", {} failed", failed_);
  text += fmt::format(", {} so far", clock_time(seconds_since(start_)));
  double episodes = trained_episodes_, seconds = trained_seconds_;
  if (total_ > 0) {
    left -= static_cast<double>(now_);
    episodes += static_cast<double>(now_ - first_);
    seconds += seconds_since(run_start_);
  }
  constexpr double kFirstGuess = 2.0;  // seconds, until which a rate says little
  if (done < all && seconds > kFirstGuess && episodes > 0.0)
    text += fmt::format(", about {} left", clock_time(left * seconds / episodes));
  return text;
}

}  // namespace saccade
