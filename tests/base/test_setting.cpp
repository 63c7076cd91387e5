#include "base/setting.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace saccade {
namespace {

TEST_CASE("an interval contains its ends or not") {
  CHECK(closed(0, 1).contains(0.0));
  CHECK(closed(0, 1).contains(1.0));
  CHECK_FALSE(below(0, 1).contains(1.0));
  CHECK_FALSE(closed(0, 1).contains(-0.1));
}

TEST_CASE("a condition holds by the value of another setting, wherever that is") {
  std::string kind = "lstm", other = "rnn";
  int scales = 1;
  bool learned = true;
  std::array<int, 2> tiles = {0, 0};
  const Condition gated = when(&kind, Names{"lstm", "gru"});
  CHECK(gated.values == "lstm, gru");
  CHECK(gated.holds(&kind));
  CHECK_FALSE(gated.holds(&other));
  CHECK(unless(&kind, "rnn").holds(&kind));
  CHECK_FALSE(unless(&kind, "rnn").holds(&other));
  CHECK_FALSE(unless(&scales, 1).holds(&scales));
  CHECK(unless(&scales, 1).values == "not 1");
  CHECK(when(&learned).holds(&learned));
  CHECK(when_zero(&tiles).holds(&tiles));
  tiles[1] = 2;
  CHECK_FALSE(when_zero(&tiles).holds(&tiles));
  const Condition with_l = when(&kind, Names{"rnn", "lstm", "gru"},
                                [](const std::string& name) { return name[0] == 'l'; });
  CHECK(with_l.values == "lstm");
  CHECK((gated || unless(&scales, 1)).alternatives.size() == 1);
}

TEST_CASE("settings of a part get the conditions of the whole before their own") {
  std::string kind = "lstm", network = "mlp";
  int width = 3;
  Settings all = {{"kind", &kind, Names{"lstm", "rnn"}, "Kind"}};
  append(all, {{"width", &width, closed(1, 9), "Width", when(&network, Names{"mlp"})}},
         unless(&kind, "rnn"));
  REQUIRE(all.size() == 2);
  CHECK(all[0].needs.all.empty());
  REQUIRE(all[1].needs.all.size() == 2);
  CHECK(all[1].needs.all[0].values == "not rnn");
}

TEST_CASE("what is allowed is said in words") {
  int width = 1;
  double share = 0.5;
  std::string path;
  CHECK(allowed_values({"a", &width, closed(1, 9), ""}) == "an integer from 1 to 9");
  CHECK(allowed_values({"a", &share, below(0, 1), ""}) == "a number >= 0 and < 1");
  std::array<int, 2> pair = {1, 2};
  CHECK(allowed_values({"a", &pair, closed(1, 9), ""}) ==
        "a list of two, each an integer from 1 to 9");
  CHECK(allowed_values({"a", &path, Text::path, ""}) == "a path or null");
  CHECK(allowed_values({"a", &path, Text::mask, ""}) == "a digit for each step, 0 or 1, or null");
  CHECK(allowed_values({"a", &path, Names{"x", "y"}, ""}) == "x, y");
}

TEST_CASE("a SettingError is an InputError that carries its keys") {
  try {
    throw SettingError({"a.b", "c.d"}, "a.b: 1 needs c.d: 2");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()) == "a.b: 1 needs c.d: 2");
    CHECK(dynamic_cast<const SettingError&>(error).keys == std::vector<std::string>{"a.b", "c.d"});
  }
}

}  // namespace
}  // namespace saccade
