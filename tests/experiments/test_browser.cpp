#include "experiments/comparison/report_files.h"
#include "tests/experiments/browser.h"
#include "tests/experiments/comparisons.h"

namespace saccade {
namespace {

const char* const kHostile =
    "</script><script>hostile = 1</script><img src=x onerror='hostile = 2'>\"&amp;<!--<script>";

TEST_CASE("a report opens in a browser, draws every chart and asks for nothing") {
  if (skipped_without_browser("a report opens in a browser")) return;
  Comparison comparison =
      made_comparison({made_variant("soft", 0.02, 5, 4), made_variant(kHostile, 0.03, 4, 6),
                       made_variant("one seed", 0.05, 1, 6)});
  comparison.class_names = {"<b>", kHostile, "\xff"};
  comparison.commands.push_back(kHostile);
  comparison.left_out.push_back({kHostile, kHostile});
  comparison.differing = {kHostile};
  const std::vector<Chart> charts = charts_of(comparison);
  const EmbeddedRecording recording{
      .media_type = "image/png", .bytes = to_png(Picture(20, 30, {200, 0, 0})), .title = kHostile};
  TemporaryFolder folder;
  fs::create_directories(folder.path / "charts");
  write_report(report_files(folder.path, charts), comparison, charts, recording);
  check_report_in_browser(folder.path / "report.html", charts.size());
}

TEST_CASE("the browser test notices an error, a request and a chart that is not drawn") {
  if (skipped_without_browser("the browser test notices an error")) return;
  TemporaryFolder folder;
  put_bytes(folder.path / "page.html",
            "<!doctype html><html><head></head><body><figure id=empty><svg viewBox='0 0 9 "
            "9'></svg></figure>"
            "<img src=http://127.0.0.1:9/none.png><script>console.error('wrong'); "
            "missing();</script></body></html>");
  const nlohmann::json seen = seen_in_browser(folder.path / "page.html", false, 800);
  const std::string errors = seen.at("errors").dump();
  check_contains(errors, {"error: wrong", "missing is not defined", "not loaded: IMG"});
  CHECK(contains(seen.at("requests").dump(), "none.png"));
  CHECK(seen.at("drawn").at(0).at("pixels") == 0);
}

}  // namespace
}  // namespace saccade
