#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/ranks.h"

namespace saccade {

/// Ranks as threads of this process.
class ThreadRanks final : public Ranks {
 public:
  struct Post {
    std::mutex mutex;
    std::condition_variable arrived;
    std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> boxes;  // (from, to)
  };

  ThreadRanks(int rank, int count, Post& post) : Ranks(rank, count), post_(post) {}

  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    std::unique_lock lock(post_.mutex);
    for (const Outgoing& message : out)
      post_.boxes[{rank(), message.to}].emplace_back(message.bytes.begin(), message.bytes.end());
    post_.arrived.notify_all();
    for (const Incoming& message : in) {
      auto& box = post_.boxes[{message.from, rank()}];
      post_.arrived.wait(lock, [&] { return !box.empty(); });
      if (box.front().size() != message.bytes.size())
        throw std::logic_error("a message has another size than was expected");
      std::ranges::copy(box.front(), message.bytes.begin());
      box.pop_front();
    }
  }

 private:
  Post& post_;
};

/// Calls body(ranks) for each of `count` ranks concurrently. Rethrows what body throws.
template <class Body>
void on_ranks(int count, const Body& body) {
  ThreadRanks::Post post;
  std::vector<std::exception_ptr> errors(count);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ThreadRanks ranks(rank, count, post);
        body(ranks);
      } catch (...) {
        errors[rank] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  for (const auto& [way, box] : post.boxes)
    if (!box.empty()) throw std::logic_error("a message was not read");
}

}  // namespace saccade
