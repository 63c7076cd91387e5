#include "experiments/training/study_screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/printable.h"

namespace saccade {
namespace {

constexpr std::chrono::milliseconds kBetweenDraws{200};
constexpr const char* kClearBelow = "\r\x1b[J";

winsize terminal_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) size = {};
  return size;
}

// Cuts a line to the width, since a line that is redrawn must not wrap. ASCII.
std::string cut(const std::string& line, int columns) {
  return columns > 0 ? line.substr(0, static_cast<std::size_t>(columns - 1)) : line;
}

}  // namespace

// Receives the progress of one training and updates its line.
class StudyScreen::Row final : public Progress {
 public:
  Row(StudyScreen& screen, int run) : screen_(screen), run_(run) {}

  void begin(const RunWork& work) override { screen_.begin(run_, work); }
  void remark(const std::string& text) override { screen_.remark(run_, text); }
  void update(std::int64_t episodes, double per_second, double error) override {
    screen_.update(run_, episodes, per_second, error);
  }
  ProgressCallback testing() override {
    return [this](std::int64_t scenes, std::int64_t total) { screen_.test(run_, scenes, total); };
  }

 private:
  StudyScreen& screen_;
  const int run_;
};

StudyScreen::StudyScreen(const std::string& name, std::vector<std::int64_t> episodes)
    : name_(printable(name)),
      runs_(static_cast<int>(episodes.size())),
      terminal_(screen_of(stdout).terminal),
      work_(std::move(episodes)) {}

std::unique_ptr<Progress> StudyScreen::begin_run(int run, const std::string& label,
                                                 const RunFolder&) {
  const std::lock_guard guard(mutex_);
  running_[run].label = printable(label);
  return std::make_unique<Row>(*this, run);
}

void StudyScreen::begin(int run, const RunWork& work) {
  const std::lock_guard guard(mutex_);
  running_.at(run).work = work;
  work_.begin(run, work);
}

void StudyScreen::update(int run, std::int64_t episodes, double per_second, double error) {
  const std::lock_guard guard(mutex_);
  Training& training = running_.at(run);
  training.episodes = episodes;
  training.per_second = per_second;
  training.error = error;
  work_.update(run, episodes);
  first_training_ = std::min(first_training_, training.start);
  redraw();
}

void StudyScreen::test(int run, std::int64_t scenes, std::int64_t total) {
  const std::lock_guard guard(mutex_);
  Training& training = running_.at(run);
  training.tested =
      std::max(training.tested, static_cast<double>(scenes) / static_cast<double>(total));
  work_.test(run, scenes);
  redraw();
}

// One permanent line for each of the text, with the run's name.
void StudyScreen::remark(int run, const std::string& text) {
  const std::lock_guard guard(mutex_);
  std::string lines, line;
  for (std::istringstream all(printable(text)); std::getline(all, line);)
    lines += fmt::format("{}  {}\n", name_of(run), line);
  if (terminal_)
    draw(lines);
  else
    show(lines);
}

void StudyScreen::redraw() {
  if (terminal_ && Clock::now() - last_draw_ >= kBetweenDraws) draw("");
}

void StudyScreen::end_run(int run, const std::string& text, Ending ending) {
  const std::lock_guard guard(mutex_);
  const std::string name = name_of(run);
  const Training training = running_.at(run);
  running_.erase(run);
  if (ending != Ending::stopped) {
    ++ended_;
    work_.end(run);
  }
  failed_ += ending == Ending::failed;
  const std::string time =
      ending == Ending::trained ? "  " + clock_time(seconds_since(training.start)) : "";
  const std::string line = fmt::format("{}  {}{}\n", name, printable(text), time);
  if (terminal_)
    draw(line);
  else if (ending != Ending::stopped)
    show(line + whole() + "\n");
}

void StudyScreen::end_study() {
  const std::lock_guard guard(mutex_);
  if (terminal_) show(kClearBelow + whole() + "\n");
}

// Prints permanent lines above those of the runs and of the study. The cursor waits on the first of
// the latter.
void StudyScreen::draw(const std::string& lines) {
  constexpr int kOthers = 3;  // the study, the remaining runs, and the user's input
  last_draw_ = Clock::now();
  const winsize size = terminal_size();
  const std::size_t most = size.ws_row > kOthers ? size.ws_row - kOthers : running_.size();
  std::string text = kClearBelow + lines;
  std::size_t rows = 0;
  for (const auto& [run, training] : running_) {
    if (rows == most) {
      text += fmt::format("      and {} more\n", running_.size() - most);
      ++rows;
      break;
    }
    text += cut(name_of(run) + "  " + figures(training), size.ws_col) + "\n";
    ++rows;
  }
  text += cut(whole(), size.ws_col) + "\r";
  if (rows > 0) text += fmt::format("\x1b[{}A", rows);
  show(text);
}

std::string StudyScreen::figures(const Training& training) {
  if (training.tested >= 0.0) return fmt::format("final test, {:.0f} %", 100 * training.tested);
  if (training.episodes < 0) return "begins";
  return training_figures(training.episodes, training.work, training.per_second, training.error);
}

std::string StudyScreen::name_of(int run) const {
  return fmt::format("{:>4}/{}  {}", run + 1, runs_, running_.at(run).label);
}

std::string StudyScreen::whole() const {
  std::string text = fmt::format("{}: {} of {} runs done", name_, ended_, runs_);
  if (failed_ > 0) text += fmt::format(", {} failed", failed_);
  text += fmt::format(", {} so far", clock_time(seconds_since(start_)));
  constexpr double kFirstGuess = 2.0;  // seconds before the speed is meaningful
  const double done = work_.done();
  const double seconds = done > 0.0 ? seconds_since(first_training_) : 0.0;
  if (ended_ < runs_ && seconds > kFirstGuess)
    text += fmt::format(", about {} left", clock_time(work_.left() * seconds / done));
  return text;
}

}  // namespace saccade
