#include "experiments/training/training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/stop.h"
#include "base/sync.h"
#include "experiments/evaluation/test_report.h"
#include "experiments/pictures/recording.h"
#include "experiments/runs/trained.h"

namespace saccade {
namespace {

// Stored in a checkpoint if the last row still lacked its evaluation.
const std::string kRowNote = "row";
// Stored for agents that pay for their looks.
const std::string kCostNote = "best_cost";

std::string to_note(const MetricsRow& row) {
  nlohmann::json note;
  for (const auto& [metric, value] : row) note[metric.name()] = exact(value);
  return note.dump();
}

std::optional<MetricsRow> row_of_note(const Checkpoint& checkpoint) {
  if (!checkpoint.has_note(kRowNote)) return std::nullopt;
  const std::string& note = checkpoint.note(kRowNote);
  MetricsRow row;
  const auto values = nlohmann::json::parse(note, /*cb=*/nullptr, /*allow_exceptions=*/false);
  for (const auto& [name, value] : values.items()) {
    if (!Metric::exists(name) || !value.is_string())
      throw InputError(fmt::format("the checkpoint's note '{}' is no row: {}", kRowNote, note));
    row[Metric::named(name)] = from_exact(value);
  }
  return row;
}

}  // namespace

std::string Training::warm_start(bool strict) {
  const std::string& source = task_.config.init_from;
  if (source.empty()) return "";
  SharedParameters names;
  try {
    names = Checkpoint(find_checkpoint(source))
                .copy_shared(learner_.parameters, learner_.model().layout());
  } catch (const InputError& error) {
    throw InputError(fmt::format("init_from: {}", error.what()));
  }
  if (names.both.empty())
    throw InputError(fmt::format("init_from: {} has no parameter that fits this model", source));
  if (strict && !names.reshaped.empty())
    throw InputError(fmt::format("--strict: init_from: {} has parameters of other shapes: {}",
                                 source, fmt::join(names.reshaped, "; ")));
  learner_.optimizer.averaged = learner_.parameters;
  const auto line = [](const char* what, const std::vector<std::string>& all) {
    return all.empty() ? "" : fmt::format("  {}: {}\n", what, fmt::join(all, ", "));
  };
  return fmt::format("init_from {}: {} parameters copied\n", source, names.both.size()) +
         line("begin anew, since their shapes differ", names.reshaped) +
         line("begin anew", names.model_only) + line("not used", names.checkpoint_only);
}

Checkpoint Training::newest_checkpoint(std::string& word) const {
  try {
    return Checkpoint(folder_.last_checkpoint());
  } catch (const NewerCheckpoint&) {
    throw;
  } catch (const InputError& fault) {
    if (!std::filesystem::exists(folder_.previous_checkpoint())) throw;
    Checkpoint previous = [&] {
      try {
        return Checkpoint(folder_.previous_checkpoint());
      } catch (const NewerCheckpoint&) {
        throw;
      } catch (const InputError& other) {
        throw InputError(fmt::format("{}; and {}", fault.what(), other.what()));
      }
    }();
    word = fmt::format("{}; continues from {}, {} updates\n", fault.what(),
                       folder_.previous_checkpoint().string(), previous.updates());
    return previous;
  }
}

std::string Training::resume() {
  std::string word;
  const Checkpoint checkpoint = newest_checkpoint(word);
  const bool damaged = !word.empty();
  const Config saved = parse_config(checkpoint.config_yaml(), folder_.last_checkpoint().string());
  lengthened_ = is_longer(task_.config, saved);
  if (const std::vector<Difference> changed = differences(saved, task_.config);
      !changed.empty() && !lengthened_)
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
  if (lengthened_) word += word_on_length(saved.agent.training.episodes);
  window_ = loss_sums_of(checkpoint.note("window"));
  best_error_ = from_exact(checkpoint.note("best_error"));
  best_cost_ =
      checkpoint.has_note(kCostNote) ? from_exact(checkpoint.note(kCostNote)) : best_error_;
  best_episodes_ = static_cast<std::int64_t>(from_exact(checkpoint.note("best_episodes")));
  unevaluated_ = row_of_note(checkpoint);
  if (damaged) folder_.set_damaged_checkpoint_aside();
  open_log();
  return word;
}

// Warns about a changed length: schedules depend on the fraction of the training that is done.
std::string Training::word_on_length(std::int64_t episodes_before) const {
  const auto rate = [&](double progress) { return learner_.optimizer.learning_rate(progress); };
  const double before =
      std::min(1.0, static_cast<double>(episodes()) / static_cast<double>(episodes_before));
  return fmt::format(
      "continues from {} episodes to {} instead of {}: schedules are stretched over the whole "
      "training, so that the learning rate goes from {:.2g} to {:.2g} now\n",
      episodes(), task_.config.agent.training.episodes, episodes_before, rate(before),
      rate(learner_.progress()));
}

// Before the first update there are no rows to keep, and the first recording is made.
void Training::open_log() {
  const std::int64_t keep = episodes() > 0 ? episodes() - (unevaluated_ ? 1 : 0) : -1;
  log_ = std::make_unique<TrainingLog>(folder_, task_.config.log, keep);
  elapsed_before_ = log_->elapsed();
  folder_.remove_left_overs();
  if (episodes() == 0 && task_.config.record.every > 0) record();
}

void Training::share_state() {
  Optimizer& optimizer = learner_.optimizer;
  for (Tensor<1>* block :
       {&learner_.parameters, &optimizer.averaged, &optimizer.first, &optimizer.second})
    ranks_.broadcast(flat(*block));
  ranks_.broadcast(std::span(&optimizer.updates, 1));
  ranks_.broadcast(std::span(learner_.average_returns));
  ranks_.broadcast(std::span(&window_, 1));
  ranks_.broadcast(std::span(&best_error_, 1));
  ranks_.broadcast(std::span(&best_cost_, 1));
  ranks_.broadcast(std::span(&best_episodes_, 1));
  if (ranks_.any(unevaluated_.has_value()) && !unevaluated_) unevaluated_.emplace();
}

void Training::rescue() const {
  if (ranks_.first() && whole_) save_last();
}

// Rows are synced before the checkpoint, so that a checkpoint never lacks the rows it continues
// from, even after a power failure.
void Training::save_last() const {
  lock_->require_own();
  log_->sync();
  folder_.keep_last_checkpoint();
  save(folder_.last_checkpoint());
}

void Training::save(const std::filesystem::path& path) const {
  lock_->require_own();
  std::map<std::string, std::string> notes = {
      {"window", to_note(window_)},
      {"best_error", exact(best_error_)},
      {"best_episodes", std::to_string(best_episodes_)},
      {"data", nlohmann::json(task_.digits.checksums).dump()}};
  if (task_.model.answer().look_price > 0.0) notes[kCostNote] = exact(best_cost_);
  if (unevaluated_) notes[kRowNote] = to_note(*unevaluated_);
  save_checkpoint(path, learner_, config_yaml_, notes);
}

RunWork Training::work() const {
  const EvaluationConfig& evaluation = task_.config.evaluation;
  const std::int64_t all = learner_.total_updates() * task_.config.agent.training.batch_size;
  const std::int64_t evaluations = (all + evaluation.every - 1) / evaluation.every;
  return {.episodes = all,
          .validated = evaluations * evaluation.scenes,
          .tested = std::int64_t{test_passes(task_.model, evaluation)} * evaluation.scenes};
}

bool Training::train(const std::atomic<bool>& stop) {
  const Config& config = task_.config;
  progress_.begin(work());
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
  progress_.row(row);
  window_ = {};
  window_seconds_ = window_timed_episodes_ = 0.0;
  if (evaluate_now && ranks_.first()) {
    if (best_episodes_ == episodes()) save(folder_.best_checkpoint());
    save_last();
  }
}

// Evaluates the averaged weights on the validation scenes, and keeps the best so far.
void Training::evaluate(MetricsRow& row) {
  const Evaluation valid =
      validator_.run(flat(learner_.optimizer.averaged), {.progress = learner_.progress()});
  row["valid/error"] = valid.error;
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
