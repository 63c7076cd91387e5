#include "experiments/comparison/chart_json.h"
#include "experiments/comparison/html.h"
#include "experiments/comparison/report_files.h"
#include "tests/experiments/comparisons.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

std::string page_of(const Comparison& comparison,
                    const std::optional<EmbeddedRecording>& recording = std::nullopt) {
  return report_page(comparison, charts_of(comparison), recording);
}

nlohmann::json numbers_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"numbers\">";
  REQUIRE(contains(page, open));
  const std::size_t from = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

Comparison two_variants() {
  return made_comparison({made_variant("soft", 0.02, 5, 4), made_variant("hard", 0.03, 4, 4)});
}

TEST_CASE("the page's figures are those of the comparison") {
  const std::string page = page_of(two_variants());
  for (const char* part :
       {"<h1>soft · hard</h1>", "2 variants, 9 runs", "10\u202f000 test scenes",
        "2\u202f000 resamples", "3.00 %<small>[2.70, 3.30]</small>",
        "2.94 %<small>[2.64, 3.24]</small>", "+1.00 points<small>[0.70, 1.30]</small>",
        "0.40<small>[0.20, 0.60]</small>", "75.00 %<small>[74.70, 75.30]</small>",
        "4\u202f000\u202f000", "0.0123", "4\u202f321", "75 min", "runs/hard/seed-4",
        "attention.<wbr>glimpse.<wbr>kind", "runs/broken", "has no summary.json",
        "saccade run a.yaml\nsaccade compare runs/a runs/b"})
    CHECK_MESSAGE(contains(page, part), part);
  CHECK_FALSE(contains(page, "{{"));
}

TEST_CASE("one seed is said to have no interval") {
  const std::string page = page_of(made_comparison({made_variant("lone", 0.03, 1, 4)}));
  CHECK(contains(page, "3.00 %<small>one seed: no interval</small>"));
  CHECK(contains(page, "A variant with one seed has no interval."));
  CHECK_FALSE(contains(page, "resamples"));
  CHECK_FALSE(contains(page_of(two_variants()), "one seed: no interval"));
}

TEST_CASE("the page's charts are the numbers that the pictures are drawn from") {
  const std::vector<Chart> charts = charts_of(two_variants());
  const nlohmann::json numbers = numbers_of(page_of(two_variants()));
  REQUIRE(numbers.at("charts").size() == charts.size());
  for (std::size_t c = 0; c < charts.size(); ++c) {
    const nlohmann::json& json = numbers["charts"][c];
    CHECK(json.at("id") == charts[c].id);
    CHECK(json.at("x").at("high").get<double>() == doctest::Approx(charts[c].x.high));
    CHECK(json.at("y").at("ticks").size() == charts[c].y.ticks.size());
    REQUIRE(json.at("series").size() == charts[c].series.size());
    for (std::size_t s = 0; s < charts[c].series.size(); ++s) {
      const Series& series = charts[c].series[s];
      CHECK(json["series"][s].at("name") == series.name);
      CHECK(json["series"][s].at("colour") == css_colour(chart_style(series.variant).colour));
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        const nlohmann::json& estimate = json["series"][s].at("estimates").at(i);
        CHECK(json["series"][s].at("x").at(i).get<double>() == doctest::Approx(series.x[i]));
        CHECK(estimate.at("value").get<double>() == doctest::Approx(series.estimates[i].value));
        CHECK(estimate.at("low").get<double>() == doctest::Approx(series.estimates[i].low));
        CHECK(estimate.at("known") == series.estimates[i].known);
      }
    }
    for (std::size_t i = 0; i < charts[c].matrix.values.size(); ++i)
      CHECK(json.at("matrix").at("values").at(i).get<double>() ==
            doctest::Approx(charts[c].matrix.values[i]));
  }
}

TEST_CASE("each chart has a figure with its title and its words") {
  const std::string page = page_of(two_variants());
  for (const Chart& chart : charts_of(two_variants())) {
    CHECK(contains(page, "<figure id=\"" + chart.id + "\"><figcaption>" + chart.title));
    CHECK(contains(page, "role=\"img\" aria-label=\"" + html_escaped(chart.text) + "\""));
  }
}

TEST_CASE("the page loads nothing and keeps the licence of what is in it") {
  const EmbeddedRecording recording{"video/mp4", "bytes", "looks"};
  const std::string page = page_of(two_variants(), recording);
  CHECK(contains(page, "default-src 'none'"));
  for (const std::string attribute : {" src=", " href=", " action=", " poster=", " srcset="})
    for (std::size_t at = page.find(attribute); at != std::string::npos;
         at = page.find(attribute, at + 1)) {
      const std::string value = page.substr(at + attribute.size(), 40);
      CAPTURE(attribute);
      CHECK_MESSAGE((value.starts_with("\"data:") || value.starts_with("'data:")), value);
    }
  CHECK_FALSE(contains(page, "@import"));
  CHECK_FALSE(contains(page, "url("));
  CHECK(contains(page, "Chart.js v3"));
  CHECK(contains(page, "Chart.js Contributors. The MIT licence"));
}

