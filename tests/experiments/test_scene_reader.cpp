// Scenes that a program gives, read ahead of those who show them.
#include "experiments/task/scene_reader.h"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/stop.h"
#include "tests/check_contains.h"
#include "tests/support.h"

namespace saccade {
namespace {

// Scene n has canvases of 2 x 3 bytes n, label n mod 5, and n mod 3 boxes.
class PlainBlocks final : public SceneBlocks {
 public:
  explicit PlainBlocks(std::int64_t size = 0) : size_(size) {}

  std::int64_t size() const override { return size_; }

  void read(std::span<const std::int64_t> numbers, SceneBlock& block) override {
    {
      std::unique_lock lock(mutex_);
      asked_.insert(asked_.end(), numbers.begin(), numbers.end());
      ++calls_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return open_; });
    }
    block = {};
    block.boxes_per_scene = 2;
    for (const std::int64_t n : numbers) {
      block.canvases.insert(block.canvases.end(), 6, static_cast<std::uint8_t>(n));
      block.labels.push_back(static_cast<int>(n % 5));
      for (int k = 0; k < 2; ++k)
        block.boxes.push_back(k < n % 3 ? Box{.x = k, .y = 0, .width = 1, .height = 1} : Box{});
    }
    if (change) change(block);
  }

  void set_open(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  void wait_for_calls(int calls) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return calls_ >= calls; });
  }
  std::vector<std::int64_t> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  std::function<void(SceneBlock&)> change = nullptr;

 private:
  const std::int64_t size_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int calls_ = 0;
  std::vector<std::int64_t> asked_;
};

SceneReaderConfig reader_of(int block, std::int64_t scenes = 0) {
  return {.name = "test", .canvas = {1, 2, 3}, .classes = 5, .block = block, .scenes = scenes};
}

// The bytes of scenes first .. first + count - 1, one each.
std::vector<int> bytes_seen(SceneReader& reader, std::uint64_t first, int count) {
  std::vector<int> seen;
  reader.visit(first, count,
               [&](int i, std::span<const std::uint8_t> canvas, const SceneFacts& facts) {
                 CHECK(i == static_cast<int>(seen.size()));
                 REQUIRE(canvas.size() == 6);
                 CHECK(std::ranges::count(canvas, canvas[0]) == 6);
                 CHECK(facts.label == canvas[0] % 5);
                 CHECK(facts.num_digits == canvas[0] % 3);
                 seen.push_back(canvas[0]);
               });
  return seen;
}

