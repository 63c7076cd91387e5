#pragma once

#include <string>
#include <variant>
#include <vector>

#include "experiments/pictures/picture.h"

namespace saccade {

// A drawing as a list of shapes, the same for the page (drawing_svg.h) and for paper
// (drawing_picture.h). Lengths are in pixels of a page: x to the right, y down.

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

/// What a colour is for. On paper it is one of colours.h; a page may have others.
enum class Role { paper, ink, soft_ink, rule, full_cell, variant };

struct Paint {
  Role role = Role::ink;
  int variant = 0;       // of Role::variant
  double opacity = 1.0;  // in (0, 1]
};

/// The colour on paper, without its opacity.
Colour colour_on_paper(const Paint& paint);
/// Its name in style sheets: ink, soft-ink, ...; v0, v1, ... of variants.
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
  Place at;  // the left end, the middle or the right end of the base line
  std::string line;
  double height = 1.0;  // of a capital letter
  Align align = Align::left;
  bool bold = false;
};
/// Cells that have colours of their own, whatever the page.
struct Pixels {
  Rectangle where;
  Picture colours;
};

using Form = std::variant<Stroke, Area, Rectangle, Disc, Words, Pixels>;
struct Shape {
  Form form;
  Paint paint = {};  // not of Pixels
  int series = -1;   // the variant that it goes with when that is hidden; -1: it stays
};

/// What is told where one points at.
struct Spot {
  Rectangle where;
  std::string text;  // may have several lines
};

/// Where one hides a variant's series and shows it again.
struct Switch {
  Rectangle where;
  int variant = 0;
  std::string name;
};

struct Drawing {
  double width = 0.0, height = 0.0;
  Rectangle plot = {};             // between the axes
  std::vector<Shape> shapes = {};  // later ones lie over earlier ones
  // Not on paper:
  std::vector<Spot> spots = {};
  std::vector<Switch> switches = {};

  void add(Form form, const Paint& paint, int series = -1);
  void add(Form form, Role role) { add(std::move(form), Paint{.role = role}); }
};

/// Width of a line of text with capital letters of that height; a page's letters are narrower.
double width_of(const std::string& line, double height);
/// As much of a line as fits.
std::string fitted_to(const std::string& line, double width, double height);

}  // namespace saccade
