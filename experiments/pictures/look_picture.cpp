#include "experiments/pictures/look_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "experiments/evaluation/tally.h"
#include "experiments/pictures/colours.h"
#include "experiments/pictures/heat_map.h"

namespace saccade {
namespace {

constexpr Colour kPast = {22, 122, 148};
constexpr double kGridOpacity = 0.9;
constexpr double kWindowOpacity = 0.25;  // all its places have equal weight

std::uint8_t byte(float value) {
  // This order of min and max turns NaN into black.
  return static_cast<std::uint8_t>(std::lround(255.0F * std::min(std::max(0.0F, value), 1.0F)));
}

// A window may be anywhere.
int pixel(double value) { return static_cast<int>(std::lround(std::clamp(value, -1e5, 1e5))); }

// Normalises brightness: a mean over many places is dim, and the gain of a window is learned.
void brighten(std::span<float> glimpse) {
  const float most = *std::ranges::max_element(glimpse);
  if (most > 0.0F)
    for (float& value : glimpse) value /= most;
}

}  // namespace

Picture fit_into(const Picture& picture, int side) {
  const int longer = std::max(picture.rows(), picture.cols());
  if (longer <= side) return picture.enlarged(side / longer);
  return picture.shrunk((longer + side - 1) / side);
}

Picture picture_of(std::span<const float> planes, int channels, int rows, int cols) {
  Picture picture(rows, cols, {});
  const int pixels = rows * cols;
  std::uint8_t* bytes = picture.bytes().data();
  for (int i = 0; i < pixels; ++i)
    for (int c = 0; c < 3; ++c) *bytes++ = byte(planes[(channels == 3 ? c : 0) * pixels + i]);
  return picture;
}

void Episode::stop_after(int looks) {
  const auto classes = static_cast<int>(answer.probabilities.shape()[2]);
  answer_at_stop_ = most_probable(&answer.probabilities(looks - 1, b, 0), classes);
  end_after(looks);
}

const World& with_canvas(const World& world) {
  if (world.spec.canvas.pixels() == 0)
    throw InputError(
        fmt::format("scene.kind: {} has no canvas to draw; allowed: kinds that have one",
                    world.config.scene.kind));
  return world;
}

int tile_side(const CanvasSize& canvas, int side) {
  return 2 * side * std::max(canvas.rows, canvas.cols) / (canvas.rows + canvas.cols);
}

LookPicture::LookPicture(const PicturedAgent& agent, int side) : agent_(agent) {
  const int rows = agent.world.spec.canvas.rows, cols = agent.world.spec.canvas.cols;
  const int longer = std::max(rows, cols);
  zoom_ = std::max(1, side / longer);
  shrink_ = longer > 2 * side ? (longer + 2 * side - 1) / (2 * side) : 1;
  // Of a canvas like a strip, the short side would vanish.
  rows_ = std::max(1, rows * zoom_ / shrink_);
  cols_ = std::max(1, cols * zoom_ / shrink_);
  stroke_ = std::max(1, side / 150);
}

Colour LookPicture::scale_colour(int scale) {
  static constexpr std::array<Colour, 6> kScales = {{{255, 193, 7},
                                                     {255, 118, 170},
                                                     {176, 148, 255},
                                                     {96, 170, 255},
                                                     {255, 152, 92},
                                                     {205, 205, 205}}};
  return kScales[scale % kScales.size()];
}

std::string LookPicture::scale_side(const PicturedAgent& agent, int scale) {
  const RetinaConfig& retina = agent.world.config.retina;
  const double side = retina.patch_size * std::pow(retina.scale_factor, scale);
  const LogRange& zoom = agent.look.zoom;
  if (zoom.is_point()) return fmt::format("{:.0f} px", side);
  return fmt::format("{:.0f}-{:.0f} px", zoom.from * side, zoom.to * side);
}

Picture LookPicture::canvas(const Episode& episode, int t, bool numbered) const {
  const CanvasSize size = agent_.world.spec.canvas;
  Picture small = picture_of(episode.canvas(t), size.channels, size.rows, size.cols);
  const LookTraits& look = agent_.look;
  if (look.spreads())
    overlay_heat(small, heat_map(episode.look.gaze(t, episode.b), size.rows, size.cols),
                 look.frame ? kWindowOpacity : kGridOpacity);

  if (look.reading && agent_.gated) overlay_heat(small, gate_heat(episode, t), kGridOpacity);

  Picture large = scaled(small);
  if (look.reading) draw_part(large, *look.reading, t);
  if (!look.looks) return large;
  if (look.frame) draw_window(large, episode.look.gaze(t, episode.b));
  if (!look.spreads()) draw_squares(large, place(episode, t), episode.look.gaze(t, episode.b).zoom);
  draw_path(large, episode, t, numbered);
  return large;
}

Picture LookPicture::heated(const Episode& episode, int t, const std::vector<double>& heat,
                            double light) const {
  const CanvasSize size = agent_.world.spec.canvas;
  Picture small = picture_of(episode.canvas(t), size.channels, size.rows, size.cols);
  small.fill({0, 0, size.cols, size.rows}, {}, 1.0 - light);
  overlay_heat(small, heat, 1.0);
  return scaled(small);
}

Picture LookPicture::scaled(const Picture& small) const {
  return shrink_ > 1 ? small.shrunk(shrink_) : small.enlarged(zoom_);
}

// Returns the gate of step t on each pixel that is read then, scaled to a maximum of 1; a pixel of
// the shrunk canvas covers all the pixels it stands for, and the largest of the channels is taken.
std::vector<double> LookPicture::gate_heat(const Episode& episode, int t) const {
  const auto [channels, rows, cols] = agent_.world.spec.canvas;
  const CanvasReading& reading = *agent_.look.reading;
  const std::array<int, 2> corner = reading.corner(t);
  const float* gate = &episode.gate->weights(t, episode.b, 0);
  std::vector<double> heat(static_cast<std::size_t>(rows) * cols, 0.0);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < cols; ++x) {
      const int row = y * reading.size[0] / rows - corner[0];
      const int col = x * reading.size[1] / cols - corner[1];
      if (row < 0 || row >= reading.part[0] || col < 0 || col >= reading.part[1]) continue;
      for (int c = 0; c < channels; ++c)
        heat[y * cols + x] = std::max<double>(
            heat[y * cols + x], gate[(c * reading.part[0] + row) * reading.part[1] + col]);
    }
  const double most = *std::ranges::max_element(heat);
  for (double& value : heat) value = most > 0.0 ? value / most : 0.0;
  return heat;
}

