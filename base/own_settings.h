#pragma once

#include <array>
#include <compare>
#include <string>
#include <variant>
#include <vector>

#include "base/setting.h"

/// Settings of the kinds that a program registers in our tables (register_task_kind, ...). Like
/// ours they are described once; files, overrides, messages, the schema, help and Python know them.
namespace saccade {

/// A value; which of these it is follows from the setting's default.
using OwnValue = std::variant<bool, int, double, std::string>;

/// A setting of a registered kind. Its key is <section>.<kind>.<name>, as scene.bars.length. It has
/// an effect with this kind alone.
struct OwnSetting {
  std::string name;                    // lower-case letters, digits and '_'
  OwnValue initial;                    // its default
  decltype(Setting::allowed) allowed;  // of a bool kUnbounded, of a number an Interval, of a
                                       // string Names
  std::string about;                   // as Setting::about
};

/// The most settings of all registered kinds together.
inline constexpr int kMaxOwnSettings = 32;

/// Describes the settings of a kind of a section ("scene"). Throws InputError naming the key for a
/// name that is repeated or no such word, a default that is not allowed, and more settings than
/// kMaxOwnSettings; std::logic_error once an OwnValues exists.
void add_own_settings(const std::string& section, const std::string& kind,
                      const std::vector<OwnSetting>& settings);

/// The values of these settings, a member of the structs that have them. Begins with the defaults.
class OwnValues {
 public:
  OwnValues();

  /// The value of a setting by its full key. Throws std::logic_error if there is none of this type.
  template <class T>
  const T& get(const std::string& key) const {
    return std::get<T>(values_[find(key, OwnValue(T{}).index())]);
  }

  bool operator==(const OwnValues&) const = default;
  auto operator<=>(const OwnValues&) const = default;

 private:
  friend Settings describe(OwnValues& values, const std::string& section, std::string* kind);
  static std::size_t find(const std::string& key, std::size_t type);

  std::array<OwnValue, kMaxOwnSettings> values_;  // those that are described, in their order
};

/// The settings of a section's registered kinds, which have an effect where `kind` is theirs.
Settings describe(OwnValues& values, const std::string& section, std::string* kind);

}  // namespace saccade
