#include "nn/peak.h"

#include <array>
#include <xsimd/xsimd.hpp>

namespace saccade {

double multiply_add_on_registers() {
  using Widest = xsimd::batch<float>;
  // Two multiply-adds begin in a cycle and each takes four or five: ten chains keep them busy, and
  // there are registers for them.
  constexpr int kChains = 10;
  constexpr int kRounds = 1 << 20;
  volatile float given = 0.999F;  // the compiler does not know it
  const Widest factor(given), summand(1.0F - given);
  std::array<Widest, kChains> chains;
  for (int c = 0; c < kChains; ++c) chains[c] = Widest(static_cast<float>(c));
  for (int round = 0; round < kRounds; ++round)
    for (Widest& chain : chains) chain = xsimd::fma(chain, factor, summand);
  Widest sum(0.0F);
  for (const Widest& chain : chains) sum += chain;
  given = sum.get(0);  // so that it is computed
  return 2e-9 * kChains * kRounds * static_cast<double>(Widest::size);
}

}  // namespace saccade