// Draws the part of the canvas that is read at step t, unless it is everything.
void LookPicture::draw_part(Picture& picture, const CanvasReading& reading, int t) const {
  if (reading.part == reading.size) return;
  const auto [row, col] = reading.corner(t);
  const int top = row * rows_ / reading.size[0];
  const int left = col * cols_ / reading.size[1];
  const int height = (row + reading.part[0]) * rows_ / reading.size[0] - top;
  const int width = (col + reading.part[1]) * cols_ / reading.size[1] - left;
  const int thick = stroke_ + 1;
  if (std::min(height, width) >= 4 * thick)
    return picture.outline({left, top, width, height}, kPathColour, thick);
  // A frame would hide a part this narrow, so its two ends are marked instead.
  if (height <= width) {
    const int length = width / 8;
    for (const int x : {left, left + width - length})
      picture.fill({x, top, length, std::max(height, thick)}, kPathColour);
  } else {
    const int length = height / 8;
    for (const int y : {top, top + height - length})
      picture.fill({left, y, std::max(width, thick), length}, kPathColour);
  }
}

int LookPicture::num_seen() const { return agent_.look.pictures; }

std::vector<Picture> LookPicture::seen(const Episode& episode, int t, int side) const {
  std::vector<Picture> pictures;
  if (num_seen() == 0) return pictures;
  const int channels = agent_.world.spec.canvas.channels;
  const int pixels = agent_.look.picture_side;
  const std::size_t size = static_cast<std::size_t>(channels) * pixels * pixels;
  std::vector<float> glimpse(num_seen() * size);
  episode.look.picture(t, episode.b, glimpse.data());
  if (agent_.look.spreads()) brighten(glimpse);
  for (int scale = 0; scale < num_seen(); ++scale) {
    pictures.push_back(fit_into(
        picture_of(std::span(glimpse).subspan(scale * size, size), channels, pixels, pixels),
        side));
  }
  return pictures;
}

