#include "experiments/training/train.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "agent/answering/reward.h"
#include "agent/learning/checkpoint.h"
#include "experiments/evaluation/evaluator.h"
#include "experiments/files/output.h"
#include "experiments/pictures/recording.h"
#include "experiments/runs/run_folder.h"
#include "experiments/runs/trained.h"
#include "experiments/runs/training_log.h"
#include "experiments/task/task.h"
#include "experiments/training/same_run.h"
#include "experiments/training/test_and_summarize.h"
#include "nn/clock.h"
#include "nn/error.h"
#include "nn/name_table.h"

namespace saccade {
namespace {

// One training, from its first or resumed update to its last.
class Training {
 public:
  Training(const Task& task, const RunFolder& folder, Workers& workers, Ranks& ranks,
           Progress& progress)
      : task_(task),
        config_yaml_(to_yaml(task.config)),
        folder_(folder),
        ranks_(ranks),
        learner_(task.model, task.environments(Split::train), task.config.seed, workers, ranks),
        validator_(task.model, task.environments(Split::valid), task.config.evaluation.scenes,
                   task.config.evaluation.seed, workers, ranks),
        progress_(progress) {}

  /// Begins with the weights of `init_from`, where there is one, and says what it took.
  std::string warm_start();
  /// Saves the state before the first update, so that there is always one to resume from.
  void begin() {
    save(folder_.last_checkpoint());
    open_log();
  }
  void resume();
  /// Gives all ranks the state that the first one begins with.
  void share_state();
  /// Saves the state after the last whole update, where this rank writes.
  void rescue() const;
  bool train(const std::atomic<bool>& stop);

  std::int64_t episodes() const { return learner_.episodes(); }
  double elapsed() const { return elapsed_before_ + seconds_since(start_); }
  TrainingFigures figures() const { return {episodes(), best_episodes_, best_error_, elapsed()}; }

 private:
  void save(const std::filesystem::path& path) const;
  void log(const UpdateReport& report, bool evaluate);
  void evaluate(MetricsRow& row);
  void open_log();
  void record() const;
  std::filesystem::path record(const std::string& format) const;

  const Task& task_;
  const std::string config_yaml_;
  const RunFolder& folder_;
  Ranks& ranks_;
  Learner learner_;
  Evaluator validator_;
  Progress& progress_;
  std::unique_ptr<TrainingLog> log_;  // of the first rank
  bool whole_ = true;                 // whether the state is that after an update

