#pragma once

#include <string>
#include <vector>

#include "experiments/pictures/colours.h"
#include "experiments/pictures/look_picture.h"
#include "experiments/pictures/picture.h"

namespace saccade {

/// Weights in [0, 1] as heat cells; rows are the readers, columns what they weigh.
struct WeightTable {
  std::vector<std::string> rows, cols;  // names; may be empty strings
  std::vector<double> weights;          // (rows, cols)
  int marked = -1;                      // a highlighted column

  double at(int row, int col) const { return weights[row * cols.size() + col]; }
};

/// Returns the attention over the T states, step t highlighted. For a class: a row for each hop of
/// the read after step t. For a sequence: the alignment, a row for each predicted symbol, including
/// the end mark; without attention a single column, the probability of the symbol. Columns are
/// labelled with step numbers, or with the characters if the episode is a text.
WeightTable state_weights(const PicturedAgent& agent, const Episode& episode, int t);
/// Returns whether there is anything to draw: attention over states, or a sequence.
bool has_state_weights(const PicturedAgent& agent);

/// Returns the column labels above.
std::vector<std::string> step_names(const PicturedAgent& agent, const Episode& episode);

/// Size of a table, with `cell` pixels per cell, that fits any episode of an agent.
struct TableSize {
  int rows = 0, cols = 0;  // pixels
};
TableSize table_size(const PicturedAgent& agent, int cell);
/// Size of any table with class names beside its rows.
TableSize class_table_size(const PicturedAgent& agent, int rows, int cols, int cell);

/// Draws the table right-aligned in a box, with cells as large as fit, at most `cell` pixels per
/// side.
void draw_table(Picture& picture, const WeightTable& table, Box area, int cell);

}  // namespace saccade
