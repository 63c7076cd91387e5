#include "experiments/comparison/chart_drawing.h"
#include "experiments/comparison/drawing_svg.h"
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

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST_CASE("the page's figures are those of the comparison") {
  const std::string page = page_of(two_variants());
  check_contains(page,
                 {"<h1>soft · hard</h1>", "2 variants, 9 runs", "10\u202f000 test scenes",
                  "2\u202f000 resamples", "3.00 %<small>[2.70, 3.30]</small>",
                  "2.94 %<small>[2.64, 3.24]</small>", "+1.00 points<small>[0.70, 1.30]</small>",
                  "0.40<small>[0.20, 0.60]</small>", "75.00 %<small>[74.70, 75.30]</small>",
                  "4\u202f000\u202f000", "0.0123", "4\u202f321", "1:15:00", "runs/hard/seed-4",
                  "attention.<wbr>glimpse.<wbr>kind", "runs/broken", "has no summary.json",
                  "saccade run a.yaml\nsaccade compare runs/a runs/b"});
  CHECK_FALSE(contains(page, "{{"));
}

// The cells of a column in the table of figures, from top to bottom.
Names column(const std::string& page, const std::string& title) {
  Names cells;
  const std::string from = "<td data-title=\"" + title + "\">", to = "</td>";
  for (std::size_t at = page.find(from); at != std::string::npos; at = page.find(from, at + 1))
    cells.push_back(page.substr(at + from.size(), page.find(to, at) - at - from.size()));
  return cells;
}

Variant without_interval(Variant variant) {
  variant.errors_over_scenes.clear();
  return variant;
}

TEST_CASE(
    "the interval of a single seed is over scenes, and columns for intervals over seeds are "
    "absent") {
  const std::string page = page_of(made_comparison({made_variant("lone", 0.03, 1, 4)}));
  CHECK(column(page, "seeds") == Names{"1"});
  CHECK(column(page, "error, mean") == Names{"3.00 %<small>[2.90, 3.10] over scenes</small>"});
  CHECK(column(page, "error, interquartile mean").empty());
  CHECK(contains(page, "An interval over scenes is that of one seed"));
  CHECK_FALSE(contains(page, "no interval"));
  const std::string seeds = page_of(two_variants());
  CHECK(column(seeds, "error, mean")[0] == "2.00 %<small>[1.80, 2.20]</small>");
  CHECK_FALSE(contains(seeds, "An interval over scenes"));
  CHECK(contains(seeds, "<small>[3.10, 3.30] over scenes</small>"));  // of each run
}

TEST_CASE("a single seed without an interval is reported once, and has no columns for it") {
  const std::string page =
      page_of(made_comparison({without_interval(made_variant("lone", 0.03, 1, 4))}));
  CHECK(column(page, "seeds") == Names{"1<small>no interval</small>"});
  CHECK(column(page, "error, mean") == Names{"3.00 %"});
  for (const char* title :
       {"error, interquartile mean", "P(better than the first)", "difference to the first"})
    CHECK_MESSAGE(column(page, title).empty(), title);
  CHECK(contains(page, "A variant with one seed has no interval."));
  CHECK_FALSE(contains(page, "resamples"));
  const std::string both = page_of(made_comparison(
      {made_variant("soft", 0.02, 5, 4), without_interval(made_variant("lone", 0.03, 1, 4))}));
  CHECK(column(both, "seeds") == Names{"5", "1<small>no interval</small>"});
  CHECK(column(both, "error, interquartile mean").size() == 2);
  CHECK_FALSE(contains(page_of(two_variants()), "no interval"));
}

