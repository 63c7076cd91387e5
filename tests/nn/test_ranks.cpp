#include "base/ranks.h"

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

#include "base/join_ranks.h"
#include "nn/gradient_sum.h"
#include "nn/optimizer.h"
#include "tests/support.h"
#include "tests/thread_ranks.h"

namespace saccade {
namespace {

// Gradients of very different magnitudes, whose sum depends on the order of summation.
std::vector<Tensor<1>> lanes_of(int lanes, std::size_t size) {
  std::vector<Tensor<1>> result;
  std::uint32_t state = 1;
  for (int lane = 0; lane < lanes; ++lane) {
    result.push_back(zeros<1>(size));
    for (float& x : result.back()) {
      state = state * 1664525U + 1013904223U;
      x = (static_cast<float>(state >> 8) / 8388608.0F - 1.0F) * (state % 7 == 0 ? 1000.0F : 1.0F);
    }
  }
  return result;
}

// Returns the sum computed by one process, as the optimiser's first moment.
Tensor<1> sum_of_one(std::vector<Tensor<1>> lanes) {
  const std::size_t size = lanes[0].size();
  Optimizer optimizer({.optimizer = "sgd", .momentum = 0.0, .max_grad_norm = 0.0}, size);
  Workers workers(1);
  Tensor<1> parameters = zeros<1>(size);
  std::vector<Tensor<1>*> gradients;
  for (Tensor<1>& lane : lanes) gradients.push_back(&lane);
  optimizer.step(workers, flat(parameters), gradients, 0.5);
  return optimizer.first;
}

TEST_CASE("ranks sum gradients with the same bits as one process") {
  for (const std::size_t size : {1, 3, 20001})
    for (int lanes = 1; lanes <= 9; ++lanes) {
      const std::vector<Tensor<1>> gradients = lanes_of(lanes, size);
      const Tensor<1> expected = sum_of_one(gradients);
      for (int count = 1; count <= std::min(lanes, 5); ++count) {
        CAPTURE(size);
        CAPTURE(lanes);
        CAPTURE(count);
        std::vector<Tensor<1>> totals(count);
        on_ranks(count, [&](Ranks& ranks) {
          Workers workers(1 + ranks.rank() % 2);
          GradientSum sum(ranks, lanes, size);
          for (int again = 0; again < 2; ++again) {
            std::vector<Tensor<1>> mine;
            const Share share = ranks.share(lanes);
            for (int lane = share.begin; lane < share.end; ++lane) mine.push_back(gradients[lane]);
            std::vector<Tensor<1>*> pointers;
            for (Tensor<1>& lane : mine) pointers.push_back(&lane);
            sum.run(workers, pointers);
            totals[ranks.rank()] = mine[0];
          }
        });
        for (const Tensor<1>& total : totals)
          CHECK(std::memcmp(total.data(), expected.data(), size * sizeof(float)) == 0);
      }
    }
}

TEST_CASE("a rank keeps room only for what it receives of the others") {
  constexpr int kCount = 4, kLanes = 64;  // each rank adds its 16 lanes to one partial sum
  std::vector<int> received(kCount);
  on_ranks(kCount, [&](Ranks& ranks) {
    received[ranks.rank()] = GradientSum(ranks, kLanes, 100).received();
  });
  CHECK(received == std::vector<int>(kCount, kCount - 1));
}

TEST_CASE("ranks share items without gaps, their counts differing by at most one") {
  for (int count = 1; count <= 6; ++count)
    on_ranks(count, [&](Ranks& ranks) {
      for (int items = 0; items <= 13; ++items) {
        int next = 0;
        for (int rank = 0; rank < count; ++rank) {
          const Share share = ranks.share_of(rank, items);
          if (share.begin != next) throw std::logic_error("a gap");
          if (share.size() < items / count || share.size() > items / count + 1)
            throw std::logic_error("an unequal share");
          next = share.end;
        }
        if (next != items) throw std::logic_error("the last items");
      }
    });
}

TEST_CASE("all ranks receive the data of each rank") {
  for (int count = 1; count <= 7; ++count) {
    std::vector<std::vector<double>> all(count, std::vector<double>(2 * 10, -1.0));
    std::vector<std::vector<int>> one(count, std::vector<int>(3, -1));
    std::vector<Names> texts(count);
    std::vector<int> any(count), none(count);
    one[0] = {5, 6, 7};
    on_ranks(count, [&](Ranks& ranks) {
      std::vector<double>& mine = all[ranks.rank()];
      const Share share = ranks.share(10);
      for (int i = 2 * share.begin; i < 2 * share.end; ++i) mine[i] = i;
      ranks.gather(std::span(mine), 10);
      ranks.broadcast(std::span(one[ranks.rank()]));
      texts[ranks.rank()] = ranks.gather_texts(std::string(ranks.rank() % 3, 'x'));
      any[ranks.rank()] = ranks.any(ranks.rank() == count - 1);
      none[ranks.rank()] = ranks.any(false);
    });
    std::vector<double> expected(20);
    std::iota(expected.begin(), expected.end(), 0.0);
    for (int rank = 0; rank < count; ++rank) {
      CAPTURE(count);
      CAPTURE(rank);
      CHECK(all[rank] == expected);
      CHECK(one[rank] == std::vector<int>{5, 6, 7});
      REQUIRE(static_cast<int>(texts[rank].size()) == count);
      for (int other = 0; other < count; ++other)
        CHECK(texts[rank][other] == std::string(other % 3, 'x'));
      CHECK(any[rank] == 1);
      CHECK(none[rank] == 0);
    }
  }
}

TEST_CASE("an exception on one rank is thrown on all, and reported by the first") {
  Names said(3), agreed(3);
  on_ranks(3, [&](Ranks& ranks) {
    ranks.run_on_all([] {});
    said[ranks.rank()] = message_of<InputError>([&] {
      ranks.run_on_all([&] {
        if (ranks.rank() > 0) throw InputError(ranks.rank() == 1 ? "no such file" : "other");
      });
    });
    agreed[ranks.rank()] = message_of<std::runtime_error>(
        [&] { ranks.run_on_all([] { throw std::runtime_error("the disk is full"); }); });
  });
  CHECK(said == Names{"rank 1: no such file", "", ""});
  CHECK(agreed == Names{"the disk is full", "", ""});
}

TEST_CASE("the launcher of several ranks is recognised by its environment variables") {
  const auto as_of = [](const char* rank, const char* count, int of_rank, int of_count) {
    const TemporaryVariable this_rank(rank, "2"), all(count, "3");
    const Launch seen = launch();
    CHECK(seen.rank == of_rank);
    CHECK(seen.count == of_count);
  };
  CHECK(launch().count == 1);
  as_of("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", 2, 3);
  as_of("PMI_RANK", "PMI_SIZE", 2, 3);
  as_of("PMIX_RANK", "SLURM_STEP_NUM_TASKS", 2, 3);
  as_of("SLURM_PROCID", "SLURM_NTASKS", 0, 1);  // independent tasks of a study
  CHECK(join_ranks({.rank = 0, .count = 1}) == nullptr);
}

}  // namespace
}  // namespace saccade
