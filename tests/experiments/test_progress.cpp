// Progress displays, with a simulated clock.
#include <doctest/doctest.h>

#include <mutex>
#include <utility>

#include "experiments/analysis/evaluate.h"
#include "experiments/analysis/gradients.h"
#include "experiments/analysis/record.h"
#include "experiments/analysis/saliency.h"
#include "experiments/evaluation/test_report.h"
#include "experiments/files/progress_bar.h"
#include "experiments/runs/trained.h"
#include "experiments/training/progress.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

// A terminal with a clock that only moves when told to.
struct FakeTerminal {
  Clock::time_point time;
  std::string written;
  int columns = 80;

  Screen screen(bool terminal = true) {
    return {.terminal = terminal,
            .columns = [this] { return columns; },
            .write = [this](const std::string& text) { written += text; },
            .now = [this] { return time; }};
  }
  void pass(int milliseconds) { time += std::chrono::milliseconds(milliseconds); }
  // Returns the output since the last call.
  std::string taken() { return std::exchange(written, ""); }
};

std::string bar_of(int full, int empty) {
  std::string bar;
  for (int i = 0; i < full; ++i) bar += "█";
  for (int i = 0; i < empty; ++i) bar += "░";
  return bar;
}

}  // namespace

TEST_CASE("a bar is filled to its share and uses the available width") {
  CHECK(with_bar("text", 0.5, 0) == bar_of(12, 12) + " text");
  CHECK(with_bar("text", 1.0, 200) == bar_of(24, 0) + " text");
  CHECK(with_bar("text", 0.5, 16) == bar_of(5, 5) + " text");  // 15 columns
  CHECK(with_bar("text", 0.5, 11) == "text");                  // no room for a bar of five
  CHECK(with_bar("a longer text", 0.5, 9) == "a longer");
  CHECK(with_bar("text", 7.0, 0) == bar_of(24, 0) + " text");
}

