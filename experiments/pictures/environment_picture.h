#pragma once

#include <string>

#include "env/vector_environment.h"
#include "experiments/pictures/episode_picture.h"
#include "experiments/pictures/picture.h"
#include "experiments/task/task.h"

namespace saccade {

/// Draws episodes that somebody else plays as a video shows those of an agent (EpisodePicture): the
/// canvas as it is now with the looks so far, what was seen in the last of them, the last answer as
/// if it were certain, and the verdict once the episode has ended.
class EnvironmentPicture {
 public:
  /// Keeps references to both. The model of `task` looks at points, as often as the rules of the
  /// environments say (attention.glimpse.kind: random), and is asked for nothing else.
  EnvironmentPicture(const Task& task, const VectorEnvironment& environments, std::string name);

  /// The episode of environment i, after the first reset(). Rows and columns are even, for videos.
  Picture draw(int i);

 private:
  const Task& task_;
  const VectorEnvironment& environments_;
  EpisodePicture panel_;
  Rollout rollout_;     // of one episode, whose look and answer are put in by draw()
  Tensor<3> canvases_;  // (T, 1, pixels)
};

}  // namespace saccade
