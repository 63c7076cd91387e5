#include "experiments/training/training.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/stop.h"
#include "base/sync.h"
#include "experiments/pictures/recording.h"
#include "experiments/training/run_work.h"

namespace saccade {

// Before the first update there are no rows to keep, and the first recording is made.
void Training::open_log() {
  const std::int64_t keep = episodes() > 0 ? episodes() - (unevaluated_ ? 1 : 0) : -1;
  log_ = std::make_unique<TrainingLog>(folder_, task_.config, keep);
  elapsed_before_ = log_->elapsed();
  folder_.remove_left_overs();
  if (episodes() == 0 && task_.config.record.every > 0) record();
}

bool Training::train(const std::atomic<bool>& stop) {
  const Config& config = task_.config;
  progress_.begin(work_of(task_));
  // Makes up for what a stop prevented. The log was cut before those recordings, too.
  if (unevaluated_) record_if_due();
  bool stopped = unevaluated_ && !log_unless_stopped(stop);
  while (!stopped && learner_.updates() < learner_.total_updates()) {
    const Clock::time_point begin = Clock::now();
    const UpdateReport report = learner_.step();
    whole_ = false;
    const double seconds = seconds_since(begin);
    window_seconds_ += seconds;
    seconds_of_updates_ += seconds;
    window_timed_episodes_ += report.sums.episodes;
    window_ += report.sums;

    progress_.update(episodes(), window_timed_episodes_ / window_seconds_,
                     window_.errors / window_.episodes);
    // Recorded before the row, after which this state may be saved: a resumed run does not repeat
    // earlier recordings.
    record_if_due();
    if (is_due(config.evaluation.every)) {
      unevaluated_ = row_of(report);
      stopped = !log_unless_stopped(stop);
    } else if (is_due(config.log.every)) {
      log(row_of(report), /*evaluate_now=*/false);
    }
    whole_ = true;
    stopped |= ranks_.any(stop) && learner_.updates() < learner_.total_updates();
  }
  progress_.finish();
  if (stopped) rescue();
  return !stopped;
}

// After an update: returns whether it is the last one, or the first after a multiple of `every`
// episodes.
bool Training::is_due(std::int64_t every) const {
  const std::int64_t before = episodes() - task_.config.agent.training.batch_size;
  return learner_.updates() == learner_.total_updates() || before / every != episodes() / every;
}

void Training::record_if_due() const {
  const std::int64_t every = task_.config.record.every;
  if (ranks_.first() && every > 0 && is_due(every)) record();
}

bool Training::log_unless_stopped(const std::atomic<bool>& stop) {
  try {
    return unless_stopped(stop, [&] { log(*unevaluated_, /*evaluate_now=*/true); });
  } catch (const OwnPartError&) {  // as a stop: a resumed training makes the evaluation up
    whole_ = true;
    throw;
  }
}

// Everything but the evaluation and the time.
MetricsRow Training::row_of(const UpdateReport& report) {
  const double n = window_.episodes;
  MetricsRow row;
  row["episodes"] = static_cast<double>(episodes());
  row["train/loss"] = window_.loss() / n;
  for (const LossTerm& term : loss_terms())
    if (term.metric != nullptr) row[Metric::named(term.metric)] = window_.*term.sum / n;
  row["train/grad_norm"] = report.gradient_norm;
  row["train/learning_rate"] = report.learning_rate;
  row["train/location_std"] = report.location_std;
  row["train/temperature"] = report.temperature;
  row["time/episodes_per_second"] = window_timed_episodes_ / window_seconds_;
  return row;
}

void Training::log(MetricsRow row, bool evaluate_now) {
  std::string text;
  if (evaluate_now) {
    evaluate(row);
    unevaluated_.reset();
    text = fmt::format("valid {:.2f} %", 100 * row["valid/error"]);
    if (task_.model.answer().stops) text += fmt::format("  {:.2f} looks", row["valid/looks"]);
    if (task_.model.look().looks)
      text += fmt::format("  on digit {:.1f} %", 100 * row["attention/on_target"]);
  }
  row["time/elapsed"] = elapsed();
  if (ranks_.first()) log_->append(row);
  const double error = window_.errors / window_.episodes;
  train_error_ = error;
  progress_.line(episodes(), row["time/episodes_per_second"], error, text);
  window_ = {};
  window_seconds_ = window_timed_episodes_ = 0.0;
  const bool saves = evaluate_now && ranks_.first();
  if (saves && best_episodes_ == episodes()) save(folder_.best_checkpoint());
  if (saves && task_.config.log.snapshots) save_snapshot();
  // Before the checkpoint, which keeps what it sets.
  progress_.row(row, *this);
  if (saves) save_last();
}

// Evaluates the averaged weights on the validation scenes, and keeps the best so far.
void Training::evaluate(MetricsRow& row) {
  const Evaluation valid =
      validator_.run(flat(learner_.optimizer.averaged), {.progress = learner_.progress()});
  row["valid/error"] = valid.error;
  valid_images_ = valid.images;
  if (task_.model.answer().stops) row["valid/looks"] = valid.looks;
  row["attention/on_target"] = valid.on_target;
  row["attention/border"] = valid.border;
  row["attention/distance"] = valid.distance;
  row["attention/coverage"] = valid.coverage;
  if (task_.model.answer().spells) row["valid/symbol_error"] = valid.symbol_error;
  if (task_.model.answer().attends) row["attention/on_answer"] = valid.on_answer;
  // Looks that an agent pays for must be worth their price.
  const double cost = valid.error + task_.model.answer().look_price * (valid.looks - 1.0);
  if (cost < best_cost_) {
    best_cost_ = cost;
    best_error_ = valid.error;
    best_episodes_ = episodes();
  }
}

// TensorBoard cannot show .mp4, so it gets the same recording as a .gif.
void Training::record() const {
  lock_->require_own();
  const std::filesystem::path video = record(task_.config.record.format);
  if (!task_.config.log.tensorboard) return;
  log_->show(episodes(), video.extension() == ".mp4" ? record("gif") : video);
}

// Records how the current averaged weights look at validation scenes. A resumed run makes the same
// files again.
std::filesystem::path Training::record(const std::string& format) const {
  const RecordConfig& config = task_.config.record;
  // Syncs the folder's name before a checkpoint is written, since a resumed run does not repeat
  // earlier recordings.
  if (std::filesystem::create_directories(folder_.recordings())) sync_folder(folder_.path());
  const RecordedAgent agent{fmt::format("{} after {} episodes", task_.config.name, episodes()),
                            task_,
                            flat(learner_.optimizer.averaged),
                            Split::valid,
                            task_.config.evaluation,
                            learner_.progress()};
  const std::int64_t last = learner_.total_updates() * task_.config.agent.training.batch_size;
  const std::filesystem::path target =
      folder_.recordings() /
      fmt::format("episodes-{:0{}}.{}", episodes(), std::to_string(last).size(), format);
  write_recording({&agent, 1}, {.target = target,
                                .force = true,
                                .scenes = config.scenes,
                                .seed = task_.config.evaluation.seed});
  return target;
}

}  // namespace saccade
