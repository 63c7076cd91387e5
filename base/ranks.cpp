#include "base/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace saccade {
namespace {

class OneRank final : public Ranks {
 public:
  OneRank() : Ranks(0, 1) {}
  void exchange(std::span<const Outgoing>, std::span<const Incoming>) override {}
};

}  // namespace

Ranks& alone() {
  static OneRank one;
  return one;
}

Share Ranks::share_of(int rank, int items) const {
  const auto first = [&](std::int64_t r) { return static_cast<int>(r * items / count_); };
  return {first(rank), first(rank + 1)};
}

// Allgather (Bruck et al. 1997): each rank's data doubles at every step with that of the ranks that
// follow it.
void Ranks::gather_bytes(std::span<std::byte> all, std::span<const std::size_t> offsets) {
  const auto parts_of = [&](int first, int size) {
    std::vector<std::span<std::byte>> parts;
    const auto add = [&](int begin, int end) {
      if (offsets[end] > offsets[begin])
        parts.push_back(all.subspan(offsets[begin], offsets[end] - offsets[begin]));
    };
    first %= count_;
    add(first, std::min(first + size, count_));
    if (first + size > count_) add(0, first + size - count_);
    return parts;
  };
  for (int have = 1; have < count_; have *= 2) {
    const int size = std::min(have, count_ - have);
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    for (const auto& part : parts_of(rank_, size))
      out.push_back({(rank_ - have + count_) % count_, part});
    for (const auto& part : parts_of(rank_ + have, size))
      in.push_back({(rank_ + have) % count_, part});
    exchange(out, in);
  }
}

// The number of ranks that have the block doubles at every step.
void Ranks::broadcast_bytes(std::span<std::byte> block) {
  for (int have = 1; have < count_; have *= 2) {
    if (rank_ < have && rank_ + have < count_)
      exchange(std::vector<Outgoing>{{rank_ + have, block}}, {});
    else if (rank_ >= have && rank_ < 2 * have)
      exchange({}, std::vector<Incoming>{{rank_ - have, block}});
  }
}

bool Ranks::any(bool mine) {
  if (alone()) return mine;
  std::vector<std::uint8_t> flags(count_, 0);
  flags[rank_] = mine;
  gather(std::span(flags), count_);
  return std::ranges::count(flags, 1) > 0;
}

std::vector<std::string> Ranks::gather_texts(const std::string& mine) {
  std::vector<std::uint64_t> sizes(count_, 0);
  sizes[rank_] = mine.size();
  gather(std::span(sizes), count_);
  std::vector<std::size_t> offsets = {0};
  for (const std::uint64_t size : sizes) offsets.push_back(offsets.back() + size);
  std::string all(offsets.back(), '\0');
  std::ranges::copy(mine, all.begin() + static_cast<std::ptrdiff_t>(offsets[rank_]));
  gather_bytes(std::as_writable_bytes(std::span(all)), offsets);
  std::vector<std::string> result;
  for (int rank = 0; rank < count_; ++rank)
    result.push_back(all.substr(offsets[rank], sizes[rank]));
  return result;
}

void Ranks::throw_together(const Failure& failure) {
  std::vector<std::string> all =
      gather_texts(failure.kind == 0 ? std::string() : failure.kind + failure.text);
  const auto failed = std::ranges::find_if(all, [](const auto& text) { return !text.empty(); });
  if (failed == all.end()) return;
  if (failed->front() == 's') throw Stopped{};
  announce_end();
  std::string message = failed->substr(1);
  if (std::ranges::count(all, std::string()) > 0)
    message = fmt::format("rank {}: {}", failed - all.begin(), message);
  if (!first()) message.clear();
  if (failed->front() == 'i') throw InputError(message);
  throw std::runtime_error(message);
}

}  // namespace saccade
