#include "experiments/pictures/legend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/pictures/colours.h"
#include "experiments/pictures/look_picture.h"
#include "experiments/pictures/weight_table.h"

namespace saccade {
namespace {

constexpr TextStyle kLegendText = {.height = 9, .align = Align::left, .bold = false};
constexpr int kLegendLine = 18;
constexpr int kMarkSide = 11;
constexpr int kMarkWidth = 30;  // of the other marks
constexpr int kBeforeWords = 6, kBetween = 20;

int mark_width(const LegendEntry& entry) {
  if (entry.mark == LegendEntry::kWords) return 0;
  return (entry.mark == LegendEntry::kFrame ? kMarkSide : kMarkWidth) + kBeforeWords;
}

void draw_gradient(Picture& picture, Box box) {
  for (int x = 0; x < box.width; ++x)
    picture.fill({box.x + x, box.y, 1, box.height},
                 heat_colour(static_cast<double>(x) / std::max(1, box.width - 1)));
}

void draw_mark(Picture& picture, const LegendEntry& entry, Point corner) {
  const int middle = corner.y + kMarkSide / 2;
  switch (entry.mark) {
    case LegendEntry::kFrame:
      return picture.outline({corner.x, corner.y, kMarkSide, kMarkSide}, entry.colour, 2);
    case LegendEntry::kPath:
      picture.line({corner.x + 5, middle}, {corner.x + kMarkWidth - 6, middle}, kOutline, 3);
      picture.line({corner.x + 5, middle}, {corner.x + kMarkWidth - 6, middle}, entry.colour, 1);
      for (const auto& [x, radius] :
           {std::pair(corner.x + 4, 2), std::pair(corner.x + kMarkWidth - 6, 4)}) {
        picture.disc({x, middle}, radius + 1, kOutline);
        picture.disc({x, middle}, radius, entry.colour);
      }
      return;
    case LegendEntry::kHeat:
      return draw_gradient(picture, {corner.x, corner.y, kMarkWidth, kMarkSide});
    case LegendEntry::kWords:
      return;
  }
}

// Places the entries and returns the total number of rows.
template <class Place>
int lay_out(const std::vector<LegendEntry>& legend, int cols, const Place& place) {
  if (legend.empty()) return 0;
  int x = 0, y = 0;
  for (const LegendEntry& entry : legend) {
    const int mark = mark_width(entry);
    const std::string words = fitted(entry.words, cols - mark, kLegendText);
    const int width = mark + text_width(words, kLegendText);
    if (x > 0 && x + width > cols) x = 0, y += kLegendLine;
    place(entry, words, Point{x, y});
    x += width + kBetween;
  }
  return y + kLegendLine;
}

}  // namespace

std::vector<LegendEntry> sheet_legend(const PicturedAgent& agent) {
  const LookTraits& look = agent.look;
  std::vector<LegendEntry> legend;
  if (look.looks) {
    if (look.frame)
      legend.push_back({LegendEntry::kFrame, LookPicture::scale_colour(0), "the window"});
    for (int scale = 0; look.retina && scale < look.pictures; ++scale)
      legend.push_back({LegendEntry::kFrame, LookPicture::scale_colour(scale),
                        fmt::format("scale {}: {} of the canvas", scale + 1,
                                    LookPicture::scale_side(agent, scale))});
    if (look.spreads())
      legend.push_back({LegendEntry::kHeat, {}, "weight of the look, from none to its most"});
    legend.push_back({LegendEntry::kPath, kPathColour, "its looks so far, the last the largest"});
    if (look.pictures > 0)
      legend.push_back({LegendEntry::kWords, kGrey, "below a canvas: what that look sees"});
  } else if (look.reading && look.reading->part != look.reading->size) {
    legend.push_back({LegendEntry::kFrame, kPathColour, "the part that it reads"});
  }
  if (look.reading && agent.gated)
    legend.push_back({LegendEntry::kHeat, {}, "weight of the gate, from none to its most"});
  if (has_state_weights(agent))
    legend.push_back({LegendEntry::kHeat,
                      {},
                      agent.answer.attends ? "attention over the states, from 0 to 1"
                                           : "probability of the symbol, from 0 to 1"});
  if (agent.answer.acts) return legend;
  legend.push_back({LegendEntry::kWords, kRightColour, "green: right"});
  legend.push_back({LegendEntry::kWords, kWrongColour, "red: wrong"});
  return legend;
}

void add_entries(std::vector<LegendEntry>& legend, const std::vector<LegendEntry>& more) {
  for (const LegendEntry& entry : more)
    if (std::ranges::find(legend, entry) == legend.end()) legend.push_back(entry);
}

int legend_rows(const std::vector<LegendEntry>& legend, int cols) {
  return lay_out(legend, cols, [](const LegendEntry&, const std::string&, Point) {});
}

void draw_legend(Picture& picture, const std::vector<LegendEntry>& legend, Point corner, int cols) {
  lay_out(legend, cols, [&](const LegendEntry& entry, const std::string& words, Point at) {
    draw_mark(picture, entry, {corner.x + at.x, corner.y + at.y});
    picture.text({corner.x + at.x + mark_width(entry), corner.y + at.y + kMarkSide - 1}, words,
                 entry.mark == LegendEntry::kWords ? entry.colour : kInk, kLegendText);
  });
}

void draw_heat_bar(Picture& picture, Box area, const std::vector<std::string>& words) {
  constexpr int kBar = 10;
  draw_gradient(picture, {area.x, area.y, area.width, kBar});
  const std::array<Align, 3> aligns = {Align::left, Align::centre, Align::right};
  for (int i = 0; i < 3; ++i) {
    TextStyle style = kLegendText;
    style.align = aligns[i];
    picture.text({area.x + i * area.width / 2, area.y + kHeatBarRows - 3}, words[i], kInk, style);
  }
}

}  // namespace saccade