TEST_CASE("the page shows the controls, and begins with the warnings about attention") {
  const std::string good = page_of(two_variants());
  CHECK(column(good, "shuffled")[0] == "51.00 %<small>[50.80, 51.20]</small>");
  CHECK(column(good, "centre")[1] == "62.00 %<small>[61.70, 62.30]</small>");
  CHECK(column(good, "random").size() == 2);
  CHECK_FALSE(contains(good, "class=\"warning\""));

  Comparison comparison = two_variants();
  comparison.variants[0].controls.clear();
  comparison.variants[1].controls[2].beaten = false;
  const std::string page = page_of(comparison);
  const std::size_t warning = page.find(
      "<p class=\"warning\" role=\"note\">hard: attention does "
      "nothing that random looks (73.00 %) could not");
  REQUIRE(warning != std::string::npos);
  CHECK(warning < page.find("class=\"summary\""));
  CHECK(count_of(page, "class=\"warning\"") == 1);
  CHECK(column(page, "shuffled")[0].empty());
  CHECK(column(page, "random")[1].starts_with("<strong>73.00 %"));
  CHECK(column(page, "centre")[1].starts_with("62.00 %"));

  comparison.variants[1].controls.clear();
  CHECK(column(page_of(comparison), "shuffled").empty());
}

TEST_CASE("the page is titled after its runs, or by what it compares") {
  Comparison comparison = two_variants();
  CHECK(contains(page_of(comparison), "<title>soft · hard</title>"));
  comparison.name = "a < study";
  check_contains(page_of(comparison), {"<title>a &lt; study</title>", "<h1>a &lt; study</h1>"});
}

// The figure element of a chart.
std::string figure_of(const std::string& page, const Chart& chart) {
  const std::size_t from = page.find("<figure id=\"" + chart.id + "\"");
  REQUIRE(from != std::string::npos);
  return page.substr(from, page.find("</figure>", from) - from);
}

TEST_CASE("the page's tables and tooltips have the numbers of the charts") {
  const std::string page = page_of(two_variants());
  const auto number = [](double value) { return short_number(value, 4); };
  for (const Chart& chart : charts_of(two_variants())) {
    CAPTURE(chart.id);
    const std::string figure = figure_of(page, chart);
    const bool rows = chart.kind == ChartKind::rows;
    for (const Series& series : chart.series)
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        const Estimate& e = series.estimates[i];
        CHECK(contains(
            figure,
            fmt::format("<th scope=\"row\">{}</th>{}<td>{}</td><td>{}</td><td>{}</td>", series.name,
                        rows ? "" : "<td>" + told_on(chart.x, series.x[i]) + "</td>",
                        number(e.value), number(e.low), number(e.high))));
        const std::string tooltip = fmt::format("{}: {} [{}, {}]", series.name, number(e.value),
                                                number(e.low), number(e.high));
        CHECK(count_of(figure, tooltip) >= 2);  // wide and narrow
        if (!rows) CHECK(contains(figure, "<title>" + told_with_unit(chart.x, series.x[i]) + "\n"));
        for (const double single : series.singles) CHECK(contains(figure, number(single)));
      }
    const ChartMatrix& matrix = chart.matrix;
    for (int row = 0; row < matrix.rows; ++row) {
      std::string cells;
      for (int col = 0; col < matrix.cols; ++col) {
        const double value = matrix.values[row * matrix.cols + col];
        cells += "<td>" + number(value) + "</td>";
        if (chart.kind == ChartKind::confusion && value > 0.0)
          CHECK(contains(figure, fmt::format("<title>what was there: {}\nanswer: {}\n{} %</title>",
                                             matrix.names[row], matrix.names[col], number(value))));
      }
      CHECK(contains(figure, "</th>" + cells + "</tr>"));
    }
  }
}

TEST_CASE("each chart has a figure with its title, its description, and its drawings") {
  const std::string page = page_of(two_variants());
  for (const Chart& chart : charts_of(two_variants())) {
    CAPTURE(chart.id);
    const std::string figure = figure_of(page, chart);
    check_contains(figure,
                   {"<figcaption>" + html_escaped(chart.title), "<p>" + html_escaped(chart.text),
                    "role=\"img\" aria-label=\"" + html_escaped(chart.text) + "\""});
    if (is_matrix(chart)) {
      CHECK(contains(figure, svg_of(draw_chart(chart, {.width = 400.0}), chart.text)));
      continue;
    }
    const double wide = chart.kind == ChartKind::rows ? 800.0 : 600.0;
    for (const double width : {wide, 360.0})
      CHECK(contains(figure, svg_of(draw_chart(chart, {.width = width}), chart.text)));
    CHECK(count_of(figure, "type=\"checkbox\"") ==
          (chart.kind == ChartKind::rows ? 0 : 2 * static_cast<int>(chart.series.size())));
  }
}

