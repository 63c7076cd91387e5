#include "experiments/pictures/picture.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "env/image_file.h"

namespace saccade {
namespace {

constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;

// OpenCV's view of the pixels. Its drawing functions ignore the order of the channels.
cv::Mat matrix(Picture& picture) {
  return {picture.rows(), picture.cols(), CV_8UC3, picture.bytes().data()};
}
cv::Mat matrix(const Picture& picture) {  // must not be written
  return {picture.rows(), picture.cols(), CV_8UC3,
          const_cast<std::uint8_t*>(picture.bytes().data())};
}

cv::Scalar scalar(Colour c) { return {double(c.red), double(c.green), double(c.blue)}; }
cv::Point point(Point p) { return {p.x, p.y}; }
cv::Rect rectangle(Box box) { return {box.x, box.y, box.width, box.height}; }

// Draws on a copy and blends the two within `area`.
template <class Draw>
void mix(cv::Mat image, cv::Rect area, double opacity, const Draw& draw) {
  area &= cv::Rect(0, 0, image.cols, image.rows);
  if (area.empty()) return;
  if (opacity >= 1.0) return draw(image);
  cv::Mat part = image(area), before = part.clone();
  draw(image);
  cv::addWeighted(part, opacity, before, 1.0 - opacity, 0.0, part);
}

// Letters are drawn enlarged by this factor and then shrunk, giving strokes of a pixel and a half.
constexpr int kFine = 4;
constexpr double kStroke = 0.115, kBoldStroke = 0.185;  // as a fraction of the capital height

struct Font {
  double scale;
  int thickness;
};

// Font for the enlarged letters.
Font font(const TextStyle& style) {
  const double stroke = style.height * (style.bold ? kBoldStroke : kStroke);
  const int thickness = std::max(kFine, static_cast<int>(kFine * stroke + 0.5));
  return {cv::getFontScaleFromHeight(kFont, kFine * style.height, thickness), thickness};
}

std::string printable(std::string line) {
  std::ranges::replace_if(
      line, [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

}  // namespace

Picture::Picture(int rows, int cols, Colour background)
    : rows_(rows), cols_(cols), bytes_(static_cast<std::size_t>(rows) * cols * 3) {
  matrix(*this).setTo(scalar(background));
}

Colour Picture::at(Point p) const {
  const std::uint8_t* pixel = &bytes_[(static_cast<std::size_t>(p.y) * cols_ + p.x) * 3];
  return {pixel[0], pixel[1], pixel[2]};
}

void Picture::fill(Box box, Colour colour, double opacity) {
  if (box.width <= 0 || box.height <= 0) return;
  mix(matrix(*this), rectangle(box), opacity,
      [&](cv::Mat image) { cv::rectangle(image, rectangle(box), scalar(colour), cv::FILLED); });
}

void Picture::outline(Box box, Colour colour, int thickness) {
  fill({box.x, box.y, box.width, thickness}, colour);
  fill({box.x, box.y + box.height - thickness, box.width, thickness}, colour);
  fill({box.x, box.y, thickness, box.height}, colour);
  fill({box.x + box.width - thickness, box.y, thickness, box.height}, colour);
}

void Picture::line(Point from, Point to, Colour colour, int thickness) {
  cv::line(matrix(*this), point(from), point(to), scalar(colour), thickness, cv::LINE_AA);
}

void Picture::disc(Point centre, int radius, Colour colour) {
  cv::circle(matrix(*this), point(centre), radius, scalar(colour), cv::FILLED, cv::LINE_AA);
}

void Picture::polygon(std::span<const Point> corners, Colour colour, double opacity) {
  std::vector<cv::Point> points;
  std::ranges::transform(corners, std::back_inserter(points), point);
  mix(matrix(*this), cv::boundingRect(points), opacity, [&](cv::Mat image) {
    cv::fillPoly(image, std::vector{points}, scalar(colour), cv::LINE_AA);
  });
}

void Picture::text(Point at, const std::string& line, Colour colour, const TextStyle& style) {
  const auto [scale, thickness] = font(style);
  const int width = text_width(line, style), pad = style.height;
  at.x -= style.align == Align::centre ? width / 2 : style.align == Align::right ? width : 0;
  const cv::Size size(width + 2 * pad, 3 * pad);
  cv::Mat large(size * kFine, CV_8UC1, cv::Scalar(0)), cover;
  cv::putText(large, printable(line), cv::Point(pad, 2 * pad) * kFine, kFont, scale,
              cv::Scalar(255), thickness, cv::LINE_AA);
  cv::resize(large, cover, size, 0, 0, cv::INTER_AREA);

  const cv::Point corner(at.x - pad, at.y - 2 * pad);
  const cv::Rect area = cv::Rect(corner, size) & cv::Rect(0, 0, cols_, rows_);
  for (int y = area.y; y < area.y + area.height; ++y)
    for (int x = area.x; x < area.x + area.width; ++x) {
      const int share = cover.at<std::uint8_t>(y - corner.y, x - corner.x);
      std::uint8_t* pixel = &bytes_[(static_cast<std::size_t>(y) * cols_ + x) * 3];
      for (const int wanted : {colour.red, colour.green, colour.blue}) {
        *pixel = static_cast<std::uint8_t>((*pixel * (255 - share) + wanted * share + 127) / 255);
        ++pixel;
      }
    }
}

void Picture::paste(const Picture& picture, Point corner) {
  const cv::Rect here(0, 0, cols_, rows_);
  const cv::Rect area = cv::Rect(corner.x, corner.y, picture.cols_, picture.rows_) & here;
  if (area.empty()) return;
  matrix(picture)(area - point(corner)).copyTo(matrix(*this)(area));
}

Picture Picture::enlarged(int factor) const {
  Picture large(rows_ * factor, cols_ * factor, {});
  cv::Mat target = matrix(large);
  cv::resize(matrix(*this), target, target.size(), 0, 0, cv::INTER_NEAREST);
  return large;
}

Picture Picture::shrunk(int factor) const {
  Picture small(std::max(1, rows_ / factor), std::max(1, cols_ / factor), {});
  cv::Mat target = matrix(small);
  cv::resize(matrix(*this), target, target.size(), 0, 0, cv::INTER_AREA);
  return small;
}

int text_width(const std::string& line, const TextStyle& style) {
  const auto [scale, thickness] = font(style);
  int base_line = 0;
  const int large = cv::getTextSize(printable(line), kFont, scale, thickness, &base_line).width;
  return (large + kFine - 1) / kFine;
}

std::string fitted(const std::string& line, int width, const TextStyle& style) {
  const auto splits_letter = [&](std::size_t at) { return (line[at] & 0xc0) == 0x80; };  // UTF-8
  std::string shown = line;
  for (std::size_t kept = line.size(); kept > 7 && text_width(shown, style) > width; --kept) {
    std::size_t head = (kept - 4) / 2, tail = line.size() - (kept - 4 - head);
    while (head > 0 && splits_letter(head)) --head;
    while (tail < line.size() && splits_letter(tail)) ++tail;
    shown = line.substr(0, head) + "..." + line.substr(tail);
  }
  return shown;
}

std::string to_png(const Picture& picture) {
  return encode_png(picture.bytes(), picture.rows(), picture.cols(), 3);
}

}  // namespace saccade