// Returns the mean position of a look's weight, in canvas pixels.
std::array<double, 2> LookPicture::place(const Episode& episode, int t) const {
  const Gaze gaze = episode.look.gaze(t, episode.b);
  const CanvasSize size = agent_.world.spec.canvas;
  double x = 0.0, y = 0.0;
  for (int k = 0; k < gaze.places.rows; ++k) {
    x += gaze.weights[k] * gaze.places(k, 0);
    y += gaze.weights[k] * gaze.places(k, 1);
  }
  return {0.5 * (x + 1.0) * size.cols, 0.5 * (y + 1.0) * size.rows};
}

Point LookPicture::drawn(std::array<double, 2> place) const {
  return {pixel(place[0] * zoom_ / shrink_), pixel(place[1] * zoom_ / shrink_)};
}

// Draws the squares as the retina lays them out: corners rounded to the nearest pixel edge, or
// exact if the retina interpolates. The finest is drawn last, on top.
void LookPicture::draw_squares(Picture& picture, std::array<double, 2> centre, double zoom) const {
  const RetinaConfig& retina = agent_.world.config.retina;
  for (int scale = retina.scales - 1; scale >= 0; --scale) {
    const double side = zoom * retina.patch_size * std::pow(retina.scale_factor, scale);
    const bool smooth = agent_.look.smooth;
    const auto edge = [&](double at, int pixels) {
      if (smooth) return at - 0.5 * side;
      const auto location = static_cast<float>(2.0 * at / pixels - 1.0);
      return static_cast<double>(Retina::first_edge(location, pixels, side));
    };
    const CanvasSize canvas = agent_.world.spec.canvas;
    const Point corner = drawn({edge(centre[0], canvas.cols), edge(centre[1], canvas.rows)});
    const int length = pixel(side * zoom_ / shrink_);
    picture.outline({corner.x, corner.y, length, length}, scale_colour(scale),
                    scale == 0 ? stroke_ + 1 : stroke_);
  }
}

void LookPicture::draw_window(Picture& picture, const Gaze& gaze) const {
  const CanvasSize size = agent_.world.spec.canvas;
  const int last = gaze.places.rows - 1;
  const auto corner = [&](int k, float sign) {
    return drawn({0.5 * (gaze.places(k, 0) + sign * gaze.half_width + 1.0F) * size.cols,
                  0.5 * (gaze.places(k, 1) + sign * gaze.half_height + 1.0F) * size.rows});
  };
  const Point a = corner(0, -1.0F), b = corner(last, 1.0F);
  picture.outline({a.x, a.y, b.x - a.x, b.y - a.y}, scale_colour(0), stroke_ + 1);
}

void LookPicture::draw_path(Picture& picture, const Episode& episode, int t, bool numbered) const {
  std::vector<Point> path;
  for (int step = 0; step <= t; ++step) path.push_back(drawn(place(episode, step)));
  for (int step = 1; step <= t; ++step)
    picture.line(path[step - 1], path[step], kOutline, stroke_ + 2);
  for (int step = 1; step <= t; ++step)
    picture.line(path[step - 1], path[step], kPathColour, stroke_);
  for (int step = 0; step <= t; ++step) {
    const bool now = step == t;
    const int radius = numbered ? (now ? 9 : 7) : (now ? 4 : 2);
    picture.disc(path[step], radius + 1, kOutline);
    picture.disc(path[step], radius, now || !numbered ? kPathColour : kPast);
    if (!numbered) continue;
    const TextStyle style{
        .height = step < 99 ? (now ? 9 : 7) : 6, .align = Align::centre, .bold = now};
    picture.text({path[step].x, path[step].y + style.height / 2}, std::to_string(step + 1),
                 now ? kOutline : kPaper, style);
  }
}

}  // namespace saccade