TEST_CASE("the page loads nothing and runs nothing") {
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
  CHECK_FALSE(contains(page, "<script"));
}

TEST_CASE("names that look like markup are escaped") {
  const std::string name = "</script><script>alert('\"&')</script><!--{{css}}{{sections}}";
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
  // The same number as in a page without such names: inserted text is not expanded again.
  CHECK_FALSE(contains(page, "<script"));
  CHECK(count_of(page, "--full-cell: ") == count_of(page_of(two_variants()), "--full-cell: "));
}

TEST_CASE("non-finite numbers are empty cells and no points") {
  std::vector<Chart> charts = charts_of(two_variants());
  for (Chart& chart : charts)
    if (!chart.series.empty()) chart.series[0].estimates[0].value = std::nan("");
  const std::string page = report_page(two_variants(), charts, std::nullopt);
  CHECK(contains(figure_of(page, charts[0]), "<th scope=\"row\">soft</th><td></td>"));
  for (const char* none : {"nan", "inf\"", "inf,"}) CHECK_FALSE(contains(page, none));
}

TEST_CASE("missing data have no section") {
  const std::string bare = page_of({});
  const std::string full = page_of(two_variants(), EmbeddedRecording{"image/gif", "x", "y"});
  for (const char* heading :
       {"Charts", "Error against cost", "Where each variant looks", "What is taken for what",
        "What differs", "Left out", "Made by", "Side by side"}) {
    CAPTURE(heading);
    CHECK_FALSE(contains(bare, std::string("<h2>") + heading));
    CHECK(contains(full, std::string("<h2>") + heading));
  }
}

TEST_CASE("a recording is embedded in the page byte for byte") {
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

TEST_CASE("a video of known size has room for the player's controls") {
  const EmbeddedRecording video{
      .media_type = "video/mp4", .bytes = "x", .title = "A", .rows = 300, .cols = 900};
  CHECK(contains(page_of(two_variants(), video),
                 "<figure class=\"recording\" style=\"--rows: 300; --cols: 900\">"));
  for (const EmbeddedRecording& other : {EmbeddedRecording{"video/mp4", "x", "A"},
                                         EmbeddedRecording{"image/gif", "x", "A", 300, 900}})
    CHECK(contains(page_of(two_variants(), other), "<figure class=\"recording\"><figcaption>"));
}

TEST_CASE("every time on the page is formatted as clock time") {
  const std::string page = page_of(two_variants());
  check_contains(page, {"<td data-title=\"training time\">50:00</td>",
                        "<td data-title=\"training time\">1:15:00</td>", "training time, h:mm:ss",
                        "at 1:15:00", "<title>9:23\n", "<td>9:23</td>"});
  for (const char* other : {" min<", " s<", " h<", "minutes", "seconds<", "hours"})
    CHECK_MESSAGE(!contains(page, other), other);
}

TEST_CASE("base64 agrees with RFC 4648") {
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

TEST_CASE("a template with a name without a value throws") {
  CHECK(filled("a {{b}} {c} {{d}}", {{"b", "{{d}}"}, {"d", "e"}}) == "a {{d}} {c} e");
  CHECK(contains(message_of<std::logic_error>([] { filled("{{x}}", {}); }), "x"));
}

TEST_CASE("a report consists of a page and a picture of each chart") {
  TemporaryFolder folder;
  const fs::path out = folder.path / "new/report";
  const Comparison comparison = two_variants();
  const std::vector<Chart> charts = charts_of(comparison);
  fs::create_directories(out / "charts");
  write_report(report_files(out, charts), comparison, charts, std::nullopt);
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
