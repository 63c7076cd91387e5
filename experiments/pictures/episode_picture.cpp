#include "experiments/pictures/episode_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "experiments/pictures/colours.h"

namespace saccade {
namespace {

constexpr TextStyle kTitle = {.height = 15, .align = Align::left, .bold = true};
constexpr TextStyle kSmall = {.height = 10, .align = Align::left, .bold = false};
constexpr TextStyle kWords = {.height = 12, .align = Align::left, .bold = false};

constexpr int kCanvasSide = 300;
constexpr int kTileSide = 180;
constexpr int kMargin = 18;
constexpr int kFrame = 5;  // around the canvas; shows the verdict
constexpr int kGap = 20;   // between the canvas and what is beside it
constexpr int kBeside = 210;
constexpr int kTop = kMargin + 15 + 12;  // top of everything below the title
constexpr int kCaption = 30;
constexpr int kHeading = 18;  // of the observation and of the bars
constexpr int kSeenGap = 9;
constexpr int kSeenInRow = 3;
constexpr int kSeenSide = 84;  // maximum
constexpr int kMinBar = 16, kMaxBar = 30;
constexpr int kAllClasses = 12;  // up to this many are all shown
constexpr int kMostProbable = 10;
constexpr int kPercent = 42;  // room for "100%"

constexpr int kCell = 24;  // of a table of weights, maximum
constexpr int kHopCell = 14;

constexpr TextStyle kTiny = {.height = 8, .align = Align::centre, .bold = false};
constexpr int kStripGap = 8;
constexpr int kStepRow = 15;   // for the number of a look, above its tile
constexpr int kScaleRow = 16;  // for the extent of a scale, below its image
constexpr int kStripCell = 20;
constexpr int kTableGap = 24;
constexpr int kManyTiles = 12;  // more tiles than this are smaller
constexpr int kSmallTileSide = 72;
constexpr int kStripCaption = 400;  // minimum width for it, if there are few tiles

TextStyle aligned(TextStyle style, Align align) {
  style.align = align;
  return style;
}

TextStyle bold(TextStyle style) {
  style.bold = true;
  return style;
}

float probability(const Episode& episode, int t, int label) {
  return episode.answer.probabilities(t, episode.b, label);
}

std::string label_heading(const PicturedAgent& agent) {
  return agent.answer.spells ? "true sequence" : "true class";
}

// Returns -1 if there is none.
int true_class(const Episode& episode) {
  return episode.judged && episode.labels().size() == 1 ? episode.labels()[0] : -1;
}

Colour verdict_colour(const Episode& episode) {
  if (!episode.judged) return kTrueClassBar;
  return episode.right() ? kRightColour : kWrongColour;
}

// Returns the classes that get bars, in class order: all, or the most probable at the end plus the
// true one.
std::vector<int> shown_classes(const Episode& episode, int num_classes, int last) {
  std::vector<int> classes(num_classes);
  std::iota(classes.begin(), classes.end(), 0);
  if (num_classes <= kAllClasses) return classes;
  std::ranges::stable_sort(classes, std::ranges::greater{},
                           [&](int c) { return probability(episode, last, c); });
  if (const auto label = std::ranges::find(classes, true_class(episode));
      label != classes.end() && label - classes.begin() >= kMostProbable)
    std::iter_swap(label, classes.begin() + kMostProbable - 1);
  classes.resize(kMostProbable);
  std::ranges::sort(classes);
  return classes;
}

// "stops after 2 of 8, " of an episode that was stopped.
std::string stop_words(const PicturedAgent& agent, const Episode& episode) {
  const std::optional<int>& looks = episode.stopped_after();
  return looks ? fmt::format("stops after {} of {}, ", *looks, agent.look.steps) : "";
}

}  // namespace

// ---- The panel of a video ----

EpisodePicture::EpisodePicture(const PicturedAgent& agent, std::string name)
    : agent_(agent), name_(std::move(name)), look_(agent, kCanvasSide) {}

int EpisodePicture::num_bars() const {
  const int classes = agent_.world.spec.num_classes;
  return classes <= kAllClasses ? classes : kMostProbable;
}

int EpisodePicture::seen_side() const {
  const int in_row = std::clamp(look_.num_seen(), 1, kSeenInRow);
  return std::min(kSeenSide, (kBeside - (in_row - 1) * kSeenGap) / in_row - 4);
}

int EpisodePicture::seen_rows() const {
  const int lines = (look_.num_seen() + kSeenInRow - 1) / kSeenInRow;
  return kHeading + lines * (seen_side() + 4 + kSeenGap);
}

// Height of the state-attention table between observation and bars.
int EpisodePicture::state_rows() const {
  if (!agent_.answer.attends || agent_.answer.spells) return 0;
  return kHeading + table_size(agent_, kHopCell).rows + kSeenGap;
}

int EpisodePicture::answer_rows() const {
  return kHeading +
         (agent_.answer.spells ? table_size(agent_, kMinBar).rows : num_bars() * kMinBar);
}

int EpisodePicture::content_rows() const {
  return std::max(look_.rows() + 2 * kFrame,
                  seen_rows() + kSeenGap + state_rows() + answer_rows() + kFrame);
}

int EpisodePicture::rows() const { return kTop + content_rows() + kCaption + kMargin / 2; }
int EpisodePicture::cols() const {
  return kMargin + look_.cols() + 2 * kFrame + kGap + kBeside + kMargin;
}

Picture EpisodePicture::panel(const Episode& episode, int t, bool verdict) const {
  Picture panel(rows(), cols(), kPaper);
  panel.text({kMargin + kFrame, kMargin + 15}, fitted(name_, cols() - 2 * kMargin - kFrame, kTitle),
             kInk, kTitle);
  const Box framed{kMargin, kTop, look_.cols() + 2 * kFrame, look_.rows() + 2 * kFrame};
  if (verdict) panel.fill(framed, verdict_colour(episode));
  panel.paste(look_.canvas(episode, t, /*numbered=*/true), {kMargin + kFrame, kTop + kFrame});
  draw_caption(panel, episode, t, verdict, kTop + framed.height);

  const int beside = kMargin + framed.width + kGap;
  draw_seen(panel, episode, t, {beside, kTop + kFrame});
  const int below_seen = kTop + kFrame + seen_rows() + kSeenGap;
  if (state_rows() > 0)
    draw_states(panel, episode, t, {beside, below_seen, kBeside, state_rows() - kSeenGap});
  const int top = below_seen + state_rows();
  const Box answer{beside, top, kBeside, kTop + content_rows() - kFrame - top};
  if (agent_.answer.spells)
    draw_states(panel, episode, t, answer);
  else
    draw_bars(panel, episode, t, verdict, answer);
  return panel;
}

void EpisodePicture::draw_states(Picture& panel, const Episode& episode, int t, Box area) const {
  const bool sequence = agent_.answer.spells;
  const int cell = sequence ? kCell : kHopCell;
  const char* heading = !sequence               ? "what it draws on"
                        : agent_.answer.attends ? "what it says, and from where"
                                                : "what it says";
  panel.text({area.x, area.y + 9}, heading, kGrey, kSmall);
  draw_table(panel, state_weights(agent_, episode, t),
             {area.x, area.y + kHeading, std::min(area.width, table_size(agent_, cell).cols),
              area.height - kHeading},
             cell);
}

void EpisodePicture::draw_caption(Picture& panel, const Episode& episode, int t, bool verdict,
                                  int top) const {
  const int base = top + 22, left = kMargin + kFrame;
  const bool acts = agent_.answer.acts;
  const std::string answer = acts || !episode.judged ? "" : agent_.world.spoken(episode.labels());
  std::string words;
  Colour colour = kGrey;
  if (verdict) {
    words = acts ? fmt::format("earned {:.0f}", episode.answer.rewards[episode.b])
                 : fmt::format("{}answers {}{}", stop_words(agent_, episode),
                               agent_.world.spoken(episode.predictions()),
                               !episode.judged   ? ""
                               : episode.right() ? ": right"
                                                 : ": wrong");
    colour = verdict_colour(episode);
  } else if (agent_.look.looks) {
    words = fmt::format("glimpse {} of {}", t + 1, agent_.look.steps);
  }
  // Below the canvas; spans the panel if class names are long.
  const TextStyle style = verdict ? bold(kWords) : kWords;
  const auto room = [&](int right) { return right - left - text_width(words, style) - 8; };
  std::string label = answer.empty() ? "" : fmt::format("{}: {}", label_heading(agent_), answer);
  int right = left + look_.cols();
  if (text_width(label, kWords) > room(right)) right = cols() - kMargin;
  if (text_width(label, kWords) > room(right)) label = answer;
  panel.text({right, base}, words, colour, aligned(style, Align::right));
  panel.text({left, base}, fitted(label, room(right), kWords), kInk, kWords);
}

void EpisodePicture::draw_seen(Picture& panel, const Episode& episode, int t, Point corner) const {
  panel.text({corner.x, corner.y + 9},
             look_.num_seen() == 0 ? "sees the whole canvas" : "what it sees", kGrey, kSmall);
  const std::vector<Picture> seen = look_.seen(episode, t, seen_side());
  for (int i = 0; i < static_cast<int>(seen.size()); ++i) {
    const Point at{corner.x + i % kSeenInRow * (seen_side() + 4 + kSeenGap),
                   corner.y + kHeading + i / kSeenInRow * (seen_side() + 4 + kSeenGap)};
    panel.fill({at.x, at.y, seen[i].cols() + 4, seen[i].rows() + 4}, LookPicture::scale_colour(i));
    panel.paste(seen[i], {at.x + 2, at.y + 2});
  }
}

void EpisodePicture::draw_bars(Picture& panel, const Episode& episode, int t, bool verdict,
                               Box area) const {
  panel.text({area.x, area.y + 9}, "belief", kGrey, kSmall);
  const std::vector<int> classes =
      shown_classes(episode, agent_.world.spec.num_classes, agent_.look.steps - 1);
  const auto widest = [&](const TextStyle& style) {
    int width = 0;
    for (const int c : classes)
      width = std::max(width, text_width(agent_.world.class_name(c), style));
    return width;
  };
  const TextStyle plain = widest(bold(kWords)) <= kBeside / 3 ? kWords : kSmall;
  const int names = std::min(widest(bold(plain)), kBeside / 2);
  const int pitch = std::clamp((area.height - kHeading) / num_bars(), kMinBar, kMaxBar);
  const int left = area.x + 14 + names + 8, length = area.x + area.width - kPercent - left;

  for (int i = 0; i < static_cast<int>(classes.size()); ++i) {
    const int c = classes[i], top = area.y + kHeading + i * pitch, base = top + pitch / 2 + 5;
    const bool is_label = c == true_class(episode);
    const float p = probability(episode, t, c);
    Colour colour = is_label ? kTrueClassBar : kClassBar;
    if (verdict && !agent_.answer.acts && c == episode.predictions()[0])
      colour = verdict_colour(episode);
    if (is_label)
      panel.polygon(
          std::array<Point, 3>{{{area.x, base - 11}, {area.x, base}, {area.x + 8, base - 5}}},
          kTrueClassBar);
    panel.text({area.x + 14 + names, base}, fitted(agent_.world.class_name(c), names, bold(plain)),
               is_label ? kInk : kGrey, aligned(is_label ? bold(plain) : plain, Align::right));
    panel.fill({left, top + 3, length, pitch - 6}, kBarTrack);
    panel.fill({left, top + 3, static_cast<int>(p * static_cast<float>(length) + 0.5F), pitch - 6},
               colour);
    if (p >= 0.005F)
      panel.text({area.x + area.width, base}, fmt::format("{:.0f}%", 100.0F * p),
                 is_label ? kInk : kGrey, aligned(kSmall, Align::right));
  }
}

// ---- The row of a contact sheet ----

std::string episode_caption(const PicturedAgent& agent, const std::string& name,
                            const Episode& episode, int scene, int columns) {
  const std::string head =
      name.empty() ? fmt::format("{}.", scene) : fmt::format("{}. {}:", scene, name);
  if (agent.answer.acts)
    return fmt::format("{} earned {:.0f}", head, episode.answer.rewards[episode.b]);
  const std::string stops = stop_words(agent, episode);
  if (!episode.judged)
    return fmt::format("{} {}answers {}", head, stops, agent.world.spoken(episode.predictions()));
  const std::string label = agent.world.spoken(episode.labels()),
                    prediction = agent.world.spoken(episode.predictions());
  const std::string whole =
      fmt::format("{} {} {}, {}answers {}", head, label_heading(agent), label, stops, prediction);
  return text_width(whole, bold(kSmall)) <= columns
             ? whole
             : fmt::format("{}. {}, {}answers {}", scene, label, stops, prediction);
}

EpisodeStrip::EpisodeStrip(const PicturedAgent& agent, std::string name)
    : agent_(agent),
      name_(std::move(name)),
      look_(agent, !agent.look.looks && agent.look.steps > kManyTiles
                       ? kSmallTileSide
                       : tile_side(agent.world.spec.canvas, kTileSide)) {
  if (has_state_weights(agent))
    table_ = table_size(agent, ends_with_table() ? kStripCell : kHopCell);
  const int seen = std::max(1, look_.num_seen());
  seen_side_ =
      std::max(1, std::min(look_.cols() / 3, (look_.cols() - (seen - 1) * kStripGap / 2) / seen));
}

// Height of a tile, without what is below all of them.
int EpisodeStrip::tile_rows() const {
  const int seen = look_.num_seen() > 0 ? kStripGap / 2 + seen_side_ + kScaleRow : 0;
  return look_.rows() + seen;
}

// Height above the tiles: the caption, and the look numbers if there are several looks.
int EpisodeStrip::head_rows() const { return kHeading + (agent_.look.steps > 1 ? kStepRow : 0); }

int EpisodeStrip::tiles_cols() const {
  return agent_.look.steps * (look_.cols() + kStripGap) - kStripGap;
}

int EpisodeStrip::rows() const {
  if (ends_with_table()) return head_rows() + std::max(tile_rows(), table_.rows);
  return head_rows() + tile_rows() + (table_.rows > 0 ? kStripGap + table_.rows : 0);
}

int EpisodeStrip::cols() const {
  const int table = ends_with_table() ? kTableGap + table_.cols : 0;
  return std::max(tiles_cols() + table, kStripCaption);
}

Picture EpisodeStrip::strip(const Episode& episode, int scene) const {
  Picture strip(rows(), cols(), kPaper);
  const int last = agent_.look.steps - 1;
  strip.text({0, 11},
             fitted(episode_caption(agent_, name_, episode, scene, cols()), cols(), bold(kSmall)),
             verdict_colour(episode), bold(kSmall));
  for (int t = 0; t < episode.stopped_after().value_or(last + 1); ++t) draw_tile(strip, episode, t);
  if (!ends_with_table()) return strip;
  WeightTable alignment = state_weights(agent_, episode, last);
  alignment.marked = -1;  // all looks are done
  draw_table(strip, alignment,
             {tiles_cols() + kTableGap, head_rows(), table_.cols, rows() - head_rows()},
             kStripCell);
  return strip;
}

void EpisodeStrip::draw_tile(Picture& strip, const Episode& episode, int t) const {
  const int left = t * (look_.cols() + kStripGap), top = head_rows();
  if (agent_.look.steps > 1)
    strip.text({left + look_.cols() / 2, top - 4}, step_heading(t), kGrey, kTiny);
  strip.paste(look_.canvas(episode, t, /*numbered=*/false), {left, top});
  draw_seen(strip, episode, t, {left, top + look_.rows() + kStripGap / 2});
  if (table_.rows > 0 && !ends_with_table())
    draw_table(
        strip, state_weights(agent_, episode, t),
        {left, top + tile_rows() + kStripGap, std::min(look_.cols(), table_.cols), table_.rows},
        kHopCell);
}

// "glimpse 3", or a shorter form if there is no room.
std::string EpisodeStrip::step_heading(int t) const {
  const std::string words = fmt::format("{} {}", agent_.look.looks ? "glimpse" : "step", t + 1);
  return text_width(words, kTiny) <= look_.cols() ? words : std::to_string(t + 1);
}

std::string side_that_fits(const std::string& side, int width) {
  for (const std::string& words : {side, side.substr(0, side.find(' '))})
    if (text_width(words, kTiny) <= width) return words;
  return "";
}

// Draws the scales, each above a line in its colour and its extent on the canvas.
void EpisodeStrip::draw_seen(Picture& strip, const Episode& episode, int t, Point corner) const {
  const std::vector<Picture> pictures = look_.seen(episode, t, seen_side_);
  for (int i = 0; i < static_cast<int>(pictures.size()); ++i) {
    const Picture& seen = pictures[i];
    strip.paste(seen, corner);
    const int below = corner.y + seen.rows();
    strip.fill({corner.x, below + 1, seen.cols(), 2}, LookPicture::scale_colour(i));
    if (agent_.look.retina) {
      const std::string side = side_that_fits(LookPicture::scale_side(agent_, i), seen_side_);
      const int middle = std::max(seen.cols(), text_width(side, kTiny)) / 2;
      strip.text({corner.x + middle, below + kScaleRow - 3}, side, kGrey, kTiny);
    }
    corner.x += seen_side_ + kStripGap / 2;
  }
}

}  // namespace saccade
