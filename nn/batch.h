#pragma once

#include <type_traits>
#include <xsimd/xsimd.hpp>

// For sources of nn/ alone.
namespace saccade {

/// Numbers that are computed with at once. Eight at the most, so that processors with AVX-512 add
/// in the same order as those with AVX2; besides, xsimd 8.1 adds up sixteen wrongly (haddp).
using BatchArch = std::conditional_t<(xsimd::batch<float>::size > 8), xsimd::fma3<xsimd::avx2>,
                                     xsimd::default_arch>;
using Batch = xsimd::batch<float, BatchArch>;
constexpr int kWidth = static_cast<int>(Batch::size);

}  // namespace saccade
