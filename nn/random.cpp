#include "nn/random.h"

#include <Random123/philox.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "base/check.h"

namespace saccade {

void RandomStream::refill() {
  const r123::Philox4x32::key_type key{
      {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)}};
  const r123::Philox4x32::ctr_type counter{{counter_[0], counter_[1], counter_[2], counter_[3]}};
  const auto block = r123::Philox4x32{}(counter, key);
  block_ = {block[0], block[1], block[2], block[3]};
  ++counter_[0];
  used_ = 0;
}

int RandomStream::below(int count) {
  if (count <= 0) throw std::logic_error("RandomStream::below: the count is not positive");
  const auto range = static_cast<std::uint32_t>(count);
  std::uint64_t product = std::uint64_t{bits()} * range;
  if (static_cast<std::uint32_t>(product) < range) {
    const std::uint32_t threshold = (0U - range) % range;
    while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{bits()} * range;
  }
  return static_cast<int>(product >> 32);
}

float RandomStream::normal() {
  const float radius = std::sqrt(-2.0F * std::log(1.0F - uniform()));
  return radius * std::cos(2.0F * std::numbers::pi_v<float> * uniform());
}

RandomPermutation::RandomPermutation(int size, std::uint64_t seed, Purpose purpose,
                                     std::uint32_t update)
    : size_(static_cast<std::uint32_t>(size)),
      half_bits_((std::bit_width(size_ - 1) + 1) / 2),
      keys_() {
  SACCADE_CHECK(size > 0);
  RandomStream stream(seed, purpose, update, 0);
  for (std::uint32_t& key : keys_) key = stream.bits();
}

int RandomPermutation::operator()(int position) const {
  SACCADE_CHECK(position >= 0 && static_cast<std::uint32_t>(position) < size_);
  const std::uint32_t mask = (1U << half_bits_) - 1;
  auto value = static_cast<std::uint32_t>(position);
  do {
    std::uint32_t left = value >> half_bits_;
    std::uint32_t right = value & mask;
    for (const std::uint32_t key : keys_) {
      std::uint32_t mixed = (right ^ key) * 0x9E3779B1U;  // round function: an integer hash
      mixed = (mixed ^ (mixed >> 15)) * 0x85EBCA77U;
      mixed ^= mixed >> 13;
      const std::uint32_t next = left ^ (mixed & mask);
      left = right;
      right = next;
    }
    value = (left << half_bits_) | right;
  } while (value >= size_);
  return static_cast<int>(value);
}

}  // namespace saccade
