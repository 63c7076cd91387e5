#pragma once

#include <string>
#include <variant>
#include <vector>

#include "experiments/pictures/picture.h"

namespace saccade {

// A drawing as a list of shapes, shared by the page (drawing_svg.h) and print (drawing_picture.h).
// Lengths are in pixels of a page: x to the right, y down.

struct Place {
  double x = 0.0;
  double y = 0.0;
};

struct Rectangle {
  double x = 0.0, y = 0.0;  // left, top
  double width = 0.0, height = 0.0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  bool operator==(const Rectangle&) const = default;
};

/// The purpose of a colour. In print it is one of colours.h; a page may redefine it.
enum class Role { paper, ink, soft_ink, rule, full_cell, variant };

struct Paint {
  Role role = Role::ink;
  int variant = 0;       // for Role::variant
  double opacity = 1.0;  // in (0, 1]
};

/// Returns the colour in print, without opacity.
Colour colour_on_paper(const Paint& paint);
/// Returns its name in style sheets: ink, soft-ink, ...; v0, v1, ... for variants.
std::string name_of(const Paint& paint);

struct Stroke {
  std::vector<Place> points = {};  // joined by straight lines
  double width = 1.0;
};
struct Area {
  std::vector<Place> corners;
};
struct Disc {
  Place centre;
  double radius = 1.0;
};
struct Words {
  Place at;  // left end, middle or right end of the baseline of the text
  std::string line;
  double height = 1.0;  // of a capital letter
  Align align = Align::left;
  bool bold = false;
};
/// Cells with their own colours, independent of the page.
struct Pixels {
  Rectangle where;
  Picture colours;
};

using Form = std::variant<Stroke, Area, Rectangle, Disc, Words, Pixels>;
struct Shape {
  Form form;
  Paint paint = {};  // unused for Pixels
  int series = -1;   // the variant it is hidden with; -1: always visible
};

/// Tooltip text for an area.
struct Spot {
  Rectangle where;
  std::string text;  // may contain several lines
};

/// Area that toggles the visibility of a variant's series.
struct Switch {
  Rectangle where;
  int variant = 0;
  std::string name;
};

struct Drawing {
  double width = 0.0, height = 0.0;
  Rectangle plot = {};             // between the axes
  std::vector<Shape> shapes = {};  // later shapes are drawn over earlier ones
  // Not in print:
  std::vector<Spot> spots = {};
  std::vector<Switch> switches = {};

  void add(Form form, const Paint& paint, int series = -1);
  void add(Form form, Role role) { add(std::move(form), Paint{.role = role}); }
};

/// Returns the width of a line of text whose capital letters have this height; an upper bound for
/// the fonts of a page.
double width_of(const std::string& line, double height);
/// Returns as much of a line as fits.
std::string fitted_to(const std::string& line, double width, double height);

}  // namespace saccade
