#include "base/student_t.h"

#include <array>

namespace saccade {

double student_t(int degrees) {
  constexpr std::array kTable = {12.70620, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462,
                                 2.30600,  2.26216, 2.22814, 2.20099, 2.17881, 2.16037, 2.14479,
                                 2.13145,  2.11991, 2.10982, 2.10092, 2.09302, 2.08596};
  if (degrees <= static_cast<int>(kTable.size())) return kTable[degrees - 1];
  // Cornish and Fisher's expansion (1960), here exact to five digits.
  constexpr double z = kNormalQuantile, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  const double n = degrees;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

}  // namespace saccade