std::vector<int> counted(int first, int count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

TEST_CASE("scene reader: any scenes in any order are those of their numbers") {
  PlainBlocks blocks;
  SceneReader reader(blocks, reader_of(8));
  for (const auto& [first, count] : {std::pair{0, 8}, {8, 8}, {5, 20}, {200, 1}, {3, 40}, {96, 16}})
    CHECK(bytes_seen(reader, first, count) == counted(first, count));
}

TEST_CASE("scene reader: scenes of an evaluation repeat, and none beyond them is read") {
  PlainBlocks blocks;
  SceneReader reader(blocks, reader_of(8, /*scenes=*/21));
  std::vector<int> wanted = counted(16, 5);
  for (const int n : counted(0, 19)) wanted.push_back(n);
  CHECK(bytes_seen(reader, 16, 24) == wanted);
  for (const std::int64_t n : blocks.asked()) CHECK(n < 21);
}

TEST_CASE("scene reader: a number of scenes is shown in passes, each in an order of its own") {
  PlainBlocks blocks(10);
  SceneReaderConfig config = reader_of(4);
  config.order = DigitOrder::shuffled;
  config.seed = 3;
  SceneReader reader(blocks, config);
  std::set<std::vector<int>> orders;
  for (int pass = 0; pass < 4; ++pass) {
    std::vector<int> seen = bytes_seen(reader, 10 * pass, 10);
    for (int i = 0; i < 10; ++i)
      CHECK(seen[i] == digit_at(10 * pass + i, 10, DigitOrder::shuffled, 3));
    orders.insert(seen);
    std::ranges::sort(seen);
    CHECK(seen == counted(0, 10));
  }
  CHECK(orders.size() == 4);
}

TEST_CASE("scene reader: reads the next blocks while nobody waits, and no more than those") {
  PlainBlocks blocks;
  SceneReader reader(blocks, reader_of(8));
  CHECK(blocks.asked().empty());
  bytes_seen(reader, 0, 8);
  blocks.wait_for_calls(3);  // itself and two more
  CHECK(reader.seconds_waited() > 0.0);
  const double waited = reader.seconds_waited();
  blocks.set_open(false);
  // What is there is shown without reading.
  CHECK(bytes_seen(reader, 8, 8) == counted(8, 8));
  CHECK(reader.seconds_waited() == waited);
  blocks.set_open(true);
  blocks.wait_for_calls(4);
  std::set<std::int64_t> asked;
  for (const std::int64_t n : blocks.asked()) CHECK(asked.insert(n).second);
  CHECK(*asked.rbegin() == 31);
}

TEST_CASE("scene reader: many threads that look everywhere see what one would") {
  PlainBlocks blocks;
  SceneReader reader(blocks, reader_of(4));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 60; ++k) {
        const int first = (k * (7 + 3 * i) + 11 * i) % 200;
        reader.visit(first, 9,
                     [&](int at, std::span<const std::uint8_t> canvas, const SceneFacts&) {
                       wrong += canvas[0] != first + at;
                     });
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("scene reader: a failure reaches every caller, with the scenes and the reason") {
  const auto fault = [](const std::function<void(SceneBlock&)>& change) {
    PlainBlocks blocks;
    blocks.change = change;
    SceneReader reader(blocks, reader_of(8));
    const auto visit = [&] { reader.visit(11, 2, [](int, auto, const auto&) {}); };
    const std::string first = message_of<OwnPartError>(visit);
    CHECK(message_of<OwnPartError>(visit) == first);
    check_contains(first, {"test scenes 8 to 15: "});
    return first;
  };
  check_contains(fault([](SceneBlock&) { throw std::range_error("no disk"); }), {": no disk"});
  check_contains(fault([](SceneBlock&) { throw 3; }), {"threw what is no std::exception"});
  check_contains(fault([](SceneBlock& b) { b.canvases.pop_back(); }),
                 {"47 bytes of canvases; allowed: 48, for 8 of 1 x 2 x 3"});
  check_contains(fault([](SceneBlock& b) { b.labels.pop_back(); }), {"7 labels; allowed: 8"});
  check_contains(fault([](SceneBlock& b) { b.labels[2] = 5; }),
                 {"label 5 of scene 10; allowed: 0 to 4"});
  check_contains(fault([](SceneBlock& b) { b.boxes.pop_back(); }), {"15 boxes, 2 for each"});
  for (const Box box :
       {Box{.x = 2, .y = 0, .width = 2, .height = 1}, Box{.x = 0, .y = -1, .width = 1, .height = 1},
        Box{.x = 0, .y = 0, .width = 1, .height = 0}})
    check_contains(fault([&](SceneBlock& b) { b.boxes[3] = box; }),
                   {"of scene 9; allowed: on the canvas, 3 x 2 pixels"});
}

TEST_CASE("scene reader: who is asked to stop does not wait") {
  PlainBlocks blocks;
  blocks.set_open(false);
  SceneReader reader(blocks, reader_of(8));
  std::atomic<bool> stop = false;
  std::thread stopping([&] {
    blocks.wait_for_calls(1);
    stop = true;
  });
  CHECK_FALSE(unless_stopped(stop, [&] { reader.visit(0, 1, [](int, auto, const auto&) {}); }));
  stopping.join();
  blocks.set_open(true);
  CHECK(bytes_seen(reader, 0, 8) == counted(0, 8));
}

}  // namespace saccade
