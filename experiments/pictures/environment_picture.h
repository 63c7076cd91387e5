#pragma once

#include <string>

#include "env/vector_environment.h"
#include "experiments/pictures/episode_picture.h"
#include "experiments/pictures/picture.h"
#include "experiments/task/task.h"

namespace saccade {

/// Draws episodes that the caller plays, in the style of an agent's video (EpisodePicture): the
/// current canvas with the looks so far, the observation of the last look, the last answer as if it
/// were certain, and the verdict once the episode has ended.
class EnvironmentPicture {
 public:
  /// Keeps references to both. The model of `task` looks at points, as many times as the rules of
  /// the environments say (attention.glimpse.kind: random); it is not run.
  EnvironmentPicture(const Task& task, const VectorEnvironment& environments, std::string name);

  /// Draws the episode of environment i, after the first reset(). Rows and columns are even, for
  /// videos.
  Picture draw(int i);

 private:
  const Task& task_;
  const VectorEnvironment& environments_;
  EpisodePicture panel_;
  Rollout rollout_;     // one episode; draw() fills in look and answer
  Tensor<3> canvases_;  // (T, 1, pixels)
};

}  // namespace saccade
