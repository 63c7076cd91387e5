#include "agent/looking/glimpse_rules.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "agent/looking/looking.h"
#include "base/error.h"
#include "tests/support.h"

namespace saccade {
namespace {

std::string glimpse_fault(GlimpseConfig config) {
  settle(config);
  return message_of<InputError>([&] { check(config); });
}

bool has_grid(const std::string& kind) { return find_glimpse_kind(kind).has_candidates; }
bool is_soft(const std::string& kind) {
  return find_glimpse_kind(kind).learning == GlimpseKind::Learning::backpropagation;
}

TEST_CASE("every kind of glimpse attention works with the defaults") {
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    CHECK(glimpse_fault({.kind = kind}) == "nothing thrown");
  }
}

TEST_CASE("kinds without a grid refuse an addressing") {
  for (const std::string& kind : glimpse_kinds())
    for (const std::string addressing : {"location", "content"}) {
      CAPTURE(kind);
      CHECK(glimpse_fault({.kind = kind, .addressing = addressing}) ==
            (has_grid(kind)
                 ? "nothing thrown"
                 : fmt::format("attention.glimpse.addressing: {} has no effect with "
                               "attention.glimpse.kind: {}, which has no grid; allowed: none",
                               addressing, kind)));
    }
}

TEST_CASE("only the soft grid has an expectation and weight penalties") {
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    const bool takes = has_grid(kind) && is_soft(kind);
    for (const std::string expect : {"features", "pixels"})
      CHECK(glimpse_fault({.kind = kind, .expect = expect}) ==
            (takes ? "nothing thrown"
                   : fmt::format("attention.glimpse.expect: {} has no effect with "
                                 "attention.glimpse.kind: {}, which takes no expectation; allowed: "
                                 "none",
                                 expect, kind)));
    const auto weight_fault = [&](const std::string& key) {
      return takes ? "nothing thrown"
                   : fmt::format(
                         "attention.glimpse.{}: 0.5 has no effect with "
                         "attention.glimpse.kind: {}; it is a setting of soft_grid",
                         key, kind);
    };
    CHECK(glimpse_fault({.kind = kind, .entropy = 0.5}) == weight_fault("entropy"));
    CHECK(glimpse_fault({.kind = kind, .coverage = 0.5}) == weight_fault("coverage"));
    CHECK(glimpse_fault({.kind = kind, .row_penalty = 0.5}) == weight_fault("row_penalty"));
  }
}

TEST_CASE(
    "learn_std, spread and a learned first look are refused for kinds that do not have them") {
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    const bool learns = find_glimpse_kind(kind).learning != GlimpseKind::Learning::none;
    CHECK(glimpse_fault({.kind = kind, .first = "learned"}) ==
          (learns ? "nothing thrown"
                  : "attention.glimpse.first: learned is never learned with "
                    "attention.glimpse.kind: " +
                        kind));
    CHECK(glimpse_fault({.kind = kind, .learn_std = true}) ==
          (kind == "hard_gaussian"
               ? "nothing thrown"
               : "attention.glimpse.learn_std has no effect with attention.glimpse.kind: " + kind));
    CHECK(
        glimpse_fault({.kind = kind, .spread = 0.5}) ==
        (kind == "hard_gaussian"
             ? "nothing thrown"
             : "attention.glimpse.spread: 0.5 has no effect with attention.glimpse.kind: " + kind));
  }
}

TEST_CASE("a learned std starts from a single number") {
  CHECK(glimpse_fault({.std = {0.3, 0.1, 1.0}, .learn_std = true}) ==
        "attention.glimpse.learn_std needs one number to begin with as attention.glimpse.std, not "
        "a ramp from 0.3 to 0.1");
  CHECK(glimpse_fault({.std = {0.3, 0.1, 1.0}}) == "nothing thrown");
}

}  // namespace
}  // namespace saccade
