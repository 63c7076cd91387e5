#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/log_range.h"
#include "base/ramp.h"

/// Descriptions of settings. Each struct of settings has a function describe() beside it; YAML,
/// overrides, the schema, help, documentation, Python and tests read what it returns.
namespace saccade {

/// Numbers from `low` to `high`, each end included or not.
struct Interval {
  double low = 0.0;
  double high = 0.0;
  bool with_low = true;
  bool with_high = true;

  bool contains(double value) const;
};

constexpr Interval closed(double low, double high) { return {low, high}; }              // [ , ]
constexpr Interval below(double low, double high) { return {low, high, true, false}; }  // [ , )

inline constexpr Interval kLayerWidth = closed(1, 8192);  // of a layer
inline constexpr Interval kLossWeight = closed(0, 1000);  // of a term of the loss
inline constexpr Interval kDecayRate = below(0, 1);
/// Counts of updates and episodes are 32-bit words of the random streams.
inline constexpr double kMaxEpisodes = 4e9;
/// The largest integer that every reader of JSON and YAML keeps exact: 2^53 - 1.
inline constexpr double kMaxSeed = 9'007'199'254'740'991;

enum class Text {
  word,          // names a folder: no separators, no spaces
  word_or_none,  // such a word or null, which is empty
  path,          // any text; null is the empty path
  mask,          // a digit 0 or 1 for each step; null is the empty mask
  line,          // any text; of lists
};

using Names = std::vector<std::string>;

/// Where the value of a setting is kept.
using SettingField = std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*, std::string*,
                                  std::array<int, 2>*, std::vector<double>*,
                                  std::vector<std::string>*, Ramp*, LogRange*>;

/// What another setting must be for a setting to have an effect.
struct Condition {
  SettingField field;  // of the other setting
  std::string values;  // "lstm, gru", "not 1"
  std::function<bool(const SettingField&)> holds;
  std::vector<Condition> alternatives = {};  // any of them is enough
};

/// The other setting has one of these names; of a table, one with the trait.
Condition when(std::string* field, const Names& names);
template <class Trait>
Condition when(std::string* field, Names names, const Trait& trait) {
  std::erase_if(names, std::not_fn(trait));
  return when(field, names);
}
/// The other setting is true; is [0, 0]; is more than a point.
Condition when(bool* field);
Condition when_zero(std::array<int, 2>* field);
Condition when_wide(LogRange* field);
/// The other setting has any other value.
Condition unless(std::string* field, const std::string& name);
Condition unless(int* field, int value);
Condition unless(std::int64_t* field, std::int64_t value);
Condition unless(double* field, double value);

Condition operator||(Condition one, Condition other);

/// Conditions that must all hold.
struct Needs {
  Needs() = default;
  Needs(Condition one) : all{std::move(one)} {}

  std::vector<Condition> all;
};
Needs operator&&(Needs one, const Needs& other);

/// What a bool may be, and a list of names.
inline constexpr std::monostate kUnbounded;

/// One key of a configuration. An Interval bounds a number, each number of a pair or of a list for
/// channels, and the ends of a Ramp or a LogRange.
struct Setting {
  std::string key;  // the full path, "training.learning_rate"
  SettingField field;
  std::variant<std::monostate, Interval, Names, Text> allowed;
  std::string about;  // one line, for people; begins with a noun
  Needs needs = {};   // to have an effect
};
using Settings = std::vector<Setting>;

/// Appends settings that also need `needs`.
void append(Settings& to, Settings settings, const Needs& needs = {});

/// Whether one value of it is a list.
bool takes_list(const Setting& setting);

/// "a number > 0 and <= 10"
std::string allowed_values(const Setting& setting);

}  // namespace saccade
