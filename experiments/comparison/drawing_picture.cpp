#include "experiments/comparison/drawing_picture.h"

#include <algorithm>
#include <cmath>

#include "experiments/pictures/colours.h"

namespace saccade {
namespace {

constexpr int kFine = 3;  // drawn enlarged by this factor, then shrunk: smooth edges and letters

class Pen {
 public:
  Pen(const Drawing& drawing, double scale)
      : scale_(scale * kFine),
        fine_(kFine * static_cast<int>(std::ceil(drawing.height * scale)),
              kFine * static_cast<int>(std::ceil(drawing.width * scale)), kPaper) {
    for (const Shape& shape : drawing.shapes)
      std::visit([&](const auto& form) { draw(form, shape.paint); }, shape.form);
  }

  Picture picture() const { return fine_.shrunk(kFine); }

 private:
  int pixels(double length) const { return static_cast<int>(std::lround(length * scale_)); }
  Point point(Place place) const { return {pixels(place.x), pixels(place.y)}; }
  Box box(const Rectangle& r) const {
    const int x = pixels(r.x), y = pixels(r.y);
    return {x, y, pixels(r.right()) - x, pixels(r.bottom()) - y};
  }
  // Blends with the paper, since the picture has no transparency.
  static Colour opaque(const Paint& paint) {
    return mixed(kPaper, colour_on_paper(paint), paint.opacity);
  }

  void draw(const Stroke& stroke, const Paint& paint) {
    for (std::size_t i = 1; i < stroke.points.size(); ++i)
      fine_.line(point(stroke.points[i - 1]), point(stroke.points[i]), opaque(paint),
                 std::max(1, pixels(stroke.width)));
  }
  void draw(const Area& area, const Paint& paint) {
    std::vector<Point> corners;
    for (const Place& corner : area.corners) corners.push_back(point(corner));
    fine_.polygon(corners, colour_on_paper(paint), paint.opacity);
  }
  void draw(const Rectangle& rectangle, const Paint& paint) {
    fine_.fill(box(rectangle), colour_on_paper(paint), paint.opacity);
  }
  void draw(const Disc& disc, const Paint& paint) {
    fine_.disc(point(disc.centre), pixels(disc.radius), opaque(paint));
  }
  void draw(const Words& words, const Paint& paint) {
    fine_.text(point(words.at), words.line, opaque(paint),
               {.height = pixels(words.height), .align = words.align, .bold = words.bold});
  }
  void draw(const Pixels& pixels, const Paint&) {
    const Picture& colours = pixels.colours;
    const Rectangle& where = pixels.where;
    const double width = where.width / colours.cols(), height = where.height / colours.rows();
    for (int row = 0; row < colours.rows(); ++row)
      for (int col = 0; col < colours.cols(); ++col)
        fine_.fill(box({where.x + col * width, where.y + row * height, width, height}),
                   colours.at({col, row}));
  }

  double scale_;
  Picture fine_;
};

}  // namespace

Picture picture_of(const Drawing& drawing, double scale) { return Pen(drawing, scale).picture(); }

}  // namespace saccade
