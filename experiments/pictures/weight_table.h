#pragma once

#include <string>
#include <vector>

#include "experiments/pictures/colours.h"
#include "experiments/pictures/look_picture.h"
#include "experiments/pictures/picture.h"
#include "experiments/task/task.h"

namespace saccade {

/// Weights in [0, 1] as cells of heat between the names of what weighs and of what is weighed.
struct WeightTable {
  std::vector<std::string> rows, cols;  // their names; may be empty texts
  std::vector<double> weights;          // (rows, cols)
  int marked = -1;                      // a column that is marked

  double at(int row, int col) const { return weights[row * cols.size() + col]; }
};

/// What attention over the states gave to each of the T steps, step t marked. Of a class: a row for
/// each hop, of the read after step t. Of a sequence: the alignment, a row for each symbol that was
/// said, the end mark included; without attention one column, the probability of the symbol. The
/// columns bear the numbers of the steps, or where the episode is a text its characters.
WeightTable state_weights(const Task& task, const Episode& episode, int t);
/// Whether there is something to draw: attention over states, or a sequence.
bool has_state_weights(const Model& model);

/// The names of the T steps, as of the columns above.
std::vector<std::string> step_names(const Task& task, const Episode& episode);

/// The size of a table that any episode of a task fits in, with cells of so many pixels.
struct TableSize {
  int rows = 0, cols = 0;  // pixels
};
TableSize table_size(const Task& task, int cell);
/// That of any table with names of classes beside its rows.
TableSize class_table_size(const Task& task, int rows, int cols, int cell);

/// Draws it into a box, to the right of it, in cells as large as fit but at most `cell` pixels a
/// side.
void draw_table(Picture& picture, const WeightTable& table, Box area, int cell,
                const Theme& theme = kLightTheme);

}  // namespace saccade
