// The verdict of a comparison, in words.
#include "experiments/comparison/verdict.h"

#include <nlohmann/json.hpp>

#include "experiments/comparison/report_page.h"
#include "experiments/comparison/tables.h"
#include "tests/experiments/comparisons.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

using Sentences = std::vector<std::string>;

Estimate between(double low, double value, double high) { return {value, low, high, true}; }

// With one seed each.
Comparison of_one_seed(const Estimate& difference) {
  Comparison c =
      made_comparison({made_variant("hard", 0.0915, 1, 4), made_variant("soft", 0.0614, 1, 4)});
  c.variants[0].difference.reset();
  c.variants[1].difference = around(difference.value, 0.0);
  c.variants[1].difference_over_scenes = difference;
  return c;
}

TEST_CASE("the better of two variants is named, with the interval over their common seeds") {
  Comparison c =
      made_comparison({made_variant("soft", 0.02, 5, 4), made_variant("hard", 0.03, 4, 4)});
  CHECK(verdict(c) == Sentences{"soft is better than hard by 1.00 points on the same 10000 scenes "
                                "(95 % interval 0.70 to 1.30 over 4 seeds)."});
  c.variants[1].difference = between(-0.013, -0.01, -0.007);
  CHECK(verdict(c) == Sentences{"hard is better than soft by 1.00 points on the same 10000 scenes "
                                "(95 % interval 0.70 to 1.30 over 4 seeds)."});
  c.variants[1].difference = between(-0.013, -0.003, 0.007);
  CHECK(verdict(c) ==
        Sentences{"soft and hard are not told apart: their errors differ by 0.30 points on the "
                  "same 10000 scenes (95 % interval -0.70 to 1.30 over 4 seeds)."});
}

TEST_CASE("with a single seed the interval is over scenes, and more seeds are recommended") {
  CHECK(verdict(of_one_seed(between(-0.0375, -0.0301, -0.0228))) ==
        Sentences{"soft is better than hard by 3.01 points on the same 10000 scenes (95 % interval "
                  "2.28 to 3.75 over scenes; one seed each, and another seed may differ: try "
                  "seeds=5)."});
  CHECK(contains(verdict(of_one_seed(between(-0.002, 0.001, 0.004)))[0],
                 "hard and soft are not told apart: their errors differ by 0.10 points"));
  Comparison unknown = of_one_seed({});
  unknown.variants[1].difference_over_scenes.reset();
  CHECK(verdict(unknown) == Sentences{"Whether hard or soft is better is not known: there is no "
                                      "interval of the difference."});
}

TEST_CASE("a seed fails whose error is above twice the median of its variant") {
  Comparison c =
      made_comparison({made_variant("soft", 0.02, 5, 4), made_variant("hard", 0.03, 2, 4)});
  CHECK(may_fail(c));
  c.variants[0].errors = {0.02, 0.021, 0.05, 0.019, 0.04};
  CHECK(failing_seeds(c.variants[0]) == std::vector<std::uint64_t>{3});  // 0.042 is the limit
  c.variants[1].errors = {0.01, 0.9};
  CHECK(failing_seeds(c.variants[1]).empty());
  CHECK(failing_remark(c) ==
        "A seed fails if its error is above twice the median of its variant's seeds; the mean and "
        "its interval then say little about the others (soft: seed 3).");
  CHECK(contains(to_table(c), "fail"));
  CHECK(contains(to_markdown(c), "| soft | 5 | 1 |"));
  CHECK(to_json(c).at("variants")[0].at("failing_seeds") == 1.0);
  CHECK(contains(report_page(c, {}, {}), "<small>1 fails</small>"));
  c.variants[0].errors = {0.02, 0.021, 0.022, 0.019, 0.04};
  CHECK(contains(failing_remark(c), "(none does)"));
  CHECK(!contains(report_page(c, {}, {}), "fails</small>"));
  Comparison few = made_comparison({made_variant("soft", 0.02, 2, 4)});
  CHECK(!may_fail(few));
  CHECK(!contains(to_markdown(few), "| fail |"));
}

