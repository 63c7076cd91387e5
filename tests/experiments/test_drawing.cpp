#include "experiments/comparison/drawing_picture.h"
#include "experiments/comparison/drawing_svg.h"
#include "tests/experiments/pixels.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

// Each shape once, at different places.
Drawing every_form() {
  Drawing drawing{.width = 100.0, .height = 60.0};
  drawing.add(Stroke{{{5.0, 5.0}, {25.0, 5.0}, {25.0, 15.0}}, 2.0}, Role::ink);
  drawing.add(Area{{{40.0, 2.0}, {60.0, 2.0}, {60.0, 22.0}, {40.0, 22.0}}},
              {Role::variant, 1, 0.25}, 1);
  drawing.add(Rectangle{70.0, 2.0, 20.0, 20.0}, {.role = Role::full_cell, .opacity = 0.5});
  drawing.add(Disc{{10.0, 40.0}, 6.0}, {.role = Role::variant, .variant = 8});
  drawing.add(Words{{40.0, 50.0}, "a<b", 10.0, Align::centre, true}, Role::soft_ink);
  Picture colours(1, 2, {200, 0, 0});
  colours.fill({1, 0, 1, 1}, {0, 200, 0});
  drawing.add(Pixels{{70.0, 30.0, 20.0, 10.0}, colours}, Role::ink);
  drawing.spots.push_back({{1.0, 2.0, 3.0, 4.0}, "one\n<two>"});
  drawing.switches.push_back({{5.0, 6.0, 7.0, 8.0}, 1, "\"soft\""});
  return drawing;
}

TEST_CASE("an SVG drawing has an element for each shape") {
  const std::string svg = svg_of(every_form(), "what & why");
  check_contains(
      svg,
      {"<svg viewBox=\"0 0 100 60\"", "role=\"img\" aria-label=\"what &amp; why\"",
       "<polyline class=\"ink\" points=\"5,5 25,5 25,15\" stroke-width=\"2\"/>",
       "<polygon class=\"v1 variant of-v1\" opacity=\"0.25\" points=\"40,2 60,2 60,22 40,22\"/>",
       "<rect class=\"full-cell\" opacity=\"0.5\" x=\"70\" y=\"2\" width=\"20\" height=\"20\"/>",
       "<circle class=\"v8 variant\" cx=\"10\" cy=\"40\" r=\"6\"/>",
       "font-size=\"13.89\" text-anchor=\"middle\" font-weight=\"bold\">a&lt;b</text>",
       "<image x=\"70\" y=\"30\" width=\"20\" height=\"10\"", "href=\"data:image/png;base64,",
       "<title>one\n&lt;two&gt;</title>", "type=\"checkbox\" checked class=\"v1\"",
       "aria-label=\"&quot;soft&quot;\""});
}

TEST_CASE("a printed drawing has the same shapes at the same places") {
  const Drawing drawing = every_form();
  const Picture picture = picture_of(drawing, 2.0);
  CHECK(picture.cols() == 200);
  CHECK(picture.rows() == 120);
  const auto at = [&](double x, double y) {
    return picture.at({static_cast<int>(2.0 * x), static_cast<int>(2.0 * y)});
  };
  CHECK(at(15.0, 5.0) == kInk);
  CHECK(at(25.0, 10.0) == kInk);
  CHECK(at(15.0, 10.0) == kPaper);
  CHECK(at(50.0, 10.0).green == mixed(kPaper, variant_colour(1), 0.25).green);
  CHECK(at(80.0, 10.0).red == doctest::Approx(mixed(kPaper, kFullCell, 0.5).red).epsilon(0.02));
  CHECK(at(10.0, 40.0) == variant_colour(8));
  CHECK(at(75.0, 35.0) == Colour{200, 0, 0});
  CHECK(at(85.0, 35.0) == Colour{0, 200, 0});
  CHECK(at(2.0, 3.0) == kPaper);                    // tooltips are not drawn
  CHECK(drawn_in(picture, {50, 80, 60, 20}) > 50);  // the words
}

TEST_CASE("the style sheet has the colours of the print") {
  const std::string css = style_of_drawings(9);
  check_contains(css,
                 {":root { --paper: #ffffff; }\n.paper { color: var(--paper); }", "--ink: #212529;",
                  ".v0 { --colour: #0072b2; }", ".v7 { --colour: #0072b2; }",
                  "input.v8:not(:checked)) .of-v8 { display: none; }"});
  CHECK_FALSE(contains(css, ".v9"));
}

TEST_CASE("colour scales are even from end to end and clamp outside") {
  for (const auto scale : {heat_colour, exposure_colour}) {
    CHECK(scale(-1.0) == scale(0.0));
    CHECK(scale(2.0) == scale(1.0));
    CHECK(scale(0.5) != scale(0.6));
  }
  CHECK(exposure_colour(0.0) == Colour{0, 32, 77});
  CHECK(exposure_colour(1.0) == Colour{255, 234, 70});
  CHECK(mixed({0, 0, 0}, {100, 200, 50}, 0.5) == Colour{50, 100, 25});
}

}  // namespace
}  // namespace saccade
