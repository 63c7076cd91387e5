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

/// Another rank no longer answers. main() exits with 1.
struct LostRank : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The range of items begin .. end - 1.
struct Share {
  int begin = 0, end = 0;
  int size() const { return end - begin; }
};

/// The processes that train together, numbered from 0. Only rank 0 writes files and prints. Every
/// rank must make the same calls in the same order. Collectives block. They throw LostRank when a
/// peer dies.
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

  /// This rank's share of `items`: contiguous ranges in rank order, whose sizes differ by at most
  /// one.
  Share share(int items) const { return share_of(rank_, items); }
  Share share_of(int rank, int items) const;

  /// Sends and receives all of these messages. Messages between two ranks arrive in the order in
  /// which they were sent.
  virtual void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) = 0;

  /// Allgather: `all` holds `items` equal parts; each rank has written its share, and gets the
  /// rest.
  template <class T>
  void gather(std::span<T> all, int items) {
    if (alone()) return;
    std::vector<std::size_t> offsets;
    for (int rank = 0; rank < count_; ++rank)
      offsets.push_back(share_of(rank, items).begin * (all.size_bytes() / items));
    offsets.push_back(all.size_bytes());
    gather_bytes(std::as_writable_bytes(all), offsets);
  }
  /// Copies the block of rank 0 to every rank.
  template <class T>
  void broadcast(std::span<T> block) {
    broadcast_bytes(std::as_writable_bytes(block));
  }
  /// Whether `mine` is true on any rank.
  bool any(bool mine);
  /// Returns the text of every rank.
  std::vector<std::string> gather_texts(const std::string& mine);

  /// Calls `body`, which must not communicate. If it throws on any rank, every rank throws:
  /// Stopped, or InputError or std::runtime_error, whose message is empty except on rank 0.
  template <class Body>
  void run_on_all(const Body& body) {
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
  /// Declares that all ranks end now, normally or by an exception, so that they may wait for each
  /// other.
  void announce_end() { parted_ = true; }

  /// While this rank waits for others and `stop` is true, calls `rescue` once, on another thread,
  /// and throws LostRank if they do not answer soon.
  virtual void watch(const std::atomic<bool>& /*stop*/, std::function<void()> /*rescue*/) {}
  virtual void stop_watching() {}

 protected:
  Ranks(int rank, int count) : rank_(rank), count_(count) {}

  const int rank_, count_;
  bool parted_ = false;

 private:
  struct Failure {
    char kind = 0;  // 'i': InputError, 'e': other exception, 's': Stopped, 0: none
    std::string text;
  };
  void throw_together(const Failure& failure);
  void gather_bytes(std::span<std::byte> all, std::span<const std::size_t> offsets);
  void broadcast_bytes(std::span<std::byte> block);
};

/// The single rank of a process that runs alone.
Ranks& alone();

}  // namespace saccade
