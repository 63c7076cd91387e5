#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/scene_facts.h"

namespace saccade {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool operator==(const Colour&) const = default;
};

/// A position in a picture, in pixels: x to the right, y down.
struct Point {
  int x = 0;
  int y = 0;
};

enum class Align { left, centre, right };

/// Style of a line of text. ASCII only; other bytes are drawn as '?'.
struct TextStyle {
  int height = 12;  // capital height in pixels
  Align align = Align::left;
  bool bold = false;
};

/// A pixel canvas to draw on. Drawing is clipped to it.
class Picture {
 public:
  Picture(int rows, int cols, Colour background);

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  /// (rows, cols, 3): red, green, blue
  std::span<const std::uint8_t> bytes() const { return bytes_; }
  std::span<std::uint8_t> bytes() { return bytes_; }
  Colour at(Point point) const;

  /// `opacity` in [0, 1] blends with the background.
  void fill(Box box, Colour colour, double opacity = 1.0);
  /// The outline is inside the box.
  void outline(Box box, Colour colour, int thickness = 1);
  void line(Point from, Point to, Colour colour, int thickness = 1);
  void disc(Point centre, int radius, Colour colour);
  /// Fills the polygon with these corners.
  void polygon(std::span<const Point> corners, Colour colour, double opacity = 1.0);
  /// `at` is the left end, middle or right end of the baseline.
  void text(Point at, const std::string& line, Colour colour, const TextStyle& style = {});
  void paste(const Picture& picture, Point corner);

  /// Enlarges by an integer factor (nearest neighbour).
  Picture enlarged(int factor) const;
  /// Shrinks by an integer factor (box means); each side keeps at least a pixel.
  Picture shrunk(int factor) const;

 private:
  int rows_, cols_;
  std::vector<std::uint8_t> bytes_;
};

/// Width in pixels of a line of text.
int text_width(const std::string& line, const TextStyle& style);
/// Returns as much of a line as fits, at least four letters. The middle is cut, since names differ
/// at their ends.
std::string fitted(const std::string& line, int width, const TextStyle& style);

/// Returns the bytes of a PNG file.
std::string to_png(const Picture& picture);

}  // namespace saccade
