#include "experiments/evaluation/share_interval.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace saccade {

void wilson_interval(double share, double count, double& low, double& high, double quantile) {
  const double n = count, z = quantile;
  const double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  // Makes the ends exact at 0 and 1 despite rounding of the other terms.
  low = share > 0.0 ? centre - half : 0.0;
  high = share < 1.0 ? centre + half : 1.0;
}

SceneGroups::SceneGroups(int scenes, std::span<const Shown> shown) : group_of_scene_(scenes, -1) {
  std::vector<std::vector<int>> images(scenes);
  for (const Shown& one : shown) images[one.scene].push_back(one.image);
  std::map<std::vector<int>, std::vector<int>> scenes_of;  // of each set of images
  for (int scene = 0; scene < scenes; ++scene) {
    std::vector<int>& of = images[scene];
    std::ranges::sort(of);
    of.erase(std::unique(of.begin(), of.end()), of.end());
    if (of.empty())
      ++alone_;
    else
      scenes_of[std::move(of)].push_back(scene);
  }
  std::map<int, int> numbers;  // of images
  for (const auto& [of, group] : scenes_of) {
    const int number = static_cast<int>(images_.size());
    for (const int scene : group) group_of_scene_[scene] = number;
    std::vector<int>& here = images_.emplace_back();
    for (const int image : of) {
      const auto [found, is_new] =
          numbers.emplace(image, static_cast<int>(groups_of_images_.size()));
      if (is_new) groups_of_images_.emplace_back();
      here.push_back(found->second);
      groups_of_images_[found->second].push_back(number);
    }
  }
  overlap_ = static_cast<int>(images_.size()) + alone_ < scenes ||
             std::ranges::any_of(groups_of_images_, [](const auto& of) { return of.size() > 1; });
}

double SceneGroups::variance(std::span<const float> values, double mean) const {
  double sum = 0.0;                                // of the products
  std::vector<double> rests(images_.size(), 0.0);  // sum of (value - mean) over a group's scenes
  for (std::size_t scene = 0; scene < values.size(); ++scene) {
    const double rest = values[scene] - mean;
    if (const int group = group_of_scene_[scene]; group >= 0)
      rests[group] += rest;
    else
      sum += rest * rest;
  }
  std::vector<int> met(images_.size(), -1);  // the last group each was multiplied with
  for (int group = 0; group < static_cast<int>(images_.size()); ++group)
    for (const int image : images_[group])
      for (const int other : groups_of_images_[image])
        if (std::exchange(met[other], group) != group) sum += rests[group] * rests[other];
  const auto scenes = static_cast<double>(values.size());
  return std::max(0.0, sum) / (scenes * scenes) * clusters() / (clusters() - 1.0);
}

ShareInterval SceneGroups::share(std::span<const float> values) const {
  const auto scenes = static_cast<double>(values.size());
  ShareInterval interval;
  interval.share = std::accumulate(values.begin(), values.end(), 0.0) / scenes;
  interval.images = images();
  if (!overlap_) {
    wilson_interval(interval.share, scenes, interval.low, interval.high);
  } else if (clusters() == 1) {
    interval.high = 1.0;
  } else {
    const double spread = interval.share * (1.0 - interval.share);
    // Without spread the correlation between scenes that show the same image cannot be estimated.
    const double trials = spread == 0.0 ? clusters() : spread / variance(values, interval.share);
    wilson_interval(interval.share, std::min(scenes, trials), interval.low, interval.high,
                    student_t(clusters() - 1));
  }
  return interval;
}

MeanInterval SceneGroups::mean(std::span<const float> values) const {
  const auto scenes = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / scenes;
  if (clusters() == 1) {
    const auto [least, most] = std::ranges::minmax(values);
    return {mean, least, most};
  }
  const double half = student_t(clusters() - 1) * std::sqrt(variance(values, mean));
  return {mean, mean - half, mean + half};
}

ShareInterval share_interval(std::span<const float> values, std::span<const Shown> shown) {
  return SceneGroups(static_cast<int>(values.size()), shown).share(values);
}

}  // namespace saccade
