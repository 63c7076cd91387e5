#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/student_t.h"

namespace saccade {

/// Wilson score interval (1927) at 95 % of a share of `count` independent trials. `quantile` is
/// that of Student's t where the variance behind `count` was estimated from few values.
void wilson_interval(double share, double count, double& low, double& high,
                     double quantile = kNormalQuantile);

/// A scene shows an image; both are indices.
struct Shown {
  int scene = 0, image = 0;
};

/// Mean of numbers in [0, 1] with its 95 % interval.
struct ShareInterval {
  double share = 0.0, low = 0.0, high = 0.0;
  int images = 0;  // distinct images shown; a scene that shows none counts as one of its own
};

/// Mean of any numbers with its 95 % interval.
struct MeanInterval {
  double mean = 0.0, low = 0.0, high = 0.0;
};

/// Which of N scenes show the same images: found once for several means over these scenes.
class SceneGroups {
 public:
  SceneGroups(int scenes, std::span<const Shown> shown);

  /// As share_interval. `values` (N) are in [0, 1].
  ShareInterval share(std::span<const float> values) const;
  /// Student's t interval with the variance that share_interval uses, where results of scenes that
  /// share an image may be correlated. Of a single image it is the range of the values.
  MeanInterval mean(std::span<const float> values) const;

 private:
  int images() const { return static_cast<int>(groups_of_images_.size()) + alone_; }
  // Of the residuals: the number of images or, if fewer, of scenes.
  int clusters() const { return std::min(images(), static_cast<int>(group_of_scene_.size())); }
  // The variance of the mean of `values`, from the products of the residuals of all pairs of scenes
  // that share an image. Requires two clusters.
  double variance(std::span<const float> values, double mean) const;

  // Scenes that show exactly the same set of images form a group; those without images have none.
  std::vector<int> group_of_scene_;       // (N); -1: none
  std::vector<std::vector<int>> images_;  // by group: indices into groups_of_images_
  std::vector<std::vector<int>> groups_of_images_;
  int alone_ = 0;         // scenes without images
  bool overlap_ = false;  // whether any scenes share an image
};

/// Interval of a mean over scenes, some of which share images. It is Wilson's with the effective
/// number of trials given by the variance of the mean (the design effect; Kish 1965), where results
/// of scenes that share an image may be correlated (multiway clusters; Cameron, Gelbach and Miller
/// 2011): that number is the number of scenes if each shows something different, and about the
/// number of images G if all scenes of an image have the same result. The variance then has G - 1
/// degrees of freedom, so the quantile is Student's; of a single image the interval is [0, 1].
ShareInterval share_interval(std::span<const float> values, std::span<const Shown> shown);

}  // namespace saccade
