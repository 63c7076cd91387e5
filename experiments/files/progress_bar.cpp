#include "experiments/files/progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace saccade {
namespace {

constexpr std::chrono::milliseconds kUnseen{2000};  // shorter work shows no bar
constexpr std::chrono::milliseconds kBetweenDraws{200};
constexpr int kWidestBar = 24, kLeastBar = 6;

int columns_of(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

Screen screen_of(std::FILE* file) {
  const int descriptor = fileno(file);
  const char* kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
  return {.terminal = !dumb && isatty(descriptor) != 0,
          .columns = [descriptor] { return columns_of(descriptor); },
          .write =
              [file](const std::string& text) {
                fmt::print(file, "{}", text);
                std::fflush(file);
              }};
}

std::string with_bar(const std::string& text, double share, int columns) {
  const int length = static_cast<int>(text.size());
  const int room = columns > 0 ? columns - 2 - length : kWidestBar;
  if (room < kLeastBar)
    return columns > 0 ? text.substr(0, static_cast<std::size_t>(columns - 1)) : text;
  const int width = std::min(room, kWidestBar);
  const int filled = static_cast<int>(width * std::clamp(share, 0.0, 1.0));
  std::string line;
  for (int i = 0; i < width; ++i) line += i < filled ? "█" : "░";
  return line + " " + text;
}

ProgressBar::ProgressBar(std::string what, Screen screen)
    : what_(std::move(what)), screen_(std::move(screen)), begun_(screen_.now()), start_(begun_) {}

ProgressBar::~ProgressBar() {
  if (shown_) screen_.write(kClearLine);
}

void ProgressBar::update(std::int64_t done, std::int64_t total) {
  if (!screen_.terminal) return;
  const std::lock_guard guard(mutex_);
  const Clock::time_point now = screen_.now();
  if (done == 0) {
    start_ = now;
    done_ = 0;
  }
  done_ = std::max(done_, done);
  total_ = total;
  if (now - begun_ < kUnseen || total_ <= 0 || (shown_ && now - last_draw_ < kBetweenDraws)) return;
  const double share = static_cast<double>(done_) / static_cast<double>(total_);
  std::string text = fmt::format("{:>3} %  {}", 100 * done_ / total_, what_);
  if (done_ > 0) {
    const double passed = std::chrono::duration<double>(now - start_).count();
    text += fmt::format("  left {}", clock_time(passed * (1.0 - share) / share));
  }
  screen_.write(kClearLine + with_bar(text, share, screen_.columns()));
  last_draw_ = now;
  shown_ = true;
}

ProgressCallback ProgressBar::on_progress() {
  return [this](std::int64_t done, std::int64_t total) { update(done, total); };
}

}  // namespace saccade