  LossSums window_;                   // since the last row of metrics.csv
  double window_seconds_ = 0.0;       // of training, evaluation apart
  double window_timed_episodes_ = 0;  // of this process: a resumed window began in another
  double elapsed_before_ = 0.0;       // up to the last row of the processes before this one
  Clock::time_point start_ = Clock::now();
  double best_error_ = std::numeric_limits<double>::infinity();
  std::int64_t best_episodes_ = 0;
};

std::string Training::warm_start() {
  const std::string& source = task_.config.init_from;
  if (source.empty()) return "";
  SharedParameters names;
  try {
    names = Checkpoint(find_checkpoint(source))
                .copy_shared(learner_.parameters, learner_.model().layout());
  } catch (const InputError& error) {
    throw InputError(fmt::format("init_from: {}", error.what()));
  }
  learner_.optimizer.averaged = learner_.parameters;
  const auto list = [](const std::vector<std::string>& all) {
    return all.empty() ? "none" : join(all);
  };
  return fmt::format("init_from {}: {} parameters copied\n  begin anew: {}\n  not used: {}\n",
                     source, names.both.size(), list(names.model_only),
                     list(names.checkpoint_only));
}

void Training::resume() {
  const Checkpoint checkpoint(folder_.last_checkpoint());
  const Config saved = parse_config(checkpoint.config_yaml(), folder_.last_checkpoint().string());
  if (const std::vector<Difference> changed = differences(saved, task_.config); !changed.empty())
    throw InputError(fmt::format(
        "{}: was saved with another configuration: {}: {} there, {} now; resume with the same file "
        "and overrides",
        folder_.last_checkpoint().string(), changed[0].key, changed[0].first, changed[0].second));
  const std::string data = nlohmann::json(task_.digits.checksums).dump();
  if (checkpoint.note("data") != data)
    throw InputError(fmt::format("{}: was trained on other data: checksums {} there, {} now",
                                 folder_.last_checkpoint().string(), checkpoint.note("data"),
                                 data));
  checkpoint.restore(learner_);
  window_ = loss_sums_of(checkpoint.note("window"));
  best_error_ = from_exact(checkpoint.note("best_error"));
  best_episodes_ = static_cast<std::int64_t>(from_exact(checkpoint.note("best_episodes")));
  open_log();
}

// Before the first update there is nothing to keep, and the first recording is made.
void Training::open_log() {
  log_ = std::make_unique<TrainingLog>(folder_, task_.config.log, episodes() > 0 ? episodes() : -1);
  elapsed_before_ = log_->elapsed();
  folder_.remove_unfinished_recordings();
  if (episodes() == 0 && task_.config.record.every > 0) record();
}

void Training::share_state() {
  Optimizer& optimizer = learner_.optimizer;
  for (Tensor<1>* block :
       {&learner_.parameters, &optimizer.averaged, &optimizer.first, &optimizer.second})
    ranks_.broadcast(flat(*block));
  ranks_.broadcast(std::span(&optimizer.updates, 1));
  ranks_.broadcast(std::span(&learner_.average_reward, 1));
  ranks_.broadcast(std::span(&window_, 1));
  ranks_.broadcast(std::span(&best_error_, 1));
  ranks_.broadcast(std::span(&best_episodes_, 1));
}

void Training::rescue() const {
  if (ranks_.first() && whole_) save(folder_.last_checkpoint());
}

void Training::save(const std::filesystem::path& path) const {
  save_checkpoint(path, learner_, config_yaml_,
                  {{"window", to_note(window_)},
                   {"best_error", exact(best_error_)},
                   {"best_episodes", std::to_string(best_episodes_)},
                   {"data", nlohmann::json(task_.digits.checksums).dump()}});
}

bool Training::train(const std::atomic<bool>& stop) {
  const Config& config = task_.config;
  progress_.begin(learner_.total_updates() * config.agent.training.batch_size);
  while (learner_.updates() < learner_.total_updates()) {
    const std::int64_t before = episodes();
    const Clock::time_point begin = Clock::now();
    const UpdateReport report = learner_.step();
    whole_ = false;
    window_seconds_ += seconds_since(begin);
    window_timed_episodes_ += report.sums.episodes;
    window_ += report.sums;

    const bool last = learner_.updates() == learner_.total_updates();
    const auto due = [&](std::int64_t every) {
      return last || before / every != episodes() / every;
    };
    progress_.update(episodes(), window_timed_episodes_ / window_seconds_,
                     window_.errors / window_.episodes);
    // Before the row, behind which this state may be saved: a resumed run records no earlier ones.
    if (ranks_.first() && config.record.every > 0 && due(config.record.every)) record();
    if (due(config.log.every) || due(config.evaluation.every))
      log(report, due(config.evaluation.every));
    whole_ = true;
    if (ranks_.any(stop) && !last) {
      progress_.finish();
      rescue();
      return false;
    }
  }
  progress_.finish();
  return true;
}

void Training::log(const UpdateReport& report, bool evaluate_now) {
  const double n = window_.episodes;
  const double rate = window_timed_episodes_ / window_seconds_;
  const double error = window_.errors / n;
  MetricsRow row;
  row["episodes"] = static_cast<double>(episodes());
  row["train/loss"] = window_.loss() / n;
  for (const LossTerm& term : loss_terms())
    if (term.metric != nullptr) row[Metric::named(term.metric)] = window_.*term.sum / n;
  row["train/grad_norm"] = report.gradient_norm;
  row["train/learning_rate"] = report.learning_rate;
  row["train/location_std"] = report.location_std;
  row["train/temperature"] = report.temperature;
  row["time/episodes_per_second"] = rate;
  std::string text;
  if (evaluate_now) {
    evaluate(row);
    text = fmt::format("valid {:.2f} %  on digit {:.1f} %", 100 * row["valid/error"],
                       100 * row["attention/on_target"]);
  }
  row["time/elapsed"] = elapsed();
  if (ranks_.first()) log_->append(row);
  progress_.line(episodes(), rate, error, text);
  progress_.row(row);
  window_ = {};
  window_seconds_ = window_timed_episodes_ = 0.0;
  if (evaluate_now && ranks_.first()) {
    if (best_episodes_ == episodes()) save(folder_.best_checkpoint());
    save(folder_.last_checkpoint());
  }
}

// On the validation scenes, by the averaged weights; the best so far are to be kept.
void Training::evaluate(MetricsRow& row) {
  const Evaluation valid =
      validator_.run(flat(learner_.optimizer.averaged), {.progress = learner_.progress()});
  row["valid/error"] = valid.error;
  row["attention/on_target"] = valid.on_target;
  row["attention/border"] = valid.border;
  row["attention/distance"] = valid.distance;
  row["attention/coverage"] = valid.coverage;
  if (task_.model.answer().spells) row["valid/symbol_error"] = valid.symbol_error;
  if (task_.model.answer().attends) row["attention/on_answer"] = valid.on_answer;
  if (valid.error < best_error_) {
    best_error_ = valid.error;
    best_episodes_ = episodes();
  }
}

// TensorBoard shows no .mp4: it gets the same film as a .gif.
void Training::record() const {
  const std::filesystem::path film = record(task_.config.record.format);
  if (!task_.config.log.tensorboard) return;
  log_->show(episodes(), film.extension() == ".mp4" ? record("gif") : film);
}

// How the averaged weights look at validation scenes now. A resumed run makes the same files again.
std::filesystem::path Training::record(const std::string& format) const {
  const RecordConfig& config = task_.config.record;
  std::filesystem::create_directories(folder_.recordings());
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
  write_recording({&agent, 1},
                  {.target = target,
                   .force = true,
                   .scenes = config.scenes,
                   .seed = task_.config.evaluation.seed},
                  /*stop=*/false);
  return target;
}

// What a reward turns on is said.
std::string word_on_rewards(const AgentConfig& config, const Model& model) {
  const std::string& reward = config.reinforce.reward;
  if (!find_reward(reward).by_step || model.first_decision() == model.num_glimpses()) return "";
  std::string word =
      fmt::format("reinforce.reward: {} asks for an answer after every glimpse", reward);
  if (config.training.step_loss == 0.0)
    word += "; nothing trains those before the last (training.step_loss: 0)";
  return word + "\n";
}

// Trains, and says of what ends it where the state is.
bool train_watched(Training& training, const RunFolder& folder, const std::atomic<bool>& stop,
                   Ranks& ranks) {
  const std::string last = folder.last_checkpoint().string();
  ranks.watch(stop, [&] { training.rescue(); });
  const struct NoMore {
    Ranks& ranks;
    ~NoMore() { ranks.watch_no_more(); }
  } no_more{ranks};
  try {
    return training.train(stop);
  } catch (const NonFiniteError& error) {  // on all ranks
    ranks.part();
    throw NonFiniteError(
        ranks.first() ? fmt::format("{}; the last good checkpoint is {}", error.what(), last) : "");
  } catch (const LostRank& error) {
    ranks.watch_no_more();
    training.rescue();
    throw LostRank(fmt::format("rank {}: {}; the run goes on with --resume from {}", ranks.rank(),
                               error.what(), last));
  }
}

// What threads and digits there are is given; the folder is held by the first rank.
bool train_in(const Config& config, const RunFolder& folder, const TrainingRequest& request,
              Workers& workers, SharedDigits& digits, Progress& progress,
              const std::atomic<bool>& stop, Ranks& ranks) {
  bool resumes = false;
  std::optional<Task> made;
  std::optional<Training> training;
  ranks.each([&] {
    if (ranks.first()) {
      resumes = request.resume && folder.exists();
      if (!resumes) folder.require_new();  // before the data are read
      std::filesystem::remove(folder.failure());
    }
    made.emplace(config, &digits);
    if (config.record.every > 0) require_format(config.record.format, "record.format");
    training.emplace(*made, folder, workers, ranks, progress);
  });
  const Task& task = *made;
  require_same_run(ranks, config, task.digits.checksums);
  std::string warm_start;
  ranks.each([&] {
    if (!ranks.first()) return;
    if (resumes) {
      training->resume();
    } else {
      warm_start = training->warm_start();
      folder.create(config, request.command,
                    meta_json(ranks.count(), workers.threads(), task.digits.checksums));
      training->begin();
    }
  });
  training->share_state();
  progress.note(fmt::format("{}{}: {} parameters, {:.2f} MFLOP an episode, {}{} threads, into {}\n",
                            warm_start, config.name, task.model.layout().count(),
                            task.model.gflop_per_episode() * 1e3,
                            ranks.alone() ? "" : fmt::format("{} ranks of ", ranks.count()),
                            workers.threads(), folder.path().string()));
  progress.note(word_on_rewards(config.agent, task.model));
  if (!train_watched(*training, folder, stop, ranks)) return false;
  test_and_summarize(task, folder, training->figures(), workers, ranks, progress);
  return true;
}

}  // namespace

bool train(const Config& config, const RunFolder& folder, const TrainingRequest& request,
           Progress& progress, const std::atomic<bool>& stop, Ranks& ranks) {
  std::optional<RunLock> lock;
  ranks.each([&] {
    if (!ranks.first()) return;
    if (!request.resume) folder.require_new();  // before even a lock is written there
    lock.emplace(folder.path(), request.command);
  });
  Workers workers(request.threads);
  SharedDigits digits;
  return train_in(config, folder, request, workers, digits, progress, stop, ranks);
}

bool train(const Config& config, const RunFolder& folder, const TrainingRequest& request,
           const SharedParts& parts, Progress& progress, const std::atomic<bool>& stop) {
  return train_in(config, folder, request, parts.workers, parts.digits, progress, stop, alone());
}

}  // namespace saccade
