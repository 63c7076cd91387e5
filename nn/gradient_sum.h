#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/ranks.h"
#include "nn/parallel.h"
#include "nn/tensor.h"

namespace saccade {

/// Sums the lanes' gradients over several ranks in the same order as one process: pairwise in a
/// fixed tree, ((0 + 1) + (2 + 3)) + ... Each rank first adds the pairs within its own lanes. For
/// the rest, each rank owns a range of the parameters, completes the tree on it and sends the total
/// to all, so that a rank sends and receives about twice the gradient for any number of ranks.
class GradientSum {
 public:
  /// `lanes`: at least one per rank, split by Ranks::share(). `size`: number of parameters.
  GradientSum(Ranks& ranks, int lanes, std::size_t size);

  /// `gradients`: those of this rank's lanes. All are overwritten; the first receives the sum over
  /// all lanes.
  void run(Workers& workers, std::span<Tensor<1>* const> gradients);

  /// Number of partial sums that this rank receives from the others.
  int received() const { return static_cast<int>(inbox_.shape()[0]); }

 private:
  using Add = std::pair<int, int>;  // (into, from): partial sums, each identified by its first lane
  struct Sum {
    int lane;  // the first
    int row;   // of inbox_; -1: this rank's own
  };

  void add(Workers& workers, std::span<const Add> adds, std::size_t size);

  Ranks& ranks_;
  int lanes_, size_;
  Share mine_;               // lanes of this rank
  std::vector<Add> within_;  // adds within this rank, in tree order
  std::vector<Add> across_;  // adds across the ranks' partial sums, in tree order
  std::vector<Sum> sums_;    // partial sums that the ranks hold before `across_`
  Tensor<2> inbox_;          // (others' partial sums, range): what is received of them
  std::vector<float*> at_;   // by first lane: where its partial sum is stored
};

}  // namespace saccade
