#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/ranks.h"
#include "nn/parallel.h"
#include "nn/tensor.h"

namespace saccade {

/// The sum of the lanes' gradients over several ranks, in the order of one process: pairwise in a
/// fixed tree, ((0 + 1) + (2 + 3)) + ... A rank adds up what lies within its own lanes. Of what is
/// left each rank gets a range of the parameters, completes the tree there and gives the total to
/// all, so that a rank sends and receives about twice the gradient, however many ranks there are.
class GradientSum {
 public:
  /// Of `lanes` lanes, at least one for each rank, which keep their share, and `size` parameters.
  GradientSum(Ranks& ranks, int lanes, std::size_t size);

  /// `gradients`: of this rank's lanes. They are overwritten, the first by the sum over all lanes.
  void run(Workers& workers, std::span<Tensor<1>* const> gradients);

 private:
  using Add = std::pair<int, int>;  // a sum of lanes, by the first of them, gets another

  void add(Workers& workers, std::span<const Add> adds, std::size_t size);

  Ranks& ranks_;
  int lanes_, size_;
  Share mine_;               // lanes of this rank
  std::vector<Add> within_;  // those that lie within it, in the order of the tree
  std::vector<Add> across_;  // of all ranks' sums, likewise
  std::vector<int> sums_;    // what the ranks have before that, by the first lane of each
  Tensor<2> inbox_;          // (lanes, range): of other ranks
  std::vector<float*> at_;   // where the sum is that begins with a lane
};

}  // namespace saccade
