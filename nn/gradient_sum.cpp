#include "nn/gradient_sum.h"

#include <algorithm>

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
  for (int distance = 1; distance < lanes; distance *= 2) {
    for (int lane = 0; lane + distance < lanes; lane += 2 * distance) {
      const Add add = {lane, lane + distance};
      if (owner[lane] != owner[std::min(lane + 2 * distance, lanes) - 1]) {
        across_.push_back(add);
        continue;
      }
      is_sum[add.second] = false;
      if (owner[lane] == ranks.rank()) within_.push_back(add);
    }
  }
  for (int lane = 0; lane < lanes; ++lane)
    if (is_sum[lane]) sums_.push_back(lane);
  inbox_ = zeros<2>(lanes, ranks.share(size_).size());
}

void GradientSum::run(Workers& workers, std::span<Tensor<1>* const> gradients) {
  for (int lane = mine_.begin; lane < mine_.end; ++lane)
    at_[lane] = gradients[lane - mine_.begin]->data();
  add(workers, within_, size_);

  const Share range = ranks_.share(size_);
  std::vector<Ranks::Outgoing> out;
  std::vector<Ranks::Incoming> in;
  for (const int lane : sums_) {
    const bool own = lane >= mine_.begin && lane < mine_.end;
    for (int rank = 0; rank < ranks_.count(); ++rank) {
      if (rank == ranks_.rank()) continue;
      const Share other = ranks_.share_of(rank, lanes_), theirs = ranks_.share_of(rank, size_);
      if (own && theirs.size() > 0)
        out.push_back({rank, std::as_bytes(std::span(at_[lane] + theirs.begin, theirs.size()))});
      if (lane >= other.begin && lane < other.end && range.size() > 0)
        in.push_back({rank, std::as_writable_bytes(std::span(&inbox_(lane, 0), range.size()))});
    }
  }
  ranks_.exchange(out, in);

  for (const int lane : sums_)
    at_[lane] = lane >= mine_.begin && lane < mine_.end ? at_[lane] + range.begin
                                                        : inbox_.data() + lane * range.size();
  add(workers, across_, range.size());
  float* total = gradients[0]->data();
  if (at_[0] != total + range.begin) std::copy_n(at_[0], range.size(), total + range.begin);
  ranks_.gather(std::span(total, size_), size_);
}

void GradientSum::add(Workers& workers, std::span<const Add> adds, std::size_t size) {
  constexpr std::size_t kChunk = 8192;  // floats
  if (adds.empty()) return;
  workers.for_each(static_cast<int>((size + kChunk - 1) / kChunk), [&](int chunk) {
    const StageScope scope(Stage::gradient_sum);
    const std::size_t begin = chunk * kChunk, end = std::min(begin + kChunk, size);
    for (const auto& [into, from] : adds) {
      float* __restrict sum = at_[into];
      const float* __restrict other = at_[from];
      for (std::size_t i = begin; i < end; ++i) sum[i] += other[i];
    }
  });
}

}  // namespace saccade
