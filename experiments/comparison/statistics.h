#pragma once

#include <span>
#include <vector>

#include "experiments/comparison/comparison.h"

namespace saccade {

/// The 0.975 quantile of Student's t distribution with `degrees` >= 1 of freedom.
double student_t(int degrees);

/// Mean of `values` (>= 1), and where there are two and more its 95 % interval: Student's t, which
/// holds with a few runs, too. (Of normally distributed errors the percentile bootstrap covers 75 %
/// with 3 runs, 84 with 5 and 90 with 10.)
Estimate estimate_mean(std::span<const double> values);
/// The same of shares: the interval ends at 0 and 1.
Estimate estimate_share(std::span<const double> values);

/// The 95 % interval of a - b from those of a and b, which are known (MOVER; Zou and Donner 2008,
/// Statistics in Medicine 27, 1693; of shares with Wilson's intervals it is method 10 of Newcombe
/// 1998, Statistics in Medicine 17, 873). It takes a and b as independent: of figures that rise and
/// fall together, such as errors on the same scenes, it covers more than 95 %.
Estimate difference_of(const Estimate& a, const Estimate& b);

/// What follows is as Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical
/// Precipice", NeurIPS 2021 (rliable), give it: 95 % percentile intervals of a bootstrap over runs,
/// stratified by variant: the runs of each are resampled among themselves. The resamples are
/// seeded, so that the same runs give the same interval.
constexpr int kResamples = 50'000;

/// Mean of the middle half: a quarter of the values, rounded down, is left out at each end.
double interquartile_mean(std::vector<double> values);
Estimate estimate_interquartile_mean(std::span<const double> values, int resamples = kResamples);

/// P(X < Y) for a run X of `ours` and Y of `theirs`, where the lower is the better: the share of
/// pairs, ties by half (the Mann-Whitney statistic). An interval where both have two and more.
double improvement_probability(std::span<const double> ours, std::span<const double> theirs);
Estimate estimate_improvement(std::span<const double> ours, std::span<const double> theirs,
                              int resamples = kResamples);

}  // namespace saccade