TEST_CASE("variants with different seeds are compared by their means") {
  Comparison c =
      made_comparison({made_variant("soft", 0.02, 3, 4), made_variant("hard", 0.03, 3, 4)});
  for (std::uint64_t& seed : c.variants[1].seeds) seed += 10;
  c.variants[1].difference = between(0.0064, 0.01, 0.0136);
  CHECK(contains(verdict(c)[0],
                 "by 1.00 points on the same 10000 scenes (95 % interval 0.64 to 1.36 over 3 seeds "
                 "and 3 others)"));
}

TEST_CASE("each of many variants is compared with the first") {
  Comparison c = made_comparison({made_variant("a", 0.03, 5, 4), made_variant("b", 0.02, 5, 4),
                                  made_variant("c", 0.05, 4, 4), made_variant("d", 0.03, 3, 4),
                                  made_variant("e", 0.06, 1, 4), made_variant("f", 0.07, 1, 4)});
  c.variants[1].difference = between(-0.013, -0.01, -0.007);
  c.variants[2].difference = between(0.01, 0.02, 0.03);
  c.variants[3].difference = between(-0.001, 0.001, 0.003);
  c.variants[4].difference_over_scenes = between(0.02, 0.03, 0.04);
  CHECK(verdict(c) ==
        Sentences{"Against a (3.00 %) on the same 10000 scenes, 95 % intervals of each difference "
                  "by itself; better: b by 1.00 points (0.70 to 1.30 over 5 seeds); worse: c by "
                  "2.00 points (1.00 to 3.00 over 4 seeds), e by 3.00 points (2.00 to 4.00 over "
                  "scenes); not told apart: d (-0.10 to 0.30 over 3 seeds); not known, there is no "
                  "interval: f.",
                  "Over scenes is of one seed, and another seed may differ: try seeds=5."});
}

TEST_CASE("a single agent has no verdict") {
  const Comparison c = made_comparison({made_variant("lone", 0.02, 5, 4)});
  CHECK(verdict(c).empty());
  CHECK_FALSE(contains(report_page(c, {}, std::nullopt), "class=\"verdict\""));
}

TEST_CASE("the verdict comes before everything else") {
  Comparison c = of_one_seed(between(-0.0375, -0.0301, -0.0228));
  c.variants[1].controls[0].beaten = false;
  const std::string sentence = verdict(c).at(0);
  CHECK(to_markdown(c).starts_with("**" + sentence + "**\n\n**soft: attention does nothing"));
  CHECK(to_table(c).starts_with("  soft is better than hard by 3.01 points"));
  CHECK(to_table(c).find("seeds=5") < to_table(c).find("soft: attention does nothing"));
  CHECK(to_json(c).at("verdict") == nlohmann::json{sentence});
  const std::string page = report_page(c, {}, std::nullopt);
  const std::size_t place = page.find("<p class=\"verdict\">" + sentence + "</p>");
  CHECK(place < page.find("class=\"warning\""));
  CHECK(place < page.find("class=\"summary\""));
}

TEST_CASE("an interval over scenes is labelled wherever it appears, and one over seeds is not") {
  const Comparison c = of_one_seed(between(-0.0375, -0.0301, -0.0228));
  for (const std::string& text : {to_table(c), to_markdown(c)}) {
    check_contains(text,
                   {"9.15 [9.05, 9.25 over scenes]",
                    "hard: one seed: no interval over seeds, one over the scenes", "Newcombe"});
  }
  const nlohmann::json hard = to_json(c).at("variants").at(0);
  CHECK(hard.at("test/error_low").is_null());
  CHECK(hard.at("runs").size() == 1);
  CHECK(hard.at("runs")[0].at("seed") == 1);
  CHECK(hard.at("runs")[0].at("test/error") == 0.0915);
  CHECK(hard.at("runs")[0].at("test/error_low") == doctest::Approx(0.0905));
  CHECK(hard.at("runs")[0].at("test/error_high") == doctest::Approx(0.0925));
  const std::string page = report_page(c, {}, std::nullopt);
  check_contains(page, {"9.15 %<small>[9.05, 9.25] over scenes</small>",
                        "\u22123.01 points<small>[\u22123.75, \u22122.28] over scenes</small>"});
  const Comparison seeds =
      made_comparison({made_variant("soft", 0.02, 5, 4), made_variant("hard", 0.03, 4, 4)});
  for (const std::string& text : {to_table(seeds), to_markdown(seeds)})
    CHECK_FALSE(contains(text, "over scenes"));
}

}  // namespace
}  // namespace saccade
