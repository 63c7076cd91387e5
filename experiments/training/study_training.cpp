#include "experiments/training/study_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/memory.h"
#include "base/output.h"
#include "experiments/config/variants.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/run_failure.h"
#include "experiments/task/shared_digits.h"
#include "experiments/training/finished.h"
#include "experiments/training/train.h"
#include "nn/parallel.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// "error 7.68 %  on digit 99.2 %"
std::string outcome(const RunFolder& folder) {
  const FinishedRun run = read_finished_run(folder.path());
  std::string text = fmt::format("error {:>5.2f} %", 100 * run.error);
  if (run.on_target) text += fmt::format("  on digit {:>4.1f} %", 100 * *run.on_target);
  return text;
}

// Returns the label of each run: "soft_grid, seed 2".
std::vector<std::string> labels_of(const Study& study) {
  const std::vector<const Config*> configs = configs_of(study);
  std::vector<std::string> labels = variant_labels(configs);
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] += fmt::format("{}seed {}", labels[i].empty() ? "" : ", ", configs[i]->seed);
  return labels;
}

// Runs that failed before are tried again, but not by every later task of an array job.
std::optional<RunFailure> old_failure(const RunFolder& folder) {
  const std::optional<RunFailure> failure = read_failure(folder);
  const std::string job = word_on_job();
  if (failure && !job.empty() && failure->origin.find(job + ",") != std::string::npos)
    return std::nullopt;
  return failure;
}

class StudyTraining {
 public:
  StudyTraining(const Study& study, const StudyRequest& request, StudyProgress& progress,
                const std::atomic<bool>& stop);

  StudyOutcome run();

 private:
  using Ending = StudyProgress::Ending;
  enum class State { open, taken, finished, failed, stopped };
  struct Run {
    RunFolder folder;
    std::string label;
    std::optional<RunFailure> old_failure;  // an earlier failure, to be tried again
    State state = State::open;
    std::optional<Holder> holder = {};  // as last seen
  };
  // A run claimed for training by this process.
  struct Taken {
    int run;
    std::unique_ptr<RunLock> lock;
    std::unique_ptr<Progress> progress;
  };

  const Config& config(int run) const { return study_.runs[static_cast<std::size_t>(run)].config; }
  Run& at(int run) { return runs_[static_cast<std::size_t>(run)]; }
  int jobs() const;
  void train_runs(std::unique_ptr<Workers> workers);
  std::optional<Taken> take_next();
  std::optional<Taken> take(int run);
  bool is_settled(int run);
  void settle(int run, State state, const std::string& text);
  void train_one(Taken& taken, Workers& workers);

  const Study& study_;
  const StudyRequest& request_;
  StudyProgress& progress_;
  const std::atomic<bool>& stop_;
  SharedThreads threads_;
  SharedDatasets digits_;

  std::mutex mutex_;  // guards all members below, and calls of the study's progress
  std::vector<Run> runs_;
  bool stopped_ = false;
};

StudyTraining::StudyTraining(const Study& study, const StudyRequest& request,
                             StudyProgress& progress, const std::atomic<bool>& stop)
    : study_(study),
      request_(request),
      progress_(progress),
      stop_(stop),
      threads_(request.threads) {
  const std::vector<std::string> labels = labels_of(study);
  for (std::size_t i = 0; i < study.runs.size(); ++i) {
    const RunFolder folder(request.folder / study.runs[i].folder);
    runs_.push_back({folder, labels[i], old_failure(folder)});
  }
}

int StudyTraining::jobs() const {
  if (request_.jobs > 0) return std::min(request_.jobs, static_cast<int>(runs_.size()));
  // A run that cannot continue with its settings says so in its turn.
  const auto is_open = [&](std::size_t i) {
    try {
      return !is_done(runs_[i].folder, study_.runs[i].config);
    } catch (const InputError&) {
      return true;
    }
  };
  int open = 0;
  for (std::size_t i = 0; i < runs_.size(); ++i) open += is_open(i) ? 1 : 0;
  return default_jobs(open, threads_.threads(), available_memory());
}

