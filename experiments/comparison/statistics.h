#pragma once

#include <span>
#include <vector>

#include "experiments/comparison/comparison.h"

namespace saccade {

/// Mean of `values` (>= 1) and, with two or more, its 95 % interval by Student's t, which is valid
/// for few runs. (For normally distributed errors the percentile bootstrap covers 75 % with 3 runs,
/// 84 with 5 and 90 with 10.)
Estimate estimate_mean(std::span<const double> values);
/// The same for shares: the interval is clipped to [0, 1].
Estimate estimate_share(std::span<const double> values);

/// The mean of paired differences and its interval as in estimate_mean(), which is not known if all
/// are the same: those of few runs agree by chance, since errors are counts of scenes, and an
/// interval without width would be a certain verdict.
Estimate estimate_difference(std::span<const double> differences);

/// The 95 % interval of a - b from the known intervals of a and b (MOVER; Zou and Donner 2008,
/// Statistics in Medicine 27, 1693; for shares with Wilson intervals it is method 10 of Newcombe
/// 1998, Statistics in Medicine 17, 873). It assumes that a and b are independent: for positively
/// correlated values, such as errors on the same scenes, it covers more than 95 %. Not known
/// without those of a and b, and if these have no width.
Estimate difference_of(const Estimate& a, const Estimate& b);

/// The following is as in Agarwal et al., "Deep Reinforcement Learning at the Edge of the
/// Statistical Precipice", NeurIPS 2021 (rliable): 95 % percentile intervals of a bootstrap over
/// runs, stratified by variant: the runs of each variant are resampled separately. The resampling
/// is seeded, so the same runs give the same interval.
constexpr int kResamples = 50'000;

/// Mean of the middle half: drops a quarter of the values, rounded down, at each end.
double interquartile_mean(std::vector<double> values);
Estimate estimate_interquartile_mean(std::span<const double> values, int resamples = kResamples);

/// P(X < Y) for a run X of `ours` and Y of `theirs`, where lower is better: the share of pairs,
/// ties counted half (the Mann-Whitney statistic). Has an interval if both have two or more runs.
double improvement_probability(std::span<const double> ours, std::span<const double> theirs);
Estimate estimate_improvement(std::span<const double> ours, std::span<const double> theirs,
                              int resamples = kResamples);

}  // namespace saccade
