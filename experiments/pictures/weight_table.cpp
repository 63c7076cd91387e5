#include "experiments/pictures/weight_table.h"

#include <algorithm>

#include "experiments/pictures/colours.h"

namespace saccade {
namespace {

constexpr Colour kMark = {0, 150, 199};
constexpr TextStyle kNames = {.height = 9, .align = Align::right, .bold = false};
constexpr int kHead = 16;  // height of the column names
constexpr int kNameGap = 6;
constexpr int kMaxName = 84;

TextStyle centred(TextStyle style) {
  style.align = Align::centre;
  return style;
}

// Returns the predicted symbols, including the end mark if there was room for it.
std::vector<int> predicted_symbols(const PicturedAgent& agent, const Episode& episode) {
  std::vector<int> symbols(episode.predictions().begin(), episode.predictions().end());
  if (static_cast<int>(symbols.size()) < agent.answer.answer_size)
    symbols.push_back(agent.world.spec.num_classes - 1);
  return symbols;
}

WeightTable symbol_weights(const PicturedAgent& agent, const Episode& episode) {
  const AnswerRecord& answer = episode.answer;
  const Tensor<3>* weights = answer.state_weights().weights;
  WeightTable table;
  table.cols = weights != nullptr ? step_names(agent, episode) : std::vector<std::string>{"p"};
  for (const int symbol : predicted_symbols(agent, episode)) {
    const int j = static_cast<int>(table.rows.size());
    table.rows.push_back(agent.world.class_name(symbol));
    for (int t = 0; t < static_cast<int>(table.cols.size()); ++t)
      table.weights.push_back(weights != nullptr ? (*weights)(j, episode.b, t)
                                                 : answer.probabilities(j, episode.b, symbol));
  }
  return table;
}

// Returns the width of the widest name.
int name_width(const std::vector<std::string>& names) {
  int width = 0;
  for (const std::string& name : names) width = std::max(width, text_width(name, kNames));
  return width == 0 ? 0 : std::min(width, kMaxName) + kNameGap;
}

// Returns how many columns apart names fit.
int name_stride(const WeightTable& table, int pitch) {
  int widest = 0;
  for (const std::string& name : table.cols) widest = std::max(widest, text_width(name, kNames));
  return pitch > 0 ? (widest + kNameGap / 2 + pitch - 1) / pitch : 1;
}

}  // namespace

// Returns the characters of a text, or the numbers of the looks.
std::vector<std::string> step_names(const PicturedAgent& agent, const Episode& episode) {
  const SceneFacts& facts = episode.facts;
  const bool text = agent.world.kind.is_text;
  std::vector<std::string> names;
  for (int t = 0; t < agent.look.steps; ++t)
    names.push_back(!text                  ? std::to_string(t + 1)
                    : t < facts.num_digits ? std::to_string(facts.classes[t])
                                           : std::string());
  return names;
}

bool has_state_weights(const PicturedAgent& agent) {
  return agent.answer.attends || agent.answer.spells;
}

WeightTable state_weights(const PicturedAgent& agent, const Episode& episode, int t) {
  WeightTable table;
  const auto [weights, num_hops] = episode.answer.state_weights();
  if (agent.answer.spells) {
    table = symbol_weights(agent, episode);
  } else {
    table.cols = step_names(agent, episode);
    const int steps = static_cast<int>(table.cols.size());
    for (int hop = 0; hop < num_hops; ++hop) {
      table.rows.push_back(num_hops > 1 ? std::to_string(hop + 1) : "");
      for (int k = 0; k < steps; ++k)
        table.weights.push_back((*weights)(t, episode.b, hop * steps + k));
    }
  }
  if (weights != nullptr) table.marked = t;
  return table;
}

TableSize class_table_size(const PicturedAgent& agent, int rows, int cols, int cell) {
  return {kHead + rows * cell, name_width(agent.world.class_names()) + cols * cell + 1};
}

TableSize table_size(const PicturedAgent& agent, int cell) {
  const int cols = agent.answer.attends ? agent.look.steps : 1;
  if (agent.answer.spells) return class_table_size(agent, agent.answer.answer_size, cols, cell);
  const int hops = agent.answer.hops;
  const int names = hops > 1 ? name_width({std::to_string(hops)}) : 0;
  return {kHead + hops * cell, names + cols * cell + 1};
}

void draw_table(Picture& picture, const WeightTable& table, Box area, int cell) {
  const int rows = static_cast<int>(table.rows.size()), cols = static_cast<int>(table.cols.size());
  if (rows == 0 || cols == 0) return;
  const int names = name_width(table.rows), top = area.y + kHead;
  const int width = std::clamp((area.width - names - 1) / cols, 2, cell);
  const int left = std::max(area.x + names, area.x + area.width - cols * width - 1);
  const int height = std::clamp((area.height - kHead) / rows, 2, cell);
  const int stride = name_stride(table, width);
  const auto near_mark = [&](int col) {
    return table.marked >= 0 && std::abs(col - table.marked) < stride;
  };
  for (int col = 0; col < cols; ++col)
    if (col == table.marked || (col % stride == 0 && !near_mark(col)))
      picture.text({left + col * width + width / 2, top - 5}, table.cols[col],
                   col == table.marked ? kInk : kGrey, centred(kNames));
  for (int row = 0; row < rows; ++row) {
    const int y = top + row * height;
    picture.text({left - kNameGap, y + height / 2 + 4}, fitted(table.rows[row], kMaxName, kNames),
                 kInk, kNames);
    for (int col = 0; col < cols; ++col)
      picture.fill({left + col * width, y, width - (width > 4), height - (height > 4)},
                   heat_colour(table.at(row, col)));
  }
  if (table.marked >= 0)
    picture.outline({left + table.marked * width - 1, top - 1, width + 1, rows * height + 1}, kMark,
                    width > 8 ? 2 : 1);
}

}  // namespace saccade
