#include "base/own_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "base/name_table.h"

namespace saccade {
namespace {

struct Described {
  std::string section, kind, key;
  OwnSetting setting;
};

struct DescribedSettings {
  std::vector<Described> all;
  bool used = false;  // values were made of them
};

DescribedSettings& described() {
  static DescribedSettings settings;
  return settings;
}

// Whether the default fits what is allowed.
struct FitsAllowed {
  const decltype(Setting::allowed)& allowed;

  bool operator()(bool) const { return std::holds_alternative<std::monostate>(allowed); }
  bool operator()(int value) const { return (*this)(static_cast<double>(value)); }
  bool operator()(double value) const {
    const Interval* range = std::get_if<Interval>(&allowed);
    return range != nullptr && range->contains(value);
  }
  bool operator()(const std::string& value) const {
    const Names* names = std::get_if<Names>(&allowed);
    return names != nullptr && std::ranges::find(*names, value) != names->end();
  }
};

void check_own(const Described& one, const std::vector<Described>& others) {
  if (!is_kind_name(one.setting.name))
    throw InputError(
        one.key + ": allowed as its name: lower-case letters, digits and '_', the first a letter");
  if (std::ranges::find(others, one.key, &Described::key) != others.end())
    throw InputError(one.key + ": described twice");
  if (!std::visit(FitsAllowed{one.setting.allowed}, one.setting.initial))
    throw InputError(one.key +
                     ": its default is not allowed; needed: of a number an Interval that holds it, "
                     "of a string Names with it, of a bool kUnbounded");
  if (others.size() >= kMaxOwnSettings)
    throw InputError(fmt::format("{}: the registered kinds have too many settings; allowed: {}",
                                 one.key, kMaxOwnSettings));
}

}  // namespace

void add_own_settings(const std::string& section, const std::string& kind,
                      const std::vector<OwnSetting>& settings) {
  DescribedSettings& known = described();
  for (const OwnSetting& setting : settings) {
    Described one{section, kind, section + "." + kind + "." + setting.name, setting};
    if (known.used)
      throw std::logic_error(one.key +
                             ": described when settings have values; allowed: before that");
    check_own(one, known.all);
    known.all.push_back(std::move(one));
  }
}

OwnValues::OwnValues() {
  DescribedSettings& known = described();
  if (!known.used) known.used = true;
  for (std::size_t i = 0; i < known.all.size(); ++i) values_[i] = known.all[i].setting.initial;
}

std::size_t OwnValues::find(const std::string& key, std::size_t type) {
  const std::vector<Described>& all = described().all;
  const auto found = std::ranges::find(all, key, &Described::key);
  if (found == all.end() || found->setting.initial.index() != type)
    throw std::logic_error(key + ": no registered kind has a setting of this type");
  return static_cast<std::size_t>(found - all.begin());
}

Settings describe(OwnValues& values, const std::string& section, std::string* kind) {
  Settings settings;
  const std::vector<Described>& all = described().all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].section != section) continue;
    const SettingField field =
        std::visit([](auto& value) -> SettingField { return &value; }, values.values_[i]);
    settings.push_back({all[i].key, field, all[i].setting.allowed, all[i].setting.about,
                        when(kind, Names{all[i].kind})});
  }
  return settings;
}

}  // namespace saccade
