#pragma once

#include <string>

#include "env/vector_environment.h"
#include "experiments/pictures/episode_picture.h"
#include "experiments/pictures/picture.h"

namespace saccade {

/// Draws episodes that the caller plays, in the style of an agent's video (EpisodePicture): the
/// current canvas with the looks so far, the observation of the last look, the last answer as if it
/// were certain, and the verdict once the episode has ended.
class EnvironmentPicture {
 public:
  /// Keeps references to both.
  EnvironmentPicture(const World& world, const VectorEnvironment& environments, std::string name);

  /// Draws the episode of environment i, after the first reset(). Rows and columns are even, for
  /// videos.
  Picture draw(int i);

 private:
  const PicturedAgent caller_;  // who looks and answers
  const VectorEnvironment& environments_;
  EpisodePicture panel_;
  Tensor<3> canvases_;  // (T, 1, pixels)
};

}  // namespace saccade
