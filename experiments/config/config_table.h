#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "experiments/config/config.h"

namespace saccade {

/// Numbers from `low` to `high`; each end belongs to it or not.
struct Interval {
  double low = 0.0;
  double high = 0.0;
  bool with_low = true;
  bool with_high = true;

  bool contains(double value) const;
};

enum class Text {
  word,          // names a folder: no separators, no spaces
  word_or_none,  // such a word or null, which is empty
  path,          // any text; null is the empty path
};

using Names = std::vector<std::string>;

/// One key of a configuration: where its value is kept and what it may be. An Interval bounds a
/// number, each number of a pair or of a list for channels, and the ends of a Ramp. Nothing bounds
/// a bool.
struct Setting {
  std::string key;  // the full path, "training.learning_rate"
  std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*, std::string*,
               std::array<int, 2>*, std::vector<double>*, std::vector<std::string>*, Ramp*>
      field;
  std::variant<std::monostate, Interval, Names, Text> allowed;
  std::string about;  // one line, for people
};

/// Whether one value of it is a list.
bool takes_list(const Setting& setting);

/// Every setting there is, bound to the fields of `config`, in the order of the documentation and
/// the keys of a section together. Reading, messages, overrides and to_yaml all run from this
/// table: a new setting is a field and a line in it.
std::vector<Setting> settings(Config& config);

/// "a number > 0 and <= 10"
std::string allowed_values(const Setting& setting);

/// The whole text as an integer or as a finite number, or nothing. 24_000_000 is 24000000; an
/// integer beyond 64 bits is the nearest one within, which no setting allows.
std::optional<std::int64_t> parse_integer(const std::string& text);
std::optional<double> parse_number(const std::string& text);

/// Whether `text` can name a folder (Text::word).
bool is_word(const std::string& text);

/// The paths above the keys: "training", "attention", "attention.glimpse", ...
std::vector<std::string> section_names(const std::vector<Setting>& table);

/// Config::given.
using GivenKeys = std::map<std::string, std::string>;

/// Settles the values that depend on others.
void settle(Config& config);

/// Settles, and gives the settings that the chosen kinds do not read their defaults: from `given`
/// they go to `unused`.
void leave_out_unused(Config& config);

/// Does that, and asks the library whether the settings fit each other. Throws its InputError
/// behind the place of the first setting it names that was given.
void resolve(Config& config);

}  // namespace saccade
