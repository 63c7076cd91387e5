#pragma once

namespace saccade {

/// The 0.975 quantile of the standard normal distribution.
inline constexpr double kNormalQuantile = 1.959963985;

/// The 0.975 quantile of Student's t distribution with `degrees` >= 1 of freedom.
double student_t(int degrees);

}  // namespace saccade
