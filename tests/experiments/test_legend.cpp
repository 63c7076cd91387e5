// Labels in sheets: numbers, scales, legends.
#include "experiments/pictures/legend.h"

#include <doctest/doctest.h>

#include "experiments/config/config.h"
#include "experiments/pictures/saliency_picture.h"
#include "experiments/runs/trained.h"
#include "tests/experiments/pixels.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

struct Sheets : TinyExperiment {
  Task task(const Overrides& overrides) const { return Task(read_config(yaml, overrides)); }
  std::vector<LegendEntry> legend(const Overrides& overrides) const {
    return sheet_legend(task(overrides));
  }
};

Names words_of(const std::vector<LegendEntry>& legend) {
  Names words;
  for (const LegendEntry& entry : legend) words.push_back(entry.words);
  return words;
}

bool says(const std::vector<LegendEntry>& legend, const std::string& part) {
  return std::ranges::any_of(legend,
                             [&](const LegendEntry& entry) { return contains(entry.words, part); });
}

}  // namespace

TEST_CASE("a legend covers exactly what an agent's sheet contains") {
  const Sheets tiny;
  const auto hard = tiny.legend({});
  CHECK(says(hard, "scale 1: 4 px of the canvas"));
  CHECK(says(hard, "scale 2: 8 px of the canvas"));
  CHECK_FALSE(says(hard, "scale 3"));
  CHECK(says(hard, "its looks so far"));
  CHECK_FALSE(says(hard, "weight"));
  CHECK(hard.front().colour == LookPicture::scale_colour(0));
  const auto soft = tiny.legend(kSoftGrid);
  CHECK(says(soft, "weight of the look"));
  CHECK_FALSE(says(soft, "attention over the states"));
  CHECK(says(tiny.legend({"attention.hidden.kind=attend"}), "attention over the states"));
  const auto window = tiny.legend({"attention.glimpse.kind=soft_gaussian"});
  CHECK(says(window, "the window"));
  CHECK_FALSE(says(window, "scale 1"));
  CHECK(words_of(tiny.legend({"model.kind=cnn"})) == Names{"green: right", "red: wrong"});
  CHECK_FALSE(says(tiny.legend(kCatchTask), "right"));

  std::vector<LegendEntry> both = hard;
  add_entries(both, soft);
  CHECK(both.size() == hard.size() + 1);  // only the weight is new
  add_entries(both, hard);
  CHECK(both.size() == hard.size() + 1);
}

TEST_CASE("a legend wraps to the available width and stays inside it") {
  const auto legend = Sheets().legend(kSoftGrid);
  const int one = legend_rows(legend, 5000);
  CHECK(legend_rows({}, 500) == 0);
  CHECK(legend_rows(legend, 100) == static_cast<int>(legend.size()) * one);
  CHECK(legend_rows(legend, 400) > one);
  for (const int cols : {100, 400, 900}) {
    CAPTURE(cols);
    const int rows = legend_rows(legend, cols);
    Picture picture(rows + 20, cols + 30, kPaper);
    draw_legend(picture, legend, {10, 10}, cols);
    CHECK(drawn_in(picture, {10, 10, cols, rows}) > 500);
    CHECK(drawn_in(picture, {0, 0, cols + 30, 9}) == 0);
    CHECK(drawn_in(picture, {0, 10 + rows, cols + 30, 10}) == 0);
    CHECK(drawn_in(picture, {10 + cols + 2, 0, 18, rows + 20}) == 0);
  }
}

TEST_CASE("a heat bar runs from lowest to highest, with labels below") {
  Picture picture(kHeatBarRows, 220, kPaper);
  draw_heat_bar(picture, {10, 0, 200, kHeatBarRows}, {"0", "half", "all"});
  CHECK(picture.at({10, 3}) == heat_colour(0.0));
  CHECK(picture.at({209, 3}) == heat_colour(1.0));
  CHECK(picture.at({9, 3}) == kPaper);
  for (const int x : {10, 95, 190}) CHECK(drawn_in(picture, {x, 12, 20, 12}) > 0);
  for (const int x : {40, 150}) CHECK(drawn_in(picture, {x, 12, 20, 12}) == 0);
}

