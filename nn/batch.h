#pragma once

#include <type_traits>
#include <xsimd/xsimd.hpp>

// Include only from sources of nn/.
namespace saccade {

/// The SIMD vector. At most eight floats, so that processors with AVX-512 add in the same order as
/// those with AVX2; moreover, haddp of xsimd 8.1 is wrong for sixteen.
using BatchArch = std::conditional_t<(xsimd::batch<float>::size > 8), xsimd::fma3<xsimd::avx2>,
                                     xsimd::default_arch>;
using Batch = xsimd::batch<float, BatchArch>;
constexpr int kWidth = static_cast<int>(Batch::size);

}  // namespace saccade
