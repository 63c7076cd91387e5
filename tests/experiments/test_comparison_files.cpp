// The files that `compare` writes: tables, charts, a report and a recording.
#include <doctest/doctest.h>

#include <algorithm>

#include "experiments/comparison/chart.h"
#include "experiments/comparison/compare.h"
#include "experiments/pictures/video.h"
#include "tests/experiments/browser.h"
#include "tests/experiments/unwrapped.h"

namespace saccade {

TEST_CASE("an existing comparison is overwritten only with force") {
  const TinyExperiment tiny;
  const auto folder = tiny.train("one");
  CompareRequest options{.folders = {folder}, .command = "saccade compare one"};
  const std::string said = to_text(compare(options));
  CHECK(said.ends_with(fmt::format(
      "the video:  {0}/recording.mp4\nthe report, to open in a browser:  {0}/report.html\n",
      (folder / "comparison").string())));
  CHECK(contains(bytes_of(folder / "comparison/compare.md"), "saccade compare one"));
  put_bytes(folder / "comparison/report.html", "mine");
  CHECK(contains(message_of<InputError>([&] { compare(options); }), "--force"));
  CHECK(bytes_of(folder / "comparison/report.html") == "mine");
  // Before any work: the runs are not even looked for.
  CompareRequest nothing{.folders = {tiny.path / "none"}};
  for (const char* name : {"compare.md", "compare.csv", "report.html"}) {
    nothing.out = tiny.path / name / "out";
    fs::create_directories(nothing.out);
    put_bytes(nothing.out / name, "mine");
    CHECK(contains(message_of<InputError>([&] { compare(nothing); }),
                   fmt::format("{}: exists already", name)));
  }
  options.force = true;
  compare(options);
  CHECK(bytes_of(folder / "comparison/report.html") != "mine");
  options.out = tiny.path / "tiny.yaml/below";
  CHECK(contains(message_of<InputError>([&] { compare(options); }),
                 "cannot be made: Not a directory"));
  options.out = tiny.path / "elsewhere";
  CHECK(compare(options).comparison.variants.size() == 1);
}

TEST_CASE("a comparison that is made again has no charts of variants that are gone") {
  const TinyExperiment tiny;
  const fs::path one = tiny.train("one"), two = tiny.train("two", {"model.core=gru"});
  CompareRequest options{.folders = {one, two}, .out = tiny.path / "again"};
  compare(options);
  const fs::path charts = options.out / "charts";
  CHECK(fs::exists(charts / "looks_2.png"));
  CHECK(fs::exists(charts / "stopping_2.png"));
  CHECK(fs::exists(charts / "error_by_looks.png"));  // of several variants only
  const Names mine = {"mine.png", "figure_1.png", "looks_.png", "looks_01.png", "looks_1.svg"};
  for (const std::string& name : mine) put_bytes(charts / name, name);
  options.folders = {one};
  options.force = true;
  compare(options);
  CHECK(fs::exists(charts / "looks_1.png"));
  CHECK_FALSE(fs::exists(charts / "looks_2.png"));
  CHECK_FALSE(fs::exists(charts / "stopping_2.png"));
  CHECK_FALSE(fs::exists(charts / "error_by_looks.png"));
  for (const std::string& name : mine) CHECK(bytes_of(charts / name) == name);
  for (const fs::directory_entry& chart : fs::directory_iterator(charts)) {
    const std::string name = chart.path().filename().string();
    CAPTURE(name);
    CHECK(
        (std::ranges::find(mine, name) != mine.end() || is_chart_id(chart.path().stem().string())));
  }
}

TEST_CASE("the report of two small runs opens in a browser with its recording") {
  if (skipped_without_browser("the report of two small runs opens in a browser")) return;
  const TinyExperiment tiny;
  const std::vector<fs::path> runs = {tiny.train("hard"),
                                      tiny.train("mlp", {"model.kind=mlp", "seed=2"})};
  compare({.folders = runs, .out = tiny.path / "report", .command = "saccade compare hard mlp"});
  const auto charts = contents(tiny.path / "report/charts");
  CHECK(charts.size() > 6);
  CHECK(contains(bytes_of(tiny.path / "report/report.html"), "data:video/mp4;base64,"));
  const VideoShape shape = shape_of_mp4(tiny.path / "report/recording.mp4");
  CHECK(shape.rows > 300);
  CHECK(contains(bytes_of(tiny.path / "report/report.html"),
                 fmt::format("--rows: {}; --cols: {}", shape.rows, shape.cols)));
  check_report_in_browser(tiny.path / "report/report.html", charts.size());
}

TEST_CASE("a comparison without its data leaves out the recording, and says so") {
  const TinyExperiment tiny;
  const auto folder = tiny.train("one");
  fs::remove_all(tiny.path / "data");
  const std::string said = unwrapped(to_text(compare({.folders = {folder}})));
  check_contains(said, {"left out: ", "recording.mp4: ", "train-images-idx3-ubyte: missing"});
  CHECK(!fs::exists(folder / "comparison/recording.mp4"));
  CHECK(!contains(bytes_of(folder / "comparison/report.html"), "data:video"));
}

}  // namespace saccade
