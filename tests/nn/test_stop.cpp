// Stop requests to loops on one thread, on several threads and on several ranks.
#include <doctest/doctest.h>

#include <atomic>

#include "base/stop.h"
#include "nn/parallel.h"
#include "tests/thread_ranks.h"

namespace saccade {

TEST_CASE("nothing stops without a stop flag") {
  stop_if_asked();
  const std::atomic<bool> no = false, yes = true;
  CHECK(unless_stopped(no, [] { stop_if_asked(); }));
  CHECK_FALSE(unless_stopped(yes, [] { stop_if_asked(); }));
  CHECK(unless_stopped(yes, [] {}));
  stop_if_asked();  // the scope has ended
}

TEST_CASE("only the innermost scope is asked, and none if that says so") {
  const std::atomic<bool> no = false, yes = true;
  CHECK(unless_stopped(yes, [&] {
    CHECK(unless_stopped(no, [] { stop_if_asked(); }));
    const StopScope nobody(nullptr);
    stop_if_asked();
  }));
  CHECK_FALSE(unless_stopped(no, [&] {
    { const StopScope inner(&yes); }
    stop_if_asked();
    const StopScope other(&yes);
    stop_if_asked();
  }));
}

TEST_CASE("a loop of workers stops when asked, on whichever thread an item runs") {
  for (const int threads : {1, 3}) {
    CAPTURE(threads);
    Workers workers(threads);
    std::atomic<bool> stop = false;
    std::atomic<int> done = 0;
    CHECK_FALSE(unless_stopped(stop, [&] {
      workers.for_each(1000, [&](int) {
        stop_if_asked();
        ++done;
        stop = true;
      });
    }));
    CHECK(done >= 1);
    CHECK(done <= threads);
    workers.for_each(10, [&](int) { ++done; });  // the scope has ended
    CHECK(done >= 11);
  }
}

TEST_CASE("a stop request to one rank is thrown on all") {
  std::atomic<int> stopped = 0;
  on_ranks(3, [&](Ranks& ranks) {
    const std::atomic<bool> stop = ranks.rank() == 1;
    stopped += !unless_stopped(stop, [&] { ranks.run_on_all([] { stop_if_asked(); }); });
    CHECK(ranks.any(ranks.rank() == 2));  // they can continue together
  });
  CHECK(stopped == 3);
}

}  // namespace saccade
