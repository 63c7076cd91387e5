#include "experiments/comparison/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/student_t.h"
#include "nn/random.h"

namespace saccade {
namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void resample(std::vector<double>& sample, std::span<const double> values, RandomStream& stream) {
  const int count = static_cast<int>(values.size());
  sample.resize(count);
  for (double& value : sample) value = values[stream.below(count)];
}

// Returns the quantile of sorted values, linearly interpolated.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// `draw` returns the statistic of one resample.
template <class Draw>
Estimate interval(double value, int resamples, const Draw& draw) {
  std::vector<double> figures(resamples);
  for (int i = 0; i < resamples; ++i) {
    RandomStream stream(0, Purpose::bootstrap, 0, static_cast<std::uint32_t>(i));
    figures[i] = draw(stream);
  }
  std::ranges::sort(figures);
  return {value, quantile(figures, 0.025), quantile(figures, 0.975), true};
}

template <class Statistic>
Estimate estimate(std::span<const double> values, int resamples, const Statistic& statistic) {
  const double value = statistic({values.begin(), values.end()});
  if (values.size() < 2) return {value, value, value, false};
  std::vector<double> sample;
  return interval(value, resamples, [&](RandomStream& stream) {
    resample(sample, values, stream);
    return statistic(sample);
  });
}

}  // namespace

Estimate estimate_mean(std::span<const double> values) {
  const double value = mean(values);
  const auto n = static_cast<double>(values.size());
  if (values.size() < 2) return {value, value, value, false};
  double squares = 0.0;
  for (const double v : values) squares += (v - value) * (v - value);
  const double reach =
      student_t(static_cast<int>(values.size()) - 1) * std::sqrt(squares / (n - 1.0) / n);
  return {value, value - reach, value + reach, true};
}

Estimate estimate_share(std::span<const double> values) {
  Estimate share = estimate_mean(values);
  share.low = std::max(share.low, 0.0);
  share.high = std::min(share.high, 1.0);
  return share;
}

Estimate estimate_difference(std::span<const double> differences) {
  constexpr double kRounding = 1e-12;
  const Estimate all = estimate_mean(differences);
  const auto [least, most] = std::ranges::minmax(differences);
  if (most - least > kRounding) return all;
  return {all.value, all.value, all.value, false};
}

Estimate difference_of(const Estimate& a, const Estimate& b) {
  const double value = a.value - b.value;
  const double low = value - std::hypot(a.value - a.low, b.high - b.value),
               high = value + std::hypot(a.high - a.value, b.value - b.low);
  return {value, low, high, a.known && b.known && low < high};
}

double interquartile_mean(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t cut = values.size() / 4;
  return mean(std::span(values).subspan(cut, values.size() - 2 * cut));
}

Estimate estimate_interquartile_mean(std::span<const double> values, int resamples) {
  return estimate(values, resamples, interquartile_mean);
}

double improvement_probability(std::span<const double> ours, std::span<const double> theirs) {
  double better = 0.0;
  for (const double x : ours)
    for (const double y : theirs) better += x < y ? 1.0 : x == y ? 0.5 : 0.0;
  return better / static_cast<double>(ours.size() * theirs.size());
}

Estimate estimate_improvement(std::span<const double> ours, std::span<const double> theirs,
                              int resamples) {
  const double value = improvement_probability(ours, theirs);
  if (ours.size() < 2 || theirs.size() < 2) return {value, value, value, false};
  std::vector<double> x, y;
  return interval(value, resamples, [&](RandomStream& stream) {
    resample(x, ours, stream);
    resample(y, theirs, stream);
    return improvement_probability(x, y);
  });
}

}  // namespace saccade
