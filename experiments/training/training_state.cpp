// What a training begins from, and what it saves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/sync.h"
#include "experiments/runs/trained.h"
#include "experiments/training/training.h"

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

SharedParameters copy_initial(const std::string& init_from, Learner& learner) {
  SharedParameters names;
  try {
    names = Checkpoint(find_checkpoint(init_from))
                .copy_shared(learner.parameters, learner.model().layout());
  } catch (const InputError& error) {
    throw InputError(fmt::format("init_from: {}", error.what()));
  }
  if (names.both.empty())
    throw InputError(fmt::format("init_from: {} has no parameter that fits this model", init_from));
  return names;
}

std::string Training::warm_start(bool strict) {
  const std::string& source = task_.config.init_from;
  if (source.empty()) return "";
  const SharedParameters names = copy_initial(source, learner_);
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
  if (learning_rate_factor() != 1.0)
    word += fmt::format("continues with {} times the learning rate of its schedule, as was set\n",
                        learning_rate_factor());
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

void Training::share_state() {
  Optimizer& optimizer = learner_.optimizer;
  for (Tensor<1>* block :
       {&learner_.parameters, &optimizer.averaged, &optimizer.first, &optimizer.second})
    ranks_.broadcast(flat(*block));
  ranks_.broadcast(std::span(&optimizer.updates, 1));
  ranks_.broadcast(std::span(&optimizer.rate_factor, 1));
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
std::filesystem::path Training::save_last() const {
  lock_->require_own();
  log_->sync();
  folder_.keep_last_checkpoint();
  save(folder_.last_checkpoint());
  return folder_.last_checkpoint();
}

void Training::save(const std::filesystem::path& path) const {
  lock_->require_own();
  save_checkpoint(path, learner_, config_yaml_, notes());
}

void Training::save_agent(const std::filesystem::path& path) const {
  save_averaged(path, learner_, config_yaml_, notes());
}

void Training::save_snapshot() const {
  lock_->require_own();
  if (std::filesystem::create_directories(folder_.snapshots())) sync_folder(folder_.path());
  save_agent(folder_.snapshot(episodes()));
}

std::map<std::string, std::string> Training::notes() const {
  std::map<std::string, std::string> notes = {
      {"window", to_note(window_)},
      {"best_error", exact(best_error_)},
      {"best_episodes", std::to_string(best_episodes_)},
      {"data", nlohmann::json(task_.digits.checksums).dump()}};
  if (task_.model.answer().look_price > 0.0) notes[kCostNote] = exact(best_cost_);
  if (unevaluated_) notes[kRowNote] = to_note(*unevaluated_);
  return notes;
}

void Training::set_learning_rate_factor(double factor) {
  if (!kRateFactor.contains(factor))
    throw InputError(fmt::format("learning_rate_factor: {}; allowed: {} to {}", factor,
                                 kRateFactor.low, kRateFactor.high));
  if (!ranks_.alone())
    throw InputError("learning_rate_factor: set while several ranks train; allowed: one rank");
  learner_.optimizer.rate_factor = factor;
}

}  // namespace saccade
