#include "agent/answering/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace saccade {
namespace {

struct Continuation {
  double log_probability;
  int beam;    // the hypothesis it extends
  int symbol;  // the symbol it adds
};

// The hypotheses of all episodes: row b width + k.
struct Beams {
  std::vector<double> log_probability;
  std::vector<int> symbols;  // (rows, J)
  std::vector<int> last;     // (rows)
  std::vector<int> parents;  // (rows)
};

// Returns the `width` best continuations of one episode's hypotheses, best first. Before the first
// symbol there is only one hypothesis.
std::vector<Continuation> continuations(const Beams& beams, ConstMatrix p, int b, int width,
                                        bool first) {
  const int end = p.cols - 1;
  std::vector<Continuation> all;
  for (int k = 0; k < (first ? 1 : width); ++k) {
    const int row = b * width + k;
    const double before = beams.log_probability[row];
    if (!first && beams.last[row] == end) {
      all.push_back({before, k, end});
      continue;
    }
    for (int c = 0; c < p.cols; ++c)
      all.push_back({before + std::log(static_cast<double>(p(row, c))), k, c});
  }
  std::ranges::stable_sort(all, std::greater(), &Continuation::log_probability);
  while (static_cast<int>(all.size()) < width)  // fewer symbols than beams
    all.push_back({-std::numeric_limits<double>::infinity(), 0, end});
  all.resize(width);
  return all;
}

// (T, B, H) -> (T, B width, H): repeats each episode `width` times.
Tensor<2> repeated(ConstMatrix states, int steps, int width) {
  const int episodes = states.rows / steps;
  Tensor<2> wide = zeros<2>(states.rows * width, states.cols);
  for (int row = 0; row < states.rows * width; ++row) {
    const int t = row / (episodes * width), b = row % (episodes * width) / width;
    std::copy_n(states.row(t * episodes + b), states.cols, &wide(row, 0));
  }
  return wide;
}

}  // namespace

void beam_search(std::span<int> predictions, const Decoder& decoder, int symbols, int width,
                 ConstMatrix states, std::span<const int> lengths, int steps,
                 std::span<const float> parameters) {
  const int episodes = states.rows / steps, rows = episodes * width;
  Tensor<2> wide = repeated(states, steps, width);
  std::vector<int> wide_lengths(rows);
  for (int row = 0; row < rows; ++row) wide_lengths[row] = lengths[row / width];

  DecoderMemory memory = decoder.make_memory(symbols, rows);
  decoder.begin(memory, matrix(wide), wide_lengths, parameters);
  Beams beams{std::vector<double>(rows, 0.0), std::vector<int>(rows * symbols),
              std::vector<int>(rows), std::vector<int>(rows)};
  for (int j = 0; j < symbols; ++j) {
    decoder.step(memory, j, beams.last, matrix(wide), parameters);
    const Beams before = beams;
    for (int b = 0; b < episodes; ++b) {
      const auto best = continuations(before, step(memory.probabilities, j), b, width, j == 0);
      for (int k = 0; k < width; ++k) {
        const int row = b * width + k, parent = b * width + best[k].beam;
        beams.log_probability[row] = best[k].log_probability;
        std::copy_n(&before.symbols[parent * symbols], j, &beams.symbols[row * symbols]);
        beams.symbols[row * symbols + j] = beams.last[row] = best[k].symbol;
        beams.parents[row] = parent;
      }
    }
    decoder.reorder(memory, j, beams.parents);
  }
  for (int b = 0; b < episodes; ++b)
    std::copy_n(&beams.symbols[b * width * symbols], symbols, &predictions[b * symbols]);
}

}  // namespace saccade
