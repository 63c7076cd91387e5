#include "nn/gradient_sum.h"

#include <algorithm>

#include "nn/pairwise.h"
#include "nn/profile.h"

namespace saccade {

GradientSum::GradientSum(Ranks& ranks, int lanes, std::size_t size)
    : ranks_(ranks),
      lanes_(lanes),
      size_(static_cast<int>(size)),
      mine_(ranks.share(lanes)),
      at_(lanes, nullptr) {
  std::vector<int> owner(lanes);
  for (int rank = 0; rank < ranks.count(); ++rank)
    for (int lane = ranks.share_of(rank, lanes).begin; lane < ranks.share_of(rank, lanes).end;
         ++lane)
      owner[lane] = rank;
  std::vector<bool> is_sum(lanes, true);
  for_each_pair(lanes, [&](int into, int from) {
    const int last = std::min(2 * from - into, lanes) - 1;
    if (owner[into] != owner[last]) {
      across_.push_back({into, from});
      return;
    }
    is_sum[from] = false;
    if (owner[into] == ranks.rank()) within_.push_back({into, from});
  });
  int received = 0;
  for (int lane = 0; lane < lanes; ++lane)
    if (is_sum[lane]) sums_.push_back({lane, owner[lane] == ranks.rank() ? -1 : received++});
  inbox_ = zeros<2>(received, ranks.share(size_).size());
}

void GradientSum::run(Workers& workers, std::span<Tensor<1>* const> gradients) {
  for (int lane = mine_.begin; lane < mine_.end; ++lane)
    at_[lane] = gradients[lane - mine_.begin]->data();
  add(workers, within_, size_);

  const Share range = ranks_.share(size_);
  std::vector<Ranks::Outgoing> out;
  std::vector<Ranks::Incoming> in;
  for (const auto& [lane, row] : sums_) {
    const bool own = row < 0;
    for (int rank = 0; rank < ranks_.count(); ++rank) {
      if (rank == ranks_.rank()) continue;
      const Share other = ranks_.share_of(rank, lanes_), theirs = ranks_.share_of(rank, size_);
      if (own && theirs.size() > 0)
        out.push_back({rank, std::as_bytes(std::span(at_[lane] + theirs.begin, theirs.size()))});
      if (lane >= other.begin && lane < other.end && range.size() > 0)
        in.push_back({rank, std::as_writable_bytes(std::span(&inbox_(row, 0), range.size()))});
    }
  }
  ranks_.exchange(out, in);

  for (const auto& [lane, row] : sums_)
    at_[lane] = row < 0 ? at_[lane] + range.begin
                        : inbox_.data() + static_cast<std::size_t>(row) * range.size();
  add(workers, across_, range.size());
  float* total = gradients[0]->data();
  if (at_[0] != total + range.begin) std::copy_n(at_[0], range.size(), total + range.begin);
  ranks_.gather(std::span(total, size_), size_);
}

void GradientSum::add(Workers& workers, std::span<const Add> adds, std::size_t size) {
  if (adds.empty()) return;
  workers.for_each(static_cast<int>((size + kSumChunk - 1) / kSumChunk), [&](int chunk) {
    const StageScope scope(Stage::gradient_sum);
    const std::size_t begin = chunk * kSumChunk, end = std::min(begin + kSumChunk, size);
    for (const auto& [into, from] : adds) add_range(at_[into], at_[from], begin, end);
  });
}

}  // namespace saccade
