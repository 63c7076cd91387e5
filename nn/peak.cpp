#include "nn/peak.h"

#include <array>
#include <xsimd/xsimd.hpp>

namespace saccade {

double multiply_add_on_registers() {
  using Widest = xsimd::batch<float>;
  // Two multiply-adds can start per cycle and each takes four or five, so ten independent chains
  // keep the processor busy, and they fit in the registers.
  constexpr int kChains = 10;
  constexpr int kRounds = 1 << 20;
  volatile float given = 0.999F;  // volatile: hides the value from the compiler
  const Widest factor(given), summand(1.0F - given);
  std::array<Widest, kChains> chains;
  for (int c = 0; c < kChains; ++c) chains[c] = Widest(static_cast<float>(c));
  for (int round = 0; round < kRounds; ++round)
    for (Widest& chain : chains) chain = xsimd::fma(chain, factor, summand);
  Widest sum(0.0F);
  for (const Widest& chain : chains) sum += chain;
  given = sum.get(0);  // keeps the loop from being optimised away
  return 2e-9 * kChains * kRounds * static_cast<double>(Widest::size);
}

}  // namespace saccade
