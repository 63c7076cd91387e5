#pragma once

#include <array>
#include <cstdint>

namespace saccade {

/// The purpose of a random stream. Each purpose has its own streams.
enum class Purpose : std::uint32_t {
  digit_order,
  scene,
  augmentation,
  initial_weights,
  policy_noise,
  synthetic_digits,
  folder_split,
  bootstrap,
  number_split,
  first_location,
  distractor_augmentation,
};

/// A stream of random numbers keyed by (seed, purpose, update, episode): Philox4x32-10 (Salmon et
/// al. 2011) with the seed as its key and the other three in its counter, so that streams never
/// overlap and nothing depends on the order of execution. A stream yields at most 2^34 numbers.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t update, std::uint32_t episode)
      : seed_(seed), counter_{0, episode, update, static_cast<std::uint32_t>(purpose)} {}
  /// Of one number: its upper half in place of the update, its lower in place of the episode.
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint64_t number)
      : RandomStream(seed, purpose, static_cast<std::uint32_t>(number >> 32),
                     static_cast<std::uint32_t>(number)) {}

  /// 32 uniform bits.
  std::uint32_t bits() {
    if (used_ == 4) refill();
    return block_[used_++];
  }
  /// Uniform in [0, 1), a multiple of 2^-24.
  float uniform() { return static_cast<float>(bits() >> 8) * 0x1p-24F; }
  /// Uniform in [low, high).
  float uniform(float low, float high) { return low + (high - low) * uniform(); }
  /// Uniform in 0 .. count - 1, unbiased (Lemire 2019). Throws std::logic_error unless count > 0,
  /// in all builds: callers use the result as an index.
  int below(int count);
  /// Standard normal (Box and Muller 1958).
  float normal();

 private:
  void refill();

  std::uint64_t seed_;
  std::array<std::uint32_t, 4> counter_;  // (block, episode, update, purpose)
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
};

/// A random permutation of 0 .. size - 1 that needs no memory: a Feistel cipher over the next power
/// of four, applied repeatedly until the result is in range (Black and Rogaway 2002).
class RandomPermutation {
 public:
  /// Keyed like RandomStream. size > 0.
  RandomPermutation(int size, std::uint64_t seed, Purpose purpose, std::uint32_t update);

  int operator()(int position) const;

 private:
  static constexpr int kRounds = 6;
  std::uint32_t size_;
  int half_bits_;
  std::array<std::uint32_t, kRounds> keys_;
};

}  // namespace saccade
