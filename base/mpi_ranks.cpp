#include "base/mpi_ranks.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"

namespace saccade {
namespace {

constexpr double kBusy = 2e-3;     // seconds of busy waiting before a waiting rank starts to sleep
constexpr double kPatience = 0.6;  // seconds to wait for ranks to stop; mpirun kills after one
constexpr std::chrono::microseconds kNap{50};
constexpr std::chrono::milliseconds kLook{50};

void require_success(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int size = 0;
  MPI_Error_string(code, text, &size);
  throw LostRank(fmt::format("a rank was lost: {}: {}", what, text));
}

int size_of(std::span<const std::byte> bytes) {
  if (bytes.size() > std::numeric_limits<int>::max())
    throw std::length_error("a message between ranks is larger than 2 GB");
  return static_cast<int>(bytes.size());
}

// Calls `rescue` if the main thread is still waiting after a stop was requested. Runs on a thread
// of its own, because Open MPI may never return from a call once a rank on another host is lost.
class Watch {
 public:
  Watch(const std::atomic<bool>& stop, std::function<void()> rescue)
      : stop_(stop), rescue_(std::move(rescue)), thread_([this] { look(); }) {}
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }

  bool is_to_stop() const { return stop_; }
  /// On return no rescue is running, and none starts until the next wait.
  void set_waiting(bool waiting) {
    const std::lock_guard lock(mutex_);
    waiting_ = waiting;
  }

 private:
  void look() {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, kLook, [this] { return over_; })) {
      if (!waiting_ || !stop_) continue;
      try {
        rescue_();
      } catch (const std::exception&) {  // the main thread will report it
      }
      return;
    }
  }

  const std::atomic<bool>& stop_;
  const std::function<void()> rescue_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool waiting_ = false, over_ = false;
  std::thread thread_;
};

class MpiRanks final : public Ranks {
 public:
  MpiRanks(int rank, int count) : Ranks(rank, count) {}
  ~MpiRanks() override {
    if (parted_) MPI_Finalize();
  }

  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    if (watch_) watch_->set_waiting(true);
    requests_.clear();
    for (const Incoming& message : in) {
      requests_.emplace_back();
      require_success(MPI_Irecv(message.bytes.data(), size_of(message.bytes), MPI_BYTE,
                                message.from, 0, MPI_COMM_WORLD, &requests_.back()),
                      "receive");
    }
    for (const Outgoing& message : out) {
      requests_.emplace_back();
      require_success(MPI_Isend(message.bytes.data(), size_of(message.bytes), MPI_BYTE, message.to,
                                0, MPI_COMM_WORLD, &requests_.back()),
                      "send");
    }
    wait();
    if (watch_) watch_->set_waiting(false);
  }

  void watch(const std::atomic<bool>& stop, std::function<void()> rescue) override {
    watch_.emplace(stop, std::move(rescue));
  }
  void stop_watching() override { watch_.reset(); }

 private:
  // Never stays inside MPI for long, so that a rank notices a stop request and yields the
  // processor.
  void wait() {
    const Clock::time_point begin = Clock::now();
    std::optional<Clock::time_point> asked_at;
    while (true) {
      int done = 0;
      require_success(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                                  MPI_STATUSES_IGNORE),
                      "wait");
      if (done != 0) return;
      if (watch_ && watch_->is_to_stop()) {
        if (!asked_at) asked_at = Clock::now();
        if (seconds_since(*asked_at) > kPatience)
          throw LostRank(
              fmt::format("asked to stop, and another rank has not answered for {} s", kPatience));
      }
      if (seconds_since(begin) < kBusy)
        sched_yield();
      else
        std::this_thread::sleep_for(kNap);
    }
  }

  std::vector<MPI_Request> requests_;
  std::optional<Watch> watch_;
};

}  // namespace

std::unique_ptr<Ranks> join_mpi() {
  int provided = 0, rank = 0, count = 1;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return std::make_unique<MpiRanks>(rank, count);
}

}  // namespace saccade