TEST_CASE("the side of a scale that is wider than its image loses its unit, then itself") {
  constexpr TextStyle kStyle{.height = 8, .align = Align::centre, .bold = false};
  const int whole = text_width("24-96 px", kStyle), number = text_width("24-96", kStyle);
  REQUIRE(number < whole);
  CHECK(side_that_fits("24-96 px", whole) == "24-96 px");
  CHECK(side_that_fits("24-96 px", whole - 1) == "24-96");
  CHECK(side_that_fits("24-96 px", number) == "24-96");
  CHECK(side_that_fits("24-96 px", number - 1).empty());
}

TEST_CASE("each tile has its number above and the sides of its scales below") {
  const Sheets tiny;
  const Trained trained(tiny.train("out", {"training.episodes=16"}));
  PlayedScene played(trained.task, Split::test, flat(trained.weights));
  const EpisodeStrip strip(trained.task, "");
  const Picture picture = strip.strip(played.episode(), 1);
  // Tiles of 13 x 15 pixels at 12 each, gaps of 8; below them scales of a third of that width.
  constexpr int kPitch = 15 * 12 + 8, kHead = 33, kCanvas = 13 * 12;
  for (int t = 0; t < 3; ++t) {
    CAPTURE(t);
    CHECK(drawn_in(picture, {t * kPitch, 18, kPitch - 8, 13}) > 20);
    if (t > 0)  // a different number
      CHECK(count_pixels({0, 18, kPitch - 8, 13}, [&](Point at) {
              return picture.at(at) != picture.at({t * kPitch + at.x, at.y});
            }) > 0);
    for (int scale = 0; scale < 2; ++scale) {
      CAPTURE(scale);
      const int left = t * kPitch + scale * (60 + 4), below = kHead + kCanvas + 4 + 60;
      CHECK(picture.at({left + 5, below + 1}) == LookPicture::scale_colour(scale));
      CHECK(drawn_in(picture, {left, below + 4, 60, 12}) > 10);
    }
  }
  CHECK(picture.rows() == kHead + kCanvas + 4 + 60 + 16);
}

TEST_CASE("a canvas like a strip keeps a pixel of its short side, and its scales") {
  const Sheets tiny;
  for (const std::string canvas : {"[2048, 8]", "[8, 2048]"}) {
    CAPTURE(canvas);
    const Task task = tiny.task({"scene.canvas=" + canvas});
    Tensor<1> weights = zeros<1>(task.model.layout().size());
    task.model.layout().initialize(flat(weights), 5);
    PlayedScene played(task, Split::test, flat(weights));
    for (const int side : {72, 180, 300}) {
      CAPTURE(side);
      const LookPicture look(task, side);
      const Picture drawn = look.canvas(played.episode(), 0, /*numbered=*/false);
      CHECK(std::min(drawn.rows(), drawn.cols()) >= 1);
      CHECK(drawn.rows() == look.rows());
      CHECK(drawn.cols() == look.cols());
    }
    const EpisodeStrip strip(task, "");
    CHECK(strip.strip(played.episode(), 1).rows() == strip.rows());
  }
}

TEST_CASE("a saliency sheet ends with a bar for each of its scales") {
  const Sheets tiny;
  const Task plain = tiny.task({}), attends = tiny.task({"attention.hidden.kind=attend"}),
             soft = tiny.task(kSoftGrid), whole = tiny.task({"model.kind=cnn"});
  const auto rows = [](const Task& task) { return SaliencyPicture(task, 1).scales_rows(); };
  const int bar = rows(whole);
  CHECK(bar > kHeatBarRows);
  CHECK(rows(plain) == 2 * bar);
  CHECK(rows(attends) == 3 * bar);
  CHECK(rows(soft) == 3 * bar);
  Picture sheet(10 + rows(plain), 600, kPaper);
  SaliencyPicture(plain, 1).draw_scales(sheet, {14, 10});
  for (int i = 0; i < 2; ++i) {
    const int top = 10 + i * bar + 16;
    CHECK(sheet.at({14, top}) == heat_colour(0.0));
    CHECK(sheet.at({14 + 179, top}) == heat_colour(1.0));
    CHECK(drawn_in(sheet, {14, top - 14, 300, 12}) > 50);
  }
}

}  // namespace saccade