StudyOutcome StudyTraining::run() {
  std::vector<std::unique_ptr<Workers>> workers(static_cast<std::size_t>(jobs()));
  for (auto& each : workers) each = std::make_unique<Workers>(threads_);
  {
    std::vector<std::jthread> others;
    for (std::size_t job = 1; job < workers.size(); ++job)
      others.emplace_back([this, &workers, job] { train_runs(std::move(workers[job])); });
    train_runs(std::move(workers[0]));
  }
  progress_.end_study();

  StudyOutcome all;
  all.stopped = stopped_;
  for (const Run& run : runs_) {
    // Checked after each run, so that the last of several processes to end a run sees all of them
    // finished.
    if (run.state == State::finished || (run.state == State::open && is_finished(run.folder)))
      all.finished.push_back(run.folder.path());
    else if (run.state == State::open && run.holder)
      all.held.push_back(*run.holder);
    all.failed += run.state == State::failed;
  }
  all.stopped |=
      all.finished.size() + all.held.size() + static_cast<std::size_t>(all.failed) < runs_.size();
  return all;
}

// Trains runs one after another until none is left, then frees its workers, so that other runs get
// the threads.
void StudyTraining::train_runs(std::unique_ptr<Workers> workers) {
  do {
    std::optional<Taken> taken = take_next();
    if (!taken) return;
    train_one(*taken, *workers);
  } while (!stop_);
}

// Starts from the first run each time: one held by another process may be free by now.
std::optional<StudyTraining::Taken> StudyTraining::take_next() {
  const std::lock_guard guard(mutex_);
  for (int run = 0; run < static_cast<int>(runs_.size()); ++run)
    if (at(run).state == State::open)
      if (std::optional<Taken> taken = take(run)) return taken;
  return std::nullopt;
}

// Returns nothing if the run is done or held by another process.
std::optional<StudyTraining::Taken> StudyTraining::take(int run) {
  Run& it = at(run);
  try {
    if (is_settled(run)) return std::nullopt;
    Taken taken{run, std::make_unique<RunLock>(it.folder.path(), request_.command), nullptr};
    it.holder.reset();
    if (is_settled(run)) return std::nullopt;  // by the process that held it until now
    it.state = State::taken;
    taken.progress = progress_.begin_run(run, it.label, it.folder);
    return taken;
  } catch (const HeldError& error) {
    it.holder = error.holder;
  } catch (const std::exception& error) {
    settle(run, State::failed, fmt::format("failed: {}", error.what()));
  }
  return std::nullopt;
}

// Returns whether the run is finished, or another process has tried it and failed since this study
// began.
bool StudyTraining::is_settled(int run) {
  const Run& it = at(run);
  if (is_done(it.folder, config(run))) {
    settle(run, State::finished, outcome(it.folder));
    return true;
  }
  const std::optional<RunFailure> failure = read_failure(it.folder);
  if (!failure || failure == it.old_failure) return false;
  settle(run, State::failed, fmt::format("failed: {} ({})", failure->message, failure->origin));
  return true;
}

void StudyTraining::settle(int run, State state, const std::string& text) {
  at(run).state = state;
  progress_.begin_run(run, at(run).label, at(run).folder);
  progress_.end_run(run, text, state == State::failed ? Ending::failed : Ending::found_finished);
}

void StudyTraining::train_one(Taken& taken, Workers& workers) {
  const Run& it = at(taken.run);
  State state = State::finished;
  Ending ending = Ending::trained;
  std::string text;
  try {
    const bool done = train(config(taken.run), it.folder,
                            {.resume = true,
                             .command = request_.command,
                             .strict = request_.strict,
                             .own = request_.own},
                            {*taken.lock, workers, digits_}, *taken.progress, stop_);
    const bool saved = std::filesystem::exists(it.folder.last_checkpoint());
    text = done ? outcome(it.folder) : saved ? "stopped and saved" : "stopped; nothing was saved";
    if (!done) {
      state = State::stopped;
      ending = Ending::stopped;
    }
  } catch (const std::exception& error) {
    state = State::failed;
    ending = Ending::failed;
    text = fmt::format("failed: {}", error.what());
    if (taken.lock->is_own()) keep_failure(it.folder, error.what());
  }
  taken.lock.reset();  // before looking for the next run: see run()
  taken.progress.reset();
  const std::lock_guard guard(mutex_);
  at(taken.run).state = state;
  stopped_ |= ending == Ending::stopped;
  progress_.end_run(taken.run, text, ending);
}

}  // namespace

StudyOutcome train_study(const Study& study, const StudyRequest& request, StudyProgress& progress,
                         const std::atomic<bool>& stop) {
  return StudyTraining(study, request, progress, stop).run();
}

int default_jobs(int runs, int threads, std::int64_t memory) {
  constexpr std::int64_t kEach = std::int64_t{512} << 20;  // more than any preset takes
  const std::int64_t room = std::max<std::int64_t>(1, memory / kEach);
  return static_cast<int>(std::max<std::int64_t>(1, std::min<std::int64_t>({runs, threads, room})));
}

}  // namespace saccade
