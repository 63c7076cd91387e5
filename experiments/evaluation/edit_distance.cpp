#include "experiments/evaluation/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace saccade {

int edit_distance(std::span<const int> predictions, std::span<const int> labels) {
  std::vector<int> row(labels.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < labels.size(); ++j) {
      const int change = diagonal + (predictions[i] != labels[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace saccade
