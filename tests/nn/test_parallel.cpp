#include "nn/parallel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace saccade {
namespace {

// Runs two loop bodies that wait for each other: it would never end if they ran one after the
// other.
void check_runs_two_at_once(Workers& workers) {
  std::atomic<int> begun{0};
  workers.for_each(2, [&](int) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  CHECK(begun == 2);
}

TEST_CASE("for_each runs each index exactly once and returns when all are done") {
  for (const int threads : {1, 2, 3, 8}) {
    Workers workers(threads);
    CHECK(workers.threads() == threads);
    for (const int count : {0, 1, 2, 7, 64, 1000}) {
      CAPTURE(threads);
      CAPTURE(count);
      std::vector<std::atomic<int>> calls(count);
      workers.for_each(count, [&](int i) { ++calls.at(i); });
      CHECK(std::ranges::all_of(calls, [](const std::atomic<int>& n) { return n == 1; }));
    }
  }
}

TEST_CASE("writes of the loop bodies are visible to the caller and to the next loop") {
  Workers workers(4);
  constexpr int kCount = 1000;
  std::vector<int> values(kCount);
  for (int pass = 0; pass < 50; ++pass)
    workers.for_each(kCount, [&](int i) { values[kCount - 1 - i] += i; });
  for (int i = 0; i < kCount; ++i) REQUIRE(values[i] == 50 * (kCount - 1 - i));
}

TEST_CASE("zero requested threads means all processors") {
  CHECK(Workers(0).threads() >= 1);
  CHECK(Workers(0).threads() <= static_cast<int>(std::thread::hardware_concurrency()));
}

TEST_CASE("one thread is the calling thread") {
  Workers workers(1);
  const std::thread::id caller = std::this_thread::get_id();
  workers.for_each(100, [&](int) { CHECK(std::this_thread::get_id() == caller); });
}

TEST_CASE("two threads run side by side") {
  Workers workers(2);
  check_runs_two_at_once(workers);
}

TEST_CASE("shared threads are divided evenly among the existing workers") {
  SharedThreads shared(7);
  CHECK(shared.threads() == 7);
  Workers one(shared);
  CHECK(one.threads() == 7);
  {
    const Workers two(shared), three(shared);
    CHECK(one.threads() == 3);
    CHECK(two.threads() == 2);
    CHECK(three.threads() == 2);
  }
  CHECK(one.threads() == 7);
  SharedThreads few(1);
  const Workers first(few), second(few);
  CHECK(first.threads() == 1);
  CHECK(second.threads() == 1);
  CHECK(SharedThreads(0).threads() == Workers(0).threads());
}

TEST_CASE("workers use the threads they currently own") {
  SharedThreads shared(2);
  Workers stays(shared);
  auto leaves = std::make_unique<Workers>(shared);
  const std::thread::id caller = std::this_thread::get_id();
  stays.for_each(100, [&](int) { CHECK(std::this_thread::get_id() == caller); });
  leaves.reset();
  check_runs_two_at_once(stays);
}

TEST_CASE("workers do not slow each other down") {
  Workers two(2), one(1);
  check_runs_two_at_once(two);
}

TEST_CASE("an exception reaches the caller, and the next loop still works") {
  for (const int threads : {1, 2, 4}) {
    CAPTURE(threads);
    Workers workers(threads);
    for (const int culprit : {0, 17, 99}) {
      std::string message;
      try {
        workers.for_each(100, [&](int i) {
          if (i == culprit) throw std::runtime_error("lane " + std::to_string(i));
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      CHECK(message == "lane " + std::to_string(culprit));
      std::atomic<int> sum{0};
      workers.for_each(100, [&](int i) { sum += i; });
      CHECK(sum == 4950);
    }
    CHECK_THROWS_AS(workers.for_each(100, [](int) { throw std::logic_error("all"); }),
                    std::logic_error);
  }
}

}  // namespace
}  // namespace saccade
