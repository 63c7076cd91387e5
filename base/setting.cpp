#include "base/setting.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/name_table.h"

namespace saccade {
namespace {

template <class T>
Condition unless_equal(T* field, const T& value) {
  return {field, fmt::format("not {}", value),
          [value](const SettingField& f) { return *std::get<T*>(f) != value; }};
}

struct AllowedValues {
  const Setting& setting;

  std::string integer() const {
    const Interval& range = std::get<Interval>(setting.allowed);
    return fmt::format("an integer from {} to {}", static_cast<std::int64_t>(range.low),
                       static_cast<std::int64_t>(range.high));
  }
  std::string number() const {
    const Interval& range = std::get<Interval>(setting.allowed);
    return fmt::format("a number {} {} and {} {}", range.with_low ? ">=" : ">", range.low,
                       range.with_high ? "<=" : "<", range.high);
  }

  std::string operator()(const bool*) const { return "true, false"; }
  std::string operator()(const int*) const { return integer(); }
  std::string operator()(const std::int64_t*) const { return integer(); }
  std::string operator()(const std::uint64_t*) const { return integer(); }
  std::string operator()(const double*) const { return number(); }
  std::string operator()(const std::array<int, 2>*) const {
    return "a list of two, each " + integer();
  }
  std::string operator()(const std::vector<double>*) const {
    return number() + ", or a list of such numbers, one for each channel";
  }
  std::string operator()(const std::vector<std::string>*) const {
    if (std::holds_alternative<Text>(setting.allowed)) return "a list of names, any text";
    return "a list of the beginnings of parameter names, as [core, glimpse]";
  }
  std::string operator()(const Ramp*) const {
    return number() + ", or {from, to, over}: two such numbers and a share > 0 and <= 1";
  }
  std::string operator()(const LogRange*) const {
    return number() + ", or {from, to}: two such numbers, from <= to";
  }
  std::string operator()(const std::string*) const {
    if (const Names* names = std::get_if<Names>(&setting.allowed)) return join(*names);
    const Text text = std::get<Text>(setting.allowed);
    if (text == Text::path) return "a path or null";
    if (text == Text::mask) return "a digit for each step, 0 or 1, or null";
    return std::string("up to 100 letters, digits, '.', '_' and '-', the first a letter or digit") +
           (text == Text::word_or_none ? "; or null" : "");
  }
};

}  // namespace

bool Interval::contains(double value) const {
  return (with_low ? value >= low : value > low) && (with_high ? value <= high : value < high);
}

Condition when(std::string* field, const Names& names) {
  return {field, join(names), [names](const SettingField& f) {
            return std::ranges::find(names, *std::get<std::string*>(f)) != names.end();
          }};
}

Condition when(bool* field) {
  return {field, "true", [](const SettingField& f) { return *std::get<bool*>(f); }};
}

Condition when_zero(std::array<int, 2>* field) {
  using Pair = std::array<int, 2>;
  return {field, "[0, 0]", [](const SettingField& f) { return *std::get<Pair*>(f) == Pair{}; }};
}

Condition when_wide(LogRange* field) {
  return {field, "a range",
          [](const SettingField& f) { return !std::get<LogRange*>(f)->is_point(); }};
}

Condition unless(std::string* field, const std::string& name) { return unless_equal(field, name); }
Condition unless(int* field, int value) { return unless_equal(field, value); }
Condition unless(std::int64_t* field, std::int64_t value) { return unless_equal(field, value); }
Condition unless(double* field, double value) { return unless_equal(field, value); }

Condition operator||(Condition one, Condition other) {
  one.alternatives.push_back(std::move(other));
  return one;
}

Needs operator&&(Needs one, const Needs& other) {
  one.all.insert(one.all.end(), other.all.begin(), other.all.end());
  return one;
}

void append(Settings& to, Settings settings, const Needs& needs) {
  for (Setting& setting : settings) {
    setting.needs = needs && setting.needs;
    to.push_back(std::move(setting));
  }
}

bool takes_list(const Setting& setting) {
  return std::holds_alternative<std::array<int, 2>*>(setting.field) ||
         std::holds_alternative<std::vector<double>*>(setting.field) ||
         std::holds_alternative<std::vector<std::string>*>(setting.field);
}

std::string allowed_values(const Setting& setting) {
  return std::visit(AllowedValues{setting}, setting.field);
}

}  // namespace saccade
