#include "experiments/training/run_work.h"

#include <algorithm>
#include <utility>

#include "experiments/evaluation/test_report.h"

namespace saccade {
namespace {

constexpr double kPlayed = 0.5;  // measured: evaluations ran at 1.9 times the speed of training

}  // namespace

RunWork work_of(const Task& task) {
  const TrainingConfig& training = task.config.agent.training;
  const EvaluationConfig& evaluation = task.config.evaluation;
  const std::int64_t episodes = total_updates(training) * training.batch_size;
  const std::int64_t evaluations = (episodes + evaluation.every - 1) / evaluation.every;
  return {
      .episodes = episodes,
      .validated = evaluations * evaluation.scenes,
      .tested = std::int64_t{test_passes(task.model, evaluation)} * task.test_scenes(evaluation)};
}

double all_work(const RunWork& work) { return work_done(work, work.episodes, work.tested); }

double work_done(const RunWork& work, std::int64_t episodes, std::int64_t tested) {
  const double share =
      static_cast<double>(episodes) / static_cast<double>(std::max<std::int64_t>(work.episodes, 1));
  return static_cast<double>(episodes) +
         kPlayed * (share * static_cast<double>(work.validated) + static_cast<double>(tested));
}

StudyWork::StudyWork(std::vector<std::int64_t> episodes)
    : episodes_(std::move(episodes)), ended_(episodes_.size()) {}

void StudyWork::begin(int run, const RunWork& work) {
  running_[run] = {.work = work};
  known_work_ += all_work(work);
  known_episodes_ += static_cast<double>(work.episodes);
}

void StudyWork::update(int run, std::int64_t episodes) {
  Run& now = running_.at(run);
  if (now.first < 0) now.first = episodes;
  now.episodes = episodes;
}

void StudyWork::test(int run, std::int64_t scenes) {
  Run& now = running_.at(run);
  now.tested = std::max(now.tested, scenes);
}

void StudyWork::end(int run) {
  ended_[static_cast<std::size_t>(run)] = true;
  const auto found = running_.find(run);
  if (found == running_.end()) return;
  done_ += done_of(found->second);
  running_.erase(found);
}

double StudyWork::left() const {
  const double factor = known_episodes_ > 0.0 ? known_work_ / known_episodes_ : 1.0;
  double left = 0.0;
  for (int run = 0; run < static_cast<int>(episodes_.size()); ++run) {
    if (ended_[static_cast<std::size_t>(run)]) continue;
    const auto found = running_.find(run);
    if (found == running_.end()) {
      left += factor * static_cast<double>(episodes_[static_cast<std::size_t>(run)]);
    } else {
      const Run& now = found->second;
      left += all_work(now.work) - work_done(now.work, now.episodes, now.tested);
    }
  }
  return left;
}

double StudyWork::done() const {
  double done = done_;
  for (const auto& [run, now] : running_) done += done_of(now);
  return done;
}

// Excludes what a resumed run did before or elsewhere.
double StudyWork::done_of(const Run& run) {
  if (run.first < 0) return 0.0;
  return work_done(run.work, run.episodes, run.tested) - work_done(run.work, run.first);
}

}  // namespace saccade
