// Every numeric setting at its bounds and one step beyond, alone and in pairs: it is either refused
// by key, or trains two updates with finite losses. SACCADE_EVERY_PAIR=1 tries all pairs, otherwise
// every 20th.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "agent/learning/learner.h"
#include "experiments/config/settings.h"
#include "experiments/task/task.h"
#include "tests/experiments/setting_moves.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

struct Bounds {
  std::vector<double> within, beyond;
  bool whole = false;  // an integer
};

template <class T>
constexpr bool kIsWhole = std::is_integral_v<T> || std::is_same_v<T, std::array<int, 2>>;

Bounds bounds_of(const Setting& setting) {
  const Interval& range = std::get<Interval>(setting.allowed);
  Bounds bounds;
  bounds.whole = std::visit([](auto* field) { return kIsWhole<std::decay_t<decltype(*field)>>; },
                            setting.field);
  constexpr double kFar = std::numeric_limits<double>::infinity();
  const auto step = [&](double from, double to) {
    return bounds.whole ? from + (to > from ? 1 : -1) : std::nextafter(from, to);
  };
  bounds.within = {range.with_low ? range.low : step(range.low, kFar),
                   range.with_high ? range.high : step(range.high, -kFar)};
  bounds.beyond = {range.with_low ? step(range.low, -kFar) : range.low,
                   range.with_high ? step(range.high, kFar) : range.high};
  return bounds;
}

// The number as a user types it.
std::string assignment(const Setting& setting, double value) {
  const std::string text = bounds_of(setting).whole
                               ? fmt::format("{}", static_cast<std::int64_t>(value))
                               : fmt::format("{}", value);
  const bool pair = std::holds_alternative<std::array<int, 2>*>(setting.field);
  return setting.key + "=" + (pair ? fmt::format("[{0}, {0}]", text) : text);
}

Settings numeric_settings() {
  Settings numeric = settings();
  std::erase_if(numeric, [](const Setting& setting) {
    return !std::holds_alternative<Interval>(setting.allowed);
  });
  return numeric;
}

// Other settings that a setting needs to take effect.
Overrides context_of(const std::string& key) {
  for (const Move& move : moves())
    if (move.key == key) return move.with;
  return {};
}

// A bound of a setting, with the settings it needs.
struct BoundCase {
  std::string key, assignment;
  Overrides context;
};

class TwoUpdates {
 public:
  TwoUpdates() { write_images(tiny_.path / "data"); }

  enum class Ending { trained, refused, diverged, large };

  // Rethrows unexpected exceptions.
  Ending of(const Overrides& overrides, const Names& keys) {
    try {
      const Task task(config(overrides));
      const TrainingConfig& training = task.config.agent.training;
      const double parameters = static_cast<double>(task.model.layout().size());
      const double lanes = training.batch_size / training.lane_size;
      if (parameters * (4 + lanes) > 2e7 ||
          task.model.gflop_per_episode() * training.batch_size > 1 ||
          task.model.canvas().pixels() * training.batch_size > 10'000'000)
        return Ending::large;
      Workers workers(1);
      Learner learner(task.model, task.environments(Split::train), task.config.seed, workers);
      for (int n = 0; n < 2; ++n) {
        const double loss = learner.step().sums.loss();
        CHECK(std::isfinite(loss));
      }
      return Ending::trained;
    } catch (const InputError& error) {
      INFO("message: " << error.what());
      const bool named = std::ranges::any_of(
          keys, [&](const std::string& key) { return contains(error.what(), key); });
      CHECK(named);
      return Ending::refused;
    } catch (const NonFiniteError& error) {
      CHECK(contains(error.what(), "update "));
      return Ending::diverged;
    }
  }

  Config config(const Overrides& overrides) const {
    return read_config(tiny_.yaml, with({"training.episodes=32"}, overrides));
  }

 private:
  TinyExperiment tiny_;
};

std::vector<BoundCase> every_bound() {
  std::vector<BoundCase> tries;
  for (const Setting& setting : numeric_settings())
    for (const double value : bounds_of(setting).within)
      tries.push_back({setting.key, assignment(setting, value), context_of(setting.key)});
  return tries;
}

// Both contexts combined; nothing if they contradict each other or the tested values.
std::optional<Overrides> joined(const BoundCase& a, const BoundCase& b) {
  std::map<std::string, std::string> values;
  Overrides all;
  for (const Overrides& part : {a.context, b.context, Overrides{a.assignment, b.assignment}})
    for (const std::string& word : part) {
      const std::size_t equals = word.find('=');
      const auto [known, is_new] = values.emplace(word.substr(0, equals), word.substr(equals + 1));
      if (!is_new && known->second != word.substr(equals + 1)) return std::nullopt;
      if (is_new) all.push_back(word);
    }
  return all;
}

Names numeric_keys() {
  Names keys;
  for (const Setting& setting : settings()) keys.push_back(setting.key);
  return keys;
}

}  // namespace

TEST_CASE("a number one step beyond its bounds is refused by key") {
  const TwoUpdates tiny;
  for (const Setting& setting : numeric_settings())
    for (const double value : bounds_of(setting).beyond) {
      const std::string word = assignment(setting, value);
      CAPTURE(word);
      const std::string message = message_of<InputError>([&] { tiny.config({word}); });
      check_contains(message, {setting.key, "allowed: "});
    }
}

TEST_CASE("a number at its bound trains or is refused by key") {
  TwoUpdates tiny;
  for (const BoundCase& one : every_bound()) {
    Overrides overrides = one.context;
    overrides.push_back(one.assignment);
    CAPTURE(one.assignment);
    CHECK(tiny.of(overrides, numeric_keys()) != TwoUpdates::Ending::diverged);
  }
}

TEST_CASE("two numbers at their bounds train, are refused by key, or diverge with a message") {
  const std::vector<BoundCase> tries = every_bound();
  const Names keys = numeric_keys();
  const int every = std::getenv("SACCADE_EVERY_PAIR") != nullptr ? 1 : 20;
  TwoUpdates tiny;
  int pair = 0;
  std::map<TwoUpdates::Ending, int> endings;
  for (std::size_t i = 0; i < tries.size(); ++i)
    for (std::size_t j = i + 1; j < tries.size(); ++j) {
      if (tries[i].key == tries[j].key || ++pair % every != 0) continue;
      const std::optional<Overrides> overrides = joined(tries[i], tries[j]);
      if (!overrides) continue;
      CAPTURE(tries[i].assignment);
      CAPTURE(tries[j].assignment);
      ++endings[tiny.of(*overrides, keys)];
    }
  MESSAGE("trained " << endings[TwoUpdates::Ending::trained] << ", refused "
                     << endings[TwoUpdates::Ending::refused] << ", diverged "
                     << endings[TwoUpdates::Ending::diverged] << ", too large to train here "
                     << endings[TwoUpdates::Ending::large]);
  CHECK(endings[TwoUpdates::Ending::trained] > 0);
}

}  // namespace saccade
