#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop.h"

namespace saccade {

/// Another rank does not answer any more. main() exits with 1.
struct LostRank : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Items begin .. end - 1.
struct Share {
  int begin = 0, end = 0;
  int size() const { return end - begin; }
};

/// The processes that train together, numbered from 0. The first alone writes files and speaks.
/// Every rank calls the same functions in the same order. What a rank waits for it may wait for
/// until it throws LostRank.
class Ranks {
 public:
  struct Outgoing {
    int to;
    std::span<const std::byte> bytes;
  };
  struct Incoming {
    int from;
    std::span<std::byte> bytes;
  };

  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int count() const { return count_; }
  bool first() const { return rank_ == 0; }
  bool alone() const { return count_ == 1; }

  /// What each rank has of so many items: neighbours, in the order of the ranks, and as many as the
  /// others, or one more.
  Share share(int items) const { return share_of(rank_, items); }
  Share share_of(int rank, int items) const;

  /// Sends and receives all of these, to and from other ranks. Two ranks' messages arrive in the
  /// order in which they were sent.
  virtual void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) = 0;

  /// Completes `all`, equal parts for so many items, of which each rank has written its share.
  template <class T>
  void gather(std::span<T> all, int items) {
    if (alone()) return;
    std::vector<std::size_t> offsets;
    for (int rank = 0; rank < count_; ++rank)
      offsets.push_back(share_of(rank, items).begin * (all.size_bytes() / items));
    offsets.push_back(all.size_bytes());
    gather_bytes(std::as_writable_bytes(all), offsets);
  }
  /// Gives every rank what the first one has.
  template <class T>
  void broadcast(std::span<T> block) {
    broadcast_bytes(std::as_writable_bytes(block));
  }
  /// Whether it holds for any rank.
  bool any(bool mine);
  /// The text of each rank.
  std::vector<std::string> texts(const std::string& mine);

  /// Calls `body`, which calls no other rank, and throws what any of them threw on all: Stopped,
  /// or InputError or std::runtime_error, whose message is empty but on the first rank.
  template <class Body>
  void each(const Body& body) {
    if (alone()) return body();
    Failure failure;
    try {
      body();
    } catch (const InputError& error) {
      failure = {'i', error.what()};
    } catch (const std::exception& error) {
      failure = {'e', error.what()};
    } catch (const Stopped&) {
      failure = {'s', ""};
    }
    throw_together(failure);
  }
  /// Says that all ranks come to their end now, also by an exception: they may wait for each other.
  void part() { parted_ = true; }

  /// While this rank waits for others and `stop` is true, calls `rescue` once, on another thread,
  /// and throws LostRank where they do not answer soon.
  virtual void watch(const std::atomic<bool>& /*stop*/, std::function<void()> /*rescue*/) {}
  virtual void watch_no_more() {}

 protected:
  Ranks(int rank, int count) : rank_(rank), count_(count) {}

  const int rank_, count_;
  bool parted_ = false;

 private:
  struct Failure {
    char kind = 0;  // 'i': InputError, 'e': another, 's': Stopped, 0: none
    std::string text;
  };
  void throw_together(const Failure& failure);
  void gather_bytes(std::span<std::byte> all, std::span<const std::size_t> offsets);
  void broadcast_bytes(std::span<std::byte> block);
};

/// A process by itself.
Ranks& alone();

}  // namespace saccade