TEST_CASE("names that look like markup stay names") {
  const std::string name = "</script><script>alert('\"&')</script><!--{{css}}{{numbers}}";
  Comparison comparison = two_variants();
  Variant& variant = comparison.variants[1];
  variant.label = name;
  variant.settings = {name};
  variant.folders[0] = name;
  comparison.class_names[0] = name;
  comparison.differing = {name};
  comparison.left_out = {{name, name}};
  comparison.commands = {name};
  const std::string page = page_of(comparison, EmbeddedRecording{"image/gif", "x", name});
  CHECK_FALSE(contains(page, "<script>alert"));
  CHECK(contains(page, html_escaped(name)));
  // As many of each as in a page without such names: what is put in is not filled in again.
  CHECK(count_of(page, "<script") == count_of(page_of(two_variants()), "<script"));
  CHECK(count_of(page, "--full-cell: ") == count_of(page_of(two_variants()), "--full-cell: "));
  const nlohmann::json numbers = numbers_of(page);
  CHECK(numbers["charts"][0]["series"][1]["name"] == name);
}

TEST_CASE("bytes that are no text and numbers that are none leave the page's numbers whole") {
  Comparison comparison = two_variants();
  comparison.variants[0].label = "caf\xe9";
  std::vector<Chart> charts = charts_of(comparison);
  charts[0].series[0].estimates[0].value = std::nan("");
  const nlohmann::json numbers = numbers_of(report_page(comparison, charts, std::nullopt));
  CHECK(numbers["charts"][0]["series"][0]["name"] == "caf\xef\xbf\xbd");
  CHECK(numbers["charts"][0]["series"][0]["estimates"][0]["value"].is_null());
}

TEST_CASE("what is not there has no section") {
  const Comparison empty{};
  const std::string bare = page_of(empty);
  for (const char* heading : {"Charts", "Where each variant looks", "What is taken for what",
                              "What differs", "Left out", "Made by", "Side by side"})
    CHECK_MESSAGE(!contains(bare, std::string("<h2>") + heading), heading);
  const std::string full = page_of(two_variants(), EmbeddedRecording{"image/gif", "x", "y"});
  for (const char* heading : {"Charts", "Where each variant looks", "What is taken for what",
                              "What differs", "Left out", "Made by", "Side by side"})
    CHECK_MESSAGE(contains(full, std::string("<h2>") + heading), heading);
}

TEST_CASE("a recording is in the page, byte by byte") {
  const std::string page =
      page_of(two_variants(), EmbeddedRecording{"video/mp4", "any bytes", "A & B"});
  CHECK(contains(page, "aria-label=\"A &amp; B\" src=\"data:video/mp4;base64,YW55IGJ5dGVz\""));
  CHECK(contains(page_of(two_variants(), EmbeddedRecording{"image/gif", "ab", "x"}),
                 "<img alt=\"x\" src=\"data:image/gif;base64,YWI=\">"));
  CHECK(contains(message_of<InputError>([] {
                   page_of(two_variants(), EmbeddedRecording{"text/html", "<b>", "x"});
                 }),
                 "text/html"));
}

TEST_CASE("base64 is that of RFC 4648") {
  const std::vector<std::pair<std::string, std::string>> vectors = {{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"},
                                                                    {"\xff\xfe", "//4="}};
  for (const auto& [bytes, text] : vectors) CHECK(base64(bytes) == text);
}

TEST_CASE("a template without a value for a name is a fault") {
  CHECK(filled("a {{b}} {c} {{d}}", {{"b", "{{d}}"}, {"d", "e"}}) == "a {{d}} {c} e");
  CHECK(contains(message_of<std::logic_error>([] { filled("{{x}}", {}); }), "x"));
}

TEST_CASE("a report is a page and a picture of each chart") {
  TemporaryFolder folder;
  const std::filesystem::path out = folder.path / "new/report";
  const Comparison comparison = two_variants();
  const std::vector<Chart> charts = charts_of(comparison);
  write_report(out, comparison, charts, std::nullopt);
  const auto files = contents(out);
  CHECK(files.size() == charts.size() + 1);
  for (const auto& path : report_files(out, charts))
    CHECK_MESSAGE(files.contains(path.lexically_relative(out).string()), path.string());
  CHECK(files.at("report.html") == page_of(comparison));
  for (const Chart& chart : charts)
    CHECK(files.at("charts/" + chart.id + ".png").starts_with("\x89PNG"));
}

}  // namespace
}  // namespace saccade
