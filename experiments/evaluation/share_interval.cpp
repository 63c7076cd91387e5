#include "experiments/evaluation/share_interval.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace saccade {

void wilson_interval(double share, double count, double& low, double& high) {
  constexpr double z = 1.959963985;
  const double n = count;
  const double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  // Makes the ends exact at 0 and 1 despite rounding of the other terms.
  low = share > 0.0 ? centre - half : 0.0;
  high = share < 1.0 ? centre + half : 1.0;
}

namespace {

// Groups scenes by what they show: scenes that show exactly the same set of images form a group.
struct Groups {
  // Images of a group -> sum of (value - share) over its scenes.
  std::map<std::vector<int>, double> rests;
  double squares = 0.0;  // sum of (value - share)^2, scenes without images
  int alone = 0;         // number of those scenes
  std::map<int, std::vector<int>> groups_of_images;  // values index into `rests`

  Groups(std::span<const float> values, std::span<const Shown> shown, double share) {
    std::vector<std::vector<int>> images(values.size());
    for (const Shown& one : shown) images[one.scene].push_back(one.image);
    for (std::size_t scene = 0; scene < values.size(); ++scene) {
      const double rest = values[scene] - share;
      std::vector<int>& of = images[scene];
      std::ranges::sort(of);
      of.erase(std::unique(of.begin(), of.end()), of.end());
      if (of.empty()) {
        ++alone;
        squares += rest * rest;
      } else {
        rests[std::move(of)] += rest;
      }
    }
    int number = 0;
    for (const auto& [of, rest] : rests) {
      for (const int image : of) groups_of_images[image].push_back(number);
      ++number;
    }
  }

  int images() const { return static_cast<int>(groups_of_images.size()) + alone; }

  // Returns whether any scenes share an image.
  bool overlap(std::size_t scenes) const {
    return rests.size() + alone < scenes ||
           std::ranges::any_of(groups_of_images,
                               [](const auto& of) { return of.second.size() > 1; });
  }

  // Returns the sum of products of the residuals over all pairs of scenes that share an image.
  double products() const {
    std::vector<double> rest_of;
    for (const auto& [of, rest] : rests) rest_of.push_back(rest);
    std::vector<int> met(rest_of.size(), -1);  // the last group each was multiplied with
    double sum = squares;
    int number = 0;
    for (const auto& [of, rest] : rests) {
      for (const int image : of)
        for (const int other : groups_of_images.at(image))
          if (std::exchange(met[other], number) != number) sum += rest * rest_of[other];
      ++number;
    }
    return sum;
  }
};

}  // namespace

ShareInterval share_interval(std::span<const float> values, std::span<const Shown> shown) {
  const auto scenes = static_cast<double>(values.size());
  ShareInterval interval;
  interval.share = std::accumulate(values.begin(), values.end(), 0.0) / scenes;
  const Groups groups(values, shown, interval.share);
  interval.images = groups.images();
  const double spread = interval.share * (1.0 - interval.share);
  double trials = scenes;
  if (groups.overlap(values.size())) {
    const double variance = groups.products() / (scenes * scenes);
    if (spread == 0.0)  // the correlation between scenes that show the same image cannot be
                        // estimated
      trials = std::min(scenes, static_cast<double>(interval.images));
    else if (variance * scenes > spread)
      trials = spread / variance;
  }
  wilson_interval(interval.share, trials, interval.low, interval.high);
  return interval;
}

}  // namespace saccade
