#include "nn/random.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "tests/statistics.h"

namespace saccade {
namespace {

using Words = std::array<std::uint32_t, 4>;

// Philox4x32-10 as in the paper (Salmon et al. 2011), independent of the library in use.
Words naive_philox(Words counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

Words next_block(RandomStream& stream) {
  Words block;
  for (std::uint32_t& word : block) word = stream.bits();
  return block;
}

std::vector<double> draw(RandomStream stream, int n) {
  std::vector<double> sample(n);
  for (double& x : sample) x = stream.uniform();
  return sample;
}

constexpr int kMaxLag = 16;

// Returns the largest correlation of two samples at any lag, in standard errors.
double largest_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0.0;
  for (int lag = -kMaxLag; lag <= kMaxLag; ++lag)
    largest = std::max(largest, std::abs(correlation_deviate(a, b, lag)));
  return largest;
}

TEST_CASE("philox gives the known answers of Random123") {
  // From kat_vectors of the Random123 distribution: counter, key, answer.
  CHECK(naive_philox({0, 0, 0, 0}, {0, 0}) ==
        Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(naive_philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(naive_philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

  RandomStream stream(0, Purpose::digit_order, 0, 0);
  CHECK(next_block(stream) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
}

TEST_CASE("a stream is philox in counter mode with the documented key") {
  RandomStream stream(0x299f31d0a4093822, Purpose::policy_noise, 0x13198a2e, 0x85a308d3);
  for (std::uint32_t block = 0; block < 1000; ++block)
    REQUIRE(next_block(stream) == naive_philox({block, 0x85a308d3, 0x13198a2e,
                                                static_cast<std::uint32_t>(Purpose::policy_noise)},
                                               {0xa4093822, 0x299f31d0}));
}

TEST_CASE("neighbouring streams are uncorrelated at every lag up to 16") {
  constexpr int kDraws = 4096;
  const std::vector<double> first = draw({1, Purpose::scene, 2, 3}, kDraws);
  SUBCASE("the check sees a stream that is another one shifted by one draw") {
    RandomStream shifted(1, Purpose::scene, 2, 3);
    shifted.bits();
    CHECK(largest_correlation(first, draw(shifted, kDraws)) > 60.0);
  }
  SUBCASE("streams") {
    for (const std::uint64_t seed : {0ULL, 1ULL, 777ULL, 0xffffffffULL, 1ULL << 63})
      for (const std::uint32_t index : {0U, 1U, 2U, 255U, 0xfffffffeU}) {
        CAPTURE(seed);
        CAPTURE(index);
        const auto base = draw({seed, Purpose::scene, index, index}, kDraws);
        CHECK(largest_correlation(base, draw({seed + 1, Purpose::scene, index, index}, kDraws)) <
              5);
        CHECK(largest_correlation(base, draw({seed, Purpose::augmentation, index, index}, kDraws)) <
              5);
        CHECK(largest_correlation(base, draw({seed, Purpose::scene, index + 1, index}, kDraws)) <
              5);
        CHECK(largest_correlation(base, draw({seed, Purpose::scene, index, index + 1}, kDraws)) <
              5);
      }
  }
  SUBCASE("draws of one stream") {
    for (int lag = 1; lag <= kMaxLag; ++lag)
      CHECK(std::abs(correlation_deviate(first, first, lag)) < 5);
  }
  SUBCASE("the first draw of streams that follow one another") {
    std::vector<double> firsts;
    for (std::uint32_t episode = 0; episode < kDraws; ++episode)
      firsts.push_back(RandomStream(1, Purpose::scene, 0, episode).uniform());
    for (int lag = 1; lag <= kMaxLag; ++lag)
      CHECK(std::abs(correlation_deviate(firsts, firsts, lag)) < 5);
    CHECK(kolmogorov_distance(firsts, [](double x) { return x; }) < 1.95);
  }
}

TEST_CASE("uniform numbers are in range and uniformly distributed") {
  constexpr int kDraws = 200000;
  RandomStream stream(5, Purpose::scene, 0, 0);
  std::vector<double> sample;
  for (int i = 0; i < kDraws; ++i) {
    const float x = stream.uniform();
    REQUIRE(x >= 0.0F);
    REQUIRE(x < 1.0F);
    REQUIRE(x * 0x1p24F == std::floor(x * 0x1p24F));
    sample.push_back(x);
  }
  CHECK(std::abs(mean_deviate(sample, 0.5, 1.0 / 12.0)) < 5);
  CHECK(kolmogorov_distance(sample, [](double x) { return x; }) < 1.95);

  float lowest = 1.0F, highest = -1.0F;
  for (int i = 0; i < kDraws; ++i) {
    const float x = stream.uniform(-3.0F, 0.5F);
    lowest = std::min(lowest, x);
    highest = std::max(highest, x);
  }
  CHECK(lowest >= -3.0F);
  CHECK(lowest < -2.999F);
  CHECK(highest < 0.5F);
  CHECK(highest > 0.499F);
}

TEST_CASE("below() is uniform over 0 .. count - 1") {
  RandomStream stream(6, Purpose::scene, 0, 0);
  for (int i = 0; i < 100; ++i) CHECK(stream.below(1) == 0);
  for (const int count : {2, 3, 5, 7, 10, 33, 1000}) {
    CAPTURE(count);
    std::vector<int> counts(count);
    for (int i = 0; i < 200000; ++i) ++counts.at(stream.below(count));
    CHECK(std::abs(uniform_deviate(counts)) < 5);
  }
  // Without rejection, every third of these numbers would get two draws out of eight.
  constexpr int kLarge = 3 << 29;
  std::array<int, 3> remainders{};
  for (int i = 0; i < 100000; ++i) {
    const int x = stream.below(kLarge);
    REQUIRE(x >= 0);
    REQUIRE(x < kLarge);
    ++remainders[x % 3];
  }
  CHECK(std::abs(uniform_deviate(remainders)) < 5);
  CHECK(stream.below(std::numeric_limits<int>::max()) >= 0);
#ifdef SACCADE_CHECKS
  CHECK_THROWS_AS(stream.below(0), std::logic_error);
  CHECK_THROWS_AS(stream.below(-1), std::logic_error);
#endif
}

TEST_CASE("normal numbers have the moments and distribution of a normal") {
  constexpr int kDraws = 500000;
  RandomStream stream(7, Purpose::policy_noise, 0, 0);
  std::vector<double> sample, squares, cubes, fourths;
  for (int i = 0; i < kDraws; ++i) {
    const double x = stream.normal();
    REQUIRE(std::isfinite(x));
    sample.push_back(x);
    squares.push_back(x * x);
    cubes.push_back(x * x * x);
    fourths.push_back(x * x * x * x);
  }
  CHECK(std::abs(mean_deviate(sample, 0.0, 1.0)) < 5);
  CHECK(std::abs(mean_deviate(squares, 1.0, 2.0)) < 5);
  CHECK(std::abs(mean_deviate(cubes, 0.0, 15.0)) < 5);
  CHECK(std::abs(mean_deviate(fourths, 3.0, 96.0)) < 5);
  CHECK(kolmogorov_distance(sample, normal_cdf) < 1.95);
  for (int lag = 1; lag <= kMaxLag; ++lag) {
    CHECK(std::abs(correlation_deviate(sample, sample, lag)) < 5);
    CHECK(std::abs(correlation_deviate(squares, squares, lag)) < 5);
  }
}

std::vector<int> permuted(int size, std::uint32_t pass, std::uint64_t seed = 1) {
  const RandomPermutation permutation(size, seed, Purpose::digit_order, pass);
  std::vector<int> values(size);
  for (int i = 0; i < size; ++i) values[i] = permutation(i);
  return values;
}

TEST_CASE("a random permutation visits every item once, in a different order each pass") {
  for (const int size : {1, 2, 3, 4, 5, 15, 16, 17, 64, 65, 1000, 55000}) {
    CAPTURE(size);
    std::vector<int> expected(size);
    std::iota(expected.begin(), expected.end(), 0);
    for (const std::uint32_t pass : {0U, 1U, 2U, 0xffffffffU}) {
      std::vector<int> values = permuted(size, pass);
      std::ranges::sort(values);
      REQUIRE(values == expected);
    }
  }
  for (const int size : {16, 17, 1000, 55000}) {
    CAPTURE(size);
    const std::vector<int> values = permuted(size, 0);
    CHECK(values == permuted(size, 0));
    for (const auto& other : {permuted(size, 1), permuted(size, 0, 2)}) {
      int same = 0;  // Poisson with mean 1
      for (int i = 0; i < size; ++i) same += values[i] == other[i];
      CHECK(same < 10);
    }
  }
#ifdef SACCADE_CHECKS
  const RandomPermutation permutation(5, 1, Purpose::digit_order, 0);
  CHECK_THROWS_AS(permutation(5), std::logic_error);
  CHECK_THROWS_AS(permutation(-1), std::logic_error);
  CHECK_THROWS_AS(RandomPermutation(0, 1, Purpose::digit_order, 0), std::logic_error);
#endif
}

TEST_CASE("every position of a random permutation is uniform over the passes") {
  for (const int size : {2, 3, 5, 16, 17}) {
    std::vector<std::vector<int>> counts(size, std::vector<int>(size));  // [position][value]
    for (std::uint32_t pass = 0; pass < 20000; ++pass) {
      const RandomPermutation permutation(size, 1, Purpose::digit_order, pass);
      for (int i = 0; i < size; ++i) ++counts[i][permutation(i)];
    }
    for (int i = 0; i < size; ++i) {
      CAPTURE(size);
      CAPTURE(i);
      CHECK(std::abs(uniform_deviate(counts[i])) < 5);
    }
  }
}

TEST_CASE("a large random permutation is uncorrelated with the original order") {
  constexpr int kSize = 55000;
  constexpr int kCells = 10;
  for (std::uint32_t pass = 0; pass < 3; ++pass) {
    const std::vector<int> values = permuted(kSize, pass);
    std::vector<int> cells(kCells * kCells);  // tenth of the positions, tenth of the values
    for (int i = 0; i < kSize; ++i)
      ++cells[i * kCells / kSize * kCells + values[i] * kCells / kSize];
    CHECK(uniform_deviate(cells) < 5);
    std::vector<double> positions(kSize);
    std::iota(positions.begin(), positions.end(), 0.0);
    const std::vector<double> sample(values.begin(), values.end());
    CHECK(std::abs(correlation_deviate(positions, sample, 0)) < 5);
    for (int lag = 1; lag <= kMaxLag; ++lag)
      CHECK(std::abs(correlation_deviate(sample, sample, lag)) < 5);
  }
}

}  // namespace
}  // namespace saccade