TEST_CASE(
    "a progress bar appears after two seconds, is redrawn five times a second, and is erased at "
    "the end") {
  FakeTerminal terminal;
  {
    ProgressBar bar("scenes", terminal.screen());
    const ProgressCallback on_progress = bar.on_progress();
    on_progress(0, 400);
    terminal.pass(1900);
    on_progress(100, 400);
    CHECK(terminal.taken().empty());
    terminal.pass(100);
    on_progress(100, 400);
    CHECK(terminal.taken() == kClearLine + bar_of(6, 18) + "  25 %  scenes  left 0:06");
    terminal.pass(100);
    on_progress(200, 400);
    CHECK(terminal.taken().empty());
    terminal.pass(1900);
    on_progress(150, 400);  // from a late thread
    CHECK(terminal.taken() == kClearLine + bar_of(12, 12) + "  50 %  scenes  left 0:04");
    terminal.pass(10'000);
    on_progress(0, 4);  // other work
    CHECK(terminal.taken() == kClearLine + bar_of(0, 24) + "   0 %  scenes");
    terminal.pass(1000);
    on_progress(1, 4);
    CHECK(terminal.taken() == kClearLine + bar_of(6, 18) + "  25 %  scenes  left 0:03");
  }
  CHECK(terminal.taken() == kClearLine);
}

TEST_CASE("no progress bar for short work or without a terminal") {
  FakeTerminal terminal;
  for (const bool is_one : {true, false}) {
    ProgressBar bar("scenes", terminal.screen(is_one));
    bar.update(0, 2);
    terminal.pass(is_one ? 1000 : 100'000);
    bar.update(1, 2);
  }
  CHECK(terminal.written.empty());
  const TemporaryVariable dumb("TERM", "dumb");
  CHECK_FALSE(screen_of(stderr).terminal);
}

namespace {

struct NoTraining : TrainingHandle {
  std::int64_t episodes() const override { return 0; }
  double learning_rate() const override { return 0.0; }
  double learning_rate_factor() const override { return 1.0; }
  void set_learning_rate_factor(double) override {}
  fs::path save_last() const override { return {}; }
  void save_agent(const fs::path&) const override {}
};

}  // namespace

TEST_CASE("a training's line is redrawn, with the last validation error") {
  FakeTerminal terminal;
  RunProgress progress(terminal.screen());
  progress.begin({.episodes = 2000});
  progress.update(500, 100.0, 0.25);
  CHECK(terminal.taken() == kClearLine + bar_of(6, 18) + "  25 %  100/s  error 25.00 %  left 0:15");
  terminal.pass(100);
  progress.update(600, 100.0, 0.25);
  CHECK(terminal.taken().empty());
  progress.line(1000, 100.0, 0.125, "valid 9.50 %");
  CHECK(terminal.taken() == std::string(kClearLine) +
                                training_figures(1000, {.episodes = 2000}, 100.0, 0.125) +
                                "  valid 9.50 %\n");
  MetricsRow row;
  row["valid/error"] = 0.095;
  NoTraining training;
  progress.row(row, training);
  progress.row({}, training);  // a row without one
  terminal.columns = 60;
  progress.update(1000, 100.0, 0.125);
  CHECK(terminal.taken() ==
        kClearLine + bar_of(3, 3) + "  50 %  100/s  error 12.50 %  valid 9.50 %  left 0:10");
  progress.finish();
  CHECK(terminal.taken() == kClearLine);
}

TEST_CASE("the time left includes the evaluations and the final test") {
  const RunWork work{.episodes = 2000, .validated = 400, .tested = 1600};
  FakeTerminal terminal;
  RunProgress progress(terminal.screen());
  progress.begin(work);
  progress.update(1000, 100.0, 0.25);  // 10 s, and 200 + 1600 scenes at half a hundredth each
  CHECK(contains(terminal.taken(), "left 0:19"));
  progress.line(2000, 100.0, 0.125, "");
  CHECK(
      contains(terminal.taken(), "100 %        2000 episodes     100/s  error 12.50 %  left 0:08"));
  progress.finish();

  const ProgressCallback test = progress.testing();
  test(0, 1600);
  terminal.pass(2000);
  test(400, 1600);
  CHECK(contains(terminal.taken(), "25 %  final test  left 0:06"));
  progress.note("the table\n");
  CHECK(terminal.taken() == std::string(kClearLine) + "the table\n");
}

TEST_CASE("the work left in a study includes the evaluations and tests of all runs") {
  const RunWork work{.episodes = 100, .validated = 40, .tested = 160};
  CHECK(all_work(work) == 200);
  StudyWork study({100, 100, 300, 100});
  CHECK(study.left() == 600);  // nothing else is known yet
  study.begin(0, work);
  study.begin(1, work);
  CHECK(study.left() == 1200);
  CHECK(study.done() == 0);
  study.update(0, 50);  // continues from there
  CHECK(study.done() == 0);
  CHECK(study.left() == 1140);
  study.update(0, 100);
  CHECK(study.done() == 60);
  CHECK(study.left() == 1080);
  study.test(0, 100);
  study.test(0, 80);  // from a late thread
  CHECK(study.left() == 1030);
  study.test(0, 160);
  study.end(0);
  CHECK(study.left() == 1000);
  CHECK(study.done() == 140);
  study.end(3);  // had finished before
  CHECK(study.left() == 800);
}

TEST_CASE("a training without a terminal prints only plain lines") {
  FakeTerminal terminal;
  RunProgress progress(terminal.screen(/*terminal=*/false));
  progress.begin({.episodes = 2000});
  progress.note("begins\n");
  progress.update(500, 100.0, 0.25);
  progress.line(1000, 100.0, 0.125, "");
  progress.finish();
  CHECK(terminal.written ==
        "begins\n" + training_figures(1000, {.episodes = 2000}, 100.0, 0.125) + "\n");
}

TEST_CASE("every command's progress reaches the total") {
  const TrainedTiny tiny({"reinforce.reward=probability"});
  const auto heard = [&](const auto& command) {
    std::mutex mutex;
    Pairs pairs;
    command([&](std::int64_t done, std::int64_t total) {
      const std::lock_guard guard(mutex);
      pairs.emplace_back(done, total);
    });
    REQUIRE(!pairs.empty());
    CHECK(pairs.front().first == 0);
    for (const auto& [done, total] : pairs) CHECK(total == pairs.front().second);
    std::ranges::sort(pairs);
    return pairs;
  };
  const Trained trained(tiny.run);
  const int passes = test_passes(trained.task.model, trained.task.config.evaluation);
  for (const int threads : {1, 2}) {
    const Pairs scenes = heard([&](const ProgressCallback& on_progress) {
      evaluate({.run_folder = tiny.run, .threads = threads}, on_progress);
    });
    CHECK(scenes.back() == std::pair(passes * std::int64_t{150}, passes * std::int64_t{150}));
  }
  const Pairs drawn = heard([&](const ProgressCallback& on_progress) {
    Workers workers(2);
    gradients(trained.task, flat(trained.weights),
              {.agent = "run", .scenes = 4, .samples = 5, .rollouts = 2}, workers, on_progress);
  });
  CHECK(drawn == Pairs{{0, 5}, {1, 5}, {2, 5}, {3, 5}, {4, 5}, {5, 5}});
  const Pairs filmed = heard([&](const ProgressCallback& on_progress) {
    record({.run_folders = {tiny.run}, .out = tiny.path / "a.png", .scenes = 2}, on_progress);
  });
  CHECK(filmed == Pairs{{0, 2}, {1, 2}, {2, 2}});
  const Pairs followed = heard([&](const ProgressCallback& on_progress) {
    saliency({.run_folder = tiny.run, .out = tiny.path / "maps", .scenes = 11}, on_progress);
  });
  CHECK(followed == Pairs{{0, 11}, {8, 11}, {11, 11}});
}

}  // namespace saccade
