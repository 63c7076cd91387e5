#include "attention/pairwise_score.h"

#include <algorithm>

namespace saccade {
namespace {

template <class T>
auto key_row(MatrixView<T> keys, const ScoreMemory& memory, int b, int k) {
  return std::span(keys_of_episode(keys, memory.order, memory.episodes, b).row(k),
                   static_cast<std::size_t>(keys.cols));
}

template <class T>
auto row_of(MatrixView<T> rows, int r) {
  return std::span(rows.row(r), static_cast<std::size_t>(rows.cols));
}

}  // namespace

ScoreMemory PairwiseScore::make_memory(int steps, int episodes, int keys, KeyOrder order) const {
  return {steps, episodes, keys, 0, 0, order};
}

void PairwiseScore::forward(Matrix scores, ScoreMemory& memory, int, ConstMatrix query,
                            ConstMatrix keys, std::span<const float>) const {
  for (int b = 0; b < memory.episodes; ++b)
    for (int k = 0; k < memory.keys; ++k)
      scores(b, k) = value(row_of(query, b), key_row(keys, memory, b, k));
}

void PairwiseScore::backward(Matrix dquery, ScoreMemory& memory, int t, ConstMatrix dscores,
                             ConstMatrix query, ConstMatrix keys, std::span<const float>) const {
  for (int b = 0; b < memory.episodes; ++b) {
    std::copy_n(dscores.row(b), memory.keys, step(memory.dscores, t).row(b));
    for (int k = 0; dquery.data != nullptr && k < memory.keys; ++k)
      add_gradient(row_of(dquery, b), dscores(b, k), row_of(query, b), key_row(keys, memory, b, k));
  }
}

void PairwiseScore::finish(std::span<float>, Matrix dkeys, ScoreMemory& memory, int first,
                           ConstMatrix queries, ConstMatrix keys, std::span<const float>) const {
  if (dkeys.data == nullptr) return;
  for (int t = first; t < memory.steps; ++t)
    for (int b = 0; b < memory.episodes; ++b)
      for (int k = 0; k < memory.keys; ++k)
        add_gradient(key_row(dkeys, memory, b, k), memory.dscores(t, b, k),
                     key_row(keys, memory, b, k), row_of(queries, t * memory.episodes + b));
}

}  // namespace saccade
