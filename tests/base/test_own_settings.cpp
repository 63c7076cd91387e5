#include "base/own_settings.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "base/error.h"
#include "base/name_table.h"
#include "tests/support.h"

namespace saccade {
namespace {

std::string refusal_of(const OwnSetting& setting) {
  return message_of<InputError>([&] { add_own_settings("zoo", "ape", {setting}); });
}

}  // namespace

TEST_CASE("a table takes entries until it is read, each name once") {
  NameTable<int> table("zoo.kind", {{"ape", 1}, {"bee", 2}});
  table.add("cat_2", 3);
  CHECK(message_of<InputError>([&] { table.add("bee", 4); }) ==
        "zoo.kind: 'bee' cannot be registered: the name is taken");
  CHECK(message_of<InputError>([&] { table.add("cat_2", 4); }) ==
        "zoo.kind: 'cat_2' cannot be registered: the name is taken");
  for (const char* bad : {"", "2cats", "Cat", "my cat", "a.b", "_a"})
    CHECK(message_of<InputError>([&] { table.add(bad, 4); }) ==
          std::string("zoo.kind: '") + bad +
              "' cannot be registered: allowed: lower-case letters, digits and '_', the first a "
              "letter");
  CHECK(table.at("cat_2") == 3);
  CHECK(message_of<InputError>([&] { table.at("dog"); }) ==
        "unknown zoo.kind 'dog'; allowed: ape, bee, cat_2");
  CHECK(message_of<std::logic_error>([&] { table.add("dog", 4); }) ==
        "zoo.kind: 'dog' cannot be registered: the table was read; allowed: before that");
  CHECK(table.find("dog") == nullptr);
  CHECK(message_of<InputError>([] {
          NameTable<int>("zoo.kind", {{"ape", 1}, {"ape", 2}});
        }) == "zoo.kind: 'ape' cannot be registered: the name is taken");
}

TEST_CASE("settings of registered kinds have keys, defaults, ranges and conditions") {
  add_own_settings("zoo", "ape",
                   {{"legs", 2, closed(0, 8), "Number of legs"},
                    {"weight", 0.5, below(0, 1), "Weight, in tons"},
                    {"food", "figs", Names{"figs", "nuts"}, "Food of the day"},
                    {"wild", true, kUnbounded, "Whether it is wild"}});
  add_own_settings("zoo", "bee", {{"legs", 6, closed(0, 8), "Number of legs"}});
  add_own_settings("farm", "ape", {{"legs", 3, closed(0, 8), "Number of legs"}});
  CHECK(refusal_of({"legs", 2, closed(0, 8), "Again"}) == "zoo.ape.legs: described twice");
  CHECK(refusal_of({"Arms", 2, closed(0, 8), "Arms"}).starts_with("zoo.ape.Arms: allowed as its "));
  for (const OwnSetting& bad :
       {OwnSetting{"arms", 9, closed(0, 8), "Arms"}, OwnSetting{"arms", 2, kUnbounded, "Arms"},
        OwnSetting{"arms", 1.0, below(0, 1), "Arms"}, OwnSetting{"arms", 1.0, Names{"1"}, "Arms"},
        OwnSetting{"arms", "two", Names{"one"}, "Arms"},
        OwnSetting{"arms", "two", Text::path, "Arms"}, OwnSetting{"arms", true, closed(0, 1), "A"}})
    CHECK(refusal_of(bad).starts_with("zoo.ape.arms: its default is not allowed; needed: "));
  const std::vector<OwnSetting> many = [] {
    std::vector<OwnSetting> all;
    for (int i = 0; i <= kMaxOwnSettings; ++i)
      all.push_back({"n" + std::to_string(i), i, closed(0, 100), "Number"});
    return all;
  }();
  CHECK(message_of<InputError>([&] { add_own_settings("sea", "eel", many); }) ==
        "sea.eel.n26: the registered kinds have too many settings; allowed: 32");

  OwnValues values;
  CHECK(message_of<std::logic_error>([] {
          add_own_settings("zoo", "cat", {{"legs", 4, closed(0, 8), "Number of legs"}});
        }) == "zoo.cat.legs: described when settings have values; allowed: before that");
  CHECK(values.get<int>("zoo.ape.legs") == 2);
  CHECK(values.get<double>("zoo.ape.weight") == 0.5);
  CHECK(values.get<std::string>("zoo.ape.food") == "figs");
  CHECK(values.get<bool>("zoo.ape.wild"));
  CHECK(values.get<int>("farm.ape.legs") == 3);
  for (const char* key : {"zoo.ape.arms", "zoo.ape.weight", "legs"})
    CHECK(message_of<std::logic_error>([&] { values.get<int>(key); }) ==
          std::string(key) + ": no registered kind has a setting of this type");

  std::string kind = "bee";
  const Settings settings = describe(values, "zoo", &kind);
  REQUIRE(settings.size() == 5);
  CHECK(settings[0].key == "zoo.ape.legs");
  CHECK(allowed_values(settings[0]) == "an integer from 0 to 8");
  CHECK(settings[0].about == "Number of legs");
  REQUIRE(settings[0].needs.all.size() == 1);
  CHECK_FALSE(settings[0].needs.all[0].holds(&kind));
  CHECK(settings[4].key == "zoo.bee.legs");
  CHECK(settings[4].needs.all[0].holds(&kind));
  const OwnValues before = values;
  *std::get<int*>(settings[4].field) = 5;
  CHECK(values.get<int>("zoo.bee.legs") == 5);
  CHECK(values != before);
  CHECK(before.get<int>("zoo.bee.legs") == 6);
}

}  // namespace saccade
