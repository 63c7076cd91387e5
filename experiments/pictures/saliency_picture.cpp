#include "experiments/pictures/saliency_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "experiments/pictures/colours.h"
#include "experiments/pictures/episode_picture.h"
#include "experiments/pictures/heat_map.h"
#include "experiments/pictures/legend.h"

namespace saccade {
namespace {

constexpr TextStyle kCaption = {.height = 10, .align = Align::left, .bold = true};
constexpr TextStyle kSmall = {.height = 9, .align = Align::left, .bold = false};
constexpr int kSide = 180;      // side of a canvas
constexpr int kManySide = 112;  // if there are many of them
constexpr int kMany = 4;
constexpr int kTop = 34;  // for the caption and the headings
constexpr int kHeading = 30;
constexpr int kGap = 8, kTableGap = 24;
constexpr int kCell = 20;
constexpr int kLeastTable = 150;  // minimum width, for its heading
constexpr double kLight = 0.5;    // of a canvas under the heat of its gradient
constexpr int kScaleHead = 16, kScaleBar = 180, kScaleGap = 8;

// Returns the square root of |gradient| for each pixel, the largest of its channels, scaled to a
// maximum of 1. Gradients have long tails: without the root only a few pixels would be visible.
std::vector<double> heat_of(std::span<const float> gradient, int pixels) {
  std::vector<double> heat(pixels, 0.0);
  for (std::size_t i = 0; i < gradient.size(); ++i)
    heat[i % pixels] = std::max<double>(heat[i % pixels], std::abs(gradient[i]));
  const double most = *std::ranges::max_element(heat);
  for (double& value : heat) value = most > 0.0 ? std::sqrt(value / most) : 0.0;
  return heat;
}

double norm(std::span<const float> values) {
  double sum = 0.0;
  for (const float value : values) sum += double{value} * value;
  return std::sqrt(sum);
}

}  // namespace

SaliencyPicture::SaliencyPicture(const PicturedAgent& agent, int outputs)
    : agent_(agent),
      outputs_(outputs),
      look_(agent, tile_side(agent.world.spec.canvas, outputs > kMany ? kManySide : kSide)) {
  if (agent.look.steps == 1) return;
  steps_ = class_table_size(agent, outputs, agent.look.steps, kCell);
  if (agent.answer.attends) states_ = table_size(agent, kCell);
}

int SaliencyPicture::rows() const {
  return kTop + std::max({look_.rows(), steps_.rows, states_.rows});
}

int SaliencyPicture::cols() const {
  int cols = (outputs_ + 1) * (look_.cols() + kGap) - kGap;
  for (const TableSize& table : {steps_, states_})
    if (table.cols > 0) cols += kTableGap + std::max(table.cols, kLeastTable);
  return cols;
}

Picture SaliencyPicture::picture(const Episode& episode, const SaliencyArrays& arrays, int n,
                                 int step) const {
  Picture picture(rows(), cols(), kPaper);
  picture.text({0, 11}, episode_caption(agent_, "", episode, n + 1, cols()),
               episode.right() ? kRightColour : kWrongColour, kCaption);
  picture.text({0, kHeading}, agent_.look.looks ? "looks" : "canvas", kGrey, kSmall);
  picture.paste(looks(episode), {0, kTop});
  for (int o = 0; o < outputs_; ++o) {
    const int chosen = arrays.chosen(n, o);
    if (chosen < 0) continue;
    const int left = (o + 1) * (look_.cols() + kGap);
    const std::string logit =
        fmt::format("logit of {}: {:.1f}", agent_.world.class_name(chosen), arrays.logit(n, o));
    picture.text({left, kHeading}, fitted(logit, look_.cols(), kSmall), kGrey, kSmall);
    picture.paste(canvas_saliency(episode, arrays.canvas(n, o)), {left, kTop});
  }
  draw_tables(picture, episode, arrays, n, step);
  return picture;
}

void SaliencyPicture::draw_tables(Picture& picture, const Episode& episode,
                                  const SaliencyArrays& arrays, int n, int step) const {
  int left = (outputs_ + 1) * (look_.cols() + kGap) - kGap + kTableGap;
  const auto draw = [&](const std::string& heading, const WeightTable& table, TableSize size) {
    picture.text({left, kHeading}, heading, kGrey, kSmall);
    draw_table(picture, table, {left, kTop, size.cols, rows() - kTop}, kCell);
    left += std::max(size.cols, kLeastTable) + kTableGap;
  };
  if (steps_.cols > 0) draw("by glimpse", step_table(episode, arrays, n), steps_);
  if (states_.cols == 0) return;
  WeightTable states = state_weights(agent_, episode, step);
  states.marked = -1;
  draw("attention", states, states_);
}

// A colour bar: what it shows, and the labels at its ends and middle.
std::vector<SaliencyPicture::Scale> SaliencyPicture::scales() const {
  std::vector<Scale> scales = {{"canvas: |d logit / d pixel|, of the most on this canvas",
                                {"0", "25 %", "100 %"}}};  // the heat is a square root
  if (steps_.cols > 0)
    scales.push_back(
        {"by glimpse: |d logit / d g_t|, of the most of this logit", {"0", "50 %", "100 %"}});
  if (states_.cols > 0) scales.push_back({"attention over the states", {"0", "0.5", "1"}});
  if (agent_.look.looks && agent_.look.spreads())
    scales.push_back(
        {"looks: weight of a place, mean of the looks, of its most", {"0", "50 %", "100 %"}});
  return scales;
}

int SaliencyPicture::scales_rows() const {
  return static_cast<int>(scales().size()) * (kScaleHead + kHeatBarRows + kScaleGap);
}

void SaliencyPicture::draw_scales(Picture& sheet, Point corner) const {
  for (const Scale& scale : scales()) {
    sheet.text({corner.x, corner.y + kScaleHead - 5},
               fitted(scale.of, sheet.cols() - 2 * corner.x, kSmall), kInk, kSmall);
    draw_heat_bar(sheet, {corner.x, corner.y + kScaleHead, kScaleBar, kHeatBarRows}, scale.words);
    corner.y += kScaleHead + kHeatBarRows + kScaleGap;
  }
}

Picture SaliencyPicture::looks(const Episode& episode) const {
  const int last = agent_.look.steps - 1;
  const CanvasSize size = agent_.world.spec.canvas;
  std::vector<double> mean(static_cast<std::size_t>(size.rows) * size.cols, 0.0);
  if (!agent_.look.looks) return look_.heated(episode, last, mean, 1.0);
  if (!agent_.look.spreads()) return look_.canvas(episode, last, false);
  for (int t = 0; t <= last; ++t)
    std::ranges::transform(mean, heat_map(episode.look.gaze(t, episode.b), size.rows, size.cols),
                           mean.begin(), std::plus());
  const double most = *std::ranges::max_element(mean);
  for (double& value : mean) value = most > 0.0 ? value / most : 0.0;
  return look_.heated(episode, last, mean, 1.0);
}

Picture SaliencyPicture::canvas_saliency(const Episode& episode,
                                         std::span<const float> gradient) const {
  const CanvasSize size = agent_.world.spec.canvas;
  return look_.heated(episode, agent_.look.steps - 1, heat_of(gradient, size.rows * size.cols),
                      kLight);
}

WeightTable SaliencyPicture::step_table(const Episode& episode, const SaliencyArrays& arrays,
                                        int n) const {
  WeightTable table;
  table.cols = step_names(agent_, episode);
  for (int o = 0; o < outputs_; ++o) {
    if (arrays.chosen(n, o) < 0) continue;
    table.rows.push_back(agent_.world.class_name(arrays.chosen(n, o)));
    const std::span<const float> looks = arrays.looks(n, o);
    const std::size_t width = looks.size() / agent_.look.steps;
    std::vector<double> norms;
    for (int t = 0; t < agent_.look.steps; ++t)
      norms.push_back(norm(looks.subspan(t * width, width)));
    const double most = *std::ranges::max_element(norms);
    for (const double norm : norms) table.weights.push_back(most > 0.0 ? norm / most : 0.0);
  }
  return table;
}

}  // namespace saccade
