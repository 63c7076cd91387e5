#include "experiments/training/study_training.h"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "experiments/runs/run_failure.h"
#include "tests/experiments/studies.h"

namespace saccade {
namespace {

using RunEnding = StudyProgress::Ending;

// Records the progress reports.
class RecordedStudy : public StudyProgress {
 public:
  std::unique_ptr<Progress> begin_run(int run, const std::string& label,
                                      const RunFolder&) override {
    labels[run] = label;
    ++now;
    most = std::max(most, now);
    return std::make_unique<OfRun>(*this, run);
  }
  void end_run(int run, const std::string& text, RunEnding ending) override {
    --now;
    endings[run] = ending;
    texts[run] = text;
  }

  virtual void update(int /*run*/, std::int64_t /*episodes*/) {}

  std::map<int, std::string> labels, texts;
  std::map<int, RunEnding> endings;
  int now = 0, most = 0;  // concurrent runs

 private:
  struct OfRun : Progress {
    OfRun(RecordedStudy& study_, int run_) : study(study_), run(run_) {}
    void update(std::int64_t episodes, double, double) override { study.update(run, episodes); }
    RecordedStudy& study;
    int run;
  };
};

StudyOutcome train(const TinyStudy& tiny, const std::string& out, int jobs, StudyProgress& progress,
                   int threads = 2, const std::atomic<bool>& stop = false) {
  return train_study(
      tiny.study(),
      {.folder = tiny.path / out, .jobs = jobs, .threads = threads, .command = "saccade run"},
      progress, stop);
}

}  // namespace

TEST_CASE("concurrent runs give the same bytes as runs trained alone") {
  const TinyStudy tiny("vary: {model.core: [rnn, gru, lstm]}\nseeds: 2\n");
  RecordedStudy alone;
  CHECK(train(tiny, "alone", 1, alone).finished.size() == 6);
  CHECK(alone.most == 1);
  for (const auto& [jobs, threads] : std::vector<std::pair<int, int>>{{2, 2}, {3, 8}, {6, 1}}) {
    CAPTURE(jobs);
    const std::string out = fmt::format("jobs-{}", jobs);
    RecordedStudy progress;
    const StudyOutcome outcome = train(tiny, out, jobs, progress, threads);
    CHECK(outcome.finished.size() == 6);
    CHECK(outcome.failed == 0);
    CHECK_FALSE(outcome.stopped);
    CHECK(progress.labels == alone.labels);
    CHECK(progress.texts == alone.texts);
    CHECK(progress.endings == alone.endings);
    for (const StudyRun& run : tiny.runs()) {
      check_same_run(tiny.path / out / run.folder, tiny.path / "alone" / run.folder);
      CHECK_FALSE(fs::exists(tiny.path / out / run.folder / kLockFile));
    }
  }
}

TEST_CASE("`jobs` runs are trained at once") {
  // Each waits for the other in its first update: one after the other, they would never end.
  class Waits final : public RecordedStudy {
    void update(int run, std::int64_t) override {
      {
        const std::lock_guard guard(mutex_);
        begun_.insert(run);
      }
      while (true) {
        const std::lock_guard guard(mutex_);
        if (begun_.size() >= 2) return;
      }
    }
    std::mutex mutex_;
    std::set<int> begun_;
  };
  const TinyStudy tiny("seeds: 2\n");
  Waits waits;
  CHECK(train(tiny, "study", 2, waits).finished.size() == 2);
  CHECK(waits.most == 2);
}

TEST_CASE("the default number of concurrent runs is limited by runs, threads and memory") {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  CHECK(default_jobs(8, 2, 64 * kGiB) == 2);
  CHECK(default_jobs(8, 64, 640 * kGiB) == 8);
  CHECK(default_jobs(100, 64, 4 * kGiB) == 8);
  CHECK(default_jobs(100, 64, 0) == 1);
  CHECK(default_jobs(0, 4, 64 * kGiB) == 1);

  const TinyStudy tiny("seeds: 3\n");
  RecordedStudy progress;
  CHECK(train(tiny, "study", 0, progress, 1).finished.size() == 3);
  CHECK(progress.most == 1);
}

TEST_CASE("a failed run is reported, and tried again the next time") {
  const TinyStudy tiny("vary: {init_from: [none, null]}\nseeds: 2\n");
  for (int tries = 0; tries < 2; ++tries) {
    RecordedStudy progress;
    const StudyOutcome outcome = train(tiny, "study", 2, progress);
    CHECK(outcome.failed == 2);
    CHECK(outcome.finished.size() == 2);
    CHECK(progress.endings[0] == RunEnding::failed);
    CHECK(contains(progress.texts[1], "failed: init_from: none: no run folder with a checkpoint"));
    CHECK(progress.endings[3] == (tries == 0 ? RunEnding::trained : RunEnding::found_finished));
    const RunFolder folder(tiny.path / "study" / tiny.runs()[0].folder);
    const std::optional<RunFailure> failure = read_failure(folder);
    REQUIRE(failure);
    CHECK(failure->message.starts_with("init_from: none: "));
    CHECK_FALSE(folder.exists());
  }
  // The missing file is back: failed.txt is removed.
  fs::copy(tiny.path / "study" / tiny.runs()[2].folder, tiny.path / "there",
           fs::copy_options::recursive);
  put_bytes(tiny.yaml, tiny_yaml(tiny.path / "data") + fmt::format("vary: {{init_from: [{}]}}\n",
                                                                   (tiny.path / "there").string()));
  const RunFolder folder(tiny.path / "study" / tiny.runs()[0].folder);
  fs::create_directories(folder.path());
  keep_failure(folder, "not there");
  REQUIRE(read_failure(folder));
  RecordedStudy progress;
  CHECK(train(tiny, "study", 2, progress).failed == 0);
  CHECK_FALSE(read_failure(folder));
}

TEST_CASE("a run in training by another process is left to it") {
  const TinyStudy tiny("seeds: 3\n");
  const fs::path held = tiny.path / "study" / tiny.runs()[1].folder;
  auto lock = std::make_unique<RunLock>(held, "somebody else");
  RecordedStudy progress;
  const StudyOutcome outcome = train(tiny, "study", 2, progress);
  CHECK(outcome.finished.size() == 2);
  REQUIRE(outcome.held.size() == 1);
  CHECK(outcome.held[0].command == "somebody else");
  CHECK_FALSE(outcome.stopped);
  CHECK_FALSE(progress.endings.contains(1));
  lock.reset();
  CHECK(train(tiny, "study", 2, progress).finished.size() == 3);
  CHECK(progress.endings[0] == RunEnding::found_finished);
  CHECK(progress.endings[1] == RunEnding::trained);
}

TEST_CASE("a run that another process abandons meanwhile is trained after all") {
  const TinyStudy tiny("seeds: 2\n");
  auto lock =
      std::make_unique<RunLock>(tiny.path / "study" / tiny.runs()[0].folder, "somebody else");
  // The holder leaves in the first update of the other run.
  class Leaves final : public RecordedStudy {
   public:
    explicit Leaves(std::unique_ptr<RunLock>& lock) : lock_(lock) {}

   private:
    void update(int, std::int64_t) override { lock_.reset(); }
    std::unique_ptr<RunLock>& lock_;
  };
  Leaves leaves(lock);
  CHECK(train(tiny, "study", 1, leaves).finished.size() == 2);
  CHECK(leaves.endings.at(0) == RunEnding::trained);
}

TEST_CASE("runs that another process ends meanwhile, finished or failed, are not repeated") {
  // In the first update of the last run the others end: one finished, one failed.
  const TinyStudy tiny("seeds: 3\n");
  RecordedStudy nothing;
  train(tiny, "whole", 1, nothing);
  class Ends final : public RecordedStudy {
   public:
    explicit Ends(const TinyStudy& tiny) : tiny_(tiny) {
      for (int run : {0, 1})
        locks_.push_back(std::make_unique<RunLock>(
            tiny.path / "study" / tiny.runs()[static_cast<std::size_t>(run)].folder, ""));
    }

   private:
    void update(int, std::int64_t) override {
      if (locks_.empty()) return;
      const fs::path finished = tiny_.runs()[0].folder, failed = tiny_.runs()[1].folder;
      fs::copy(tiny_.path / "whole" / finished, tiny_.path / "study" / finished,
               fs::copy_options::recursive);
      keep_failure(RunFolder(tiny_.path / "study" / failed), "no luck");
      locks_.clear();
    }
    const TinyStudy& tiny_;
    std::vector<std::unique_ptr<RunLock>> locks_;
  };
  Ends ends(tiny);
  const StudyOutcome outcome = train(tiny, "study", 1, ends);
  CHECK(outcome.finished.size() == 2);
  CHECK(outcome.failed == 1);
  CHECK(ends.endings.at(0) == RunEnding::found_finished);
  CHECK(contains(ends.texts.at(1), "failed: no luck (process "));
}

TEST_CASE("a stop saves every run in training, and the same study continues") {
  // In the second update of whichever run gets there first.
  class Stops final : public RecordedStudy {
   public:
    std::atomic<bool> stop{false};

   private:
    void update(int, std::int64_t episodes) override { stop = stop || episodes >= 32; }
  };
  const TinyStudy tiny("seeds: 4\n");
  RecordedStudy progress;
  train(tiny, "whole", 1, progress);
  for (const int jobs : {1, 3}) {
    const std::string out = fmt::format("jobs-{}", jobs);
    Stops stops;
    const StudyOutcome outcome = train(tiny, out, jobs, stops, 3, stops.stop);
    CHECK(outcome.stopped);
    CHECK(stops.endings.size() == static_cast<std::size_t>(jobs));
    for (const auto& [run, ending] : stops.endings) CHECK(ending == RunEnding::stopped);
    CHECK(fs::exists(tiny.path / out / tiny.runs()[0].folder / kLast));
    CHECK(train(tiny, out, jobs, progress, 3).finished.size() == 4);
    for (const StudyRun& run : tiny.runs())
      check_same_run(tiny.path / out / run.folder, tiny.path / "whole" / run.folder);
  }
}

TEST_CASE("a training is refused if another one holds its folder") {
  const TinyExperiment tiny;
  const auto lock = std::make_unique<RunLock>(tiny.path / "out", "somebody else");
  for (const bool resume : {false, true}) {
    RunRequest options = tiny.options("out");
    options.resume = resume;
    CHECK(contains(message_of<HeldError>([&] { run(options, false); }),
                   "out: is being trained by process "));
  }
  CHECK_FALSE(fs::exists(tiny.path / "out/config.yaml"));
}

TEST_CASE("a run that is stopped has a checkpoint once it has begun") {
  const TinyExperiment tiny;
  RunRequest request = tiny.options("out", {"data.source=synthetic"});
  const RunEnd early = run(request, true);  // while digits are drawn
  CHECK_FALSE(early.done);
  CHECK_FALSE(early.saved);
  request = tiny.options("out");
  const RunEnd end = run(request, true);  // after one update
  CHECK_FALSE(end.done);
  CHECK(end.saved);
}

}  // namespace saccade
