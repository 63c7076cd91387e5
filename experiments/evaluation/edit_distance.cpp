#include "experiments/evaluation/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace saccade {

int edit_distance(std::span<const int> said, std::span<const int> truth) {
  std::vector<int> row(truth.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < said.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < truth.size(); ++j) {
      const int change = diagonal + (said[i] != truth[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace saccade
