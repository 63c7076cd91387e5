// Pictures by their pixels, and the episode that a picture shows.
#pragma once

#include "agent/model/rollout.h"
#include "experiments/pictures/colours.h"
#include "experiments/pictures/episode_picture.h"
#include "experiments/task/task.h"

namespace saccade {

/// Number of the pixels in a box for which `is(place)` holds.
template <class Is>
int count_pixels(Box box, const Is& is) {
  int count = 0;
  for (int y = box.y; y < box.y + box.height; ++y)
    for (int x = box.x; x < box.x + box.width; ++x) count += is(Point{x, y});
  return count;
}

inline Box whole_of(const Picture& picture) { return {0, 0, picture.cols(), picture.rows()}; }

inline int count_colour(const Picture& picture, Colour colour, Box box) {
  return count_pixels(box, [&](Point at) { return picture.at(at) == colour; });
}

inline bool has_colour(const Picture& picture, Colour colour) {
  return count_colour(picture, colour, whole_of(picture)) > 0;
}

/// Number of pixels in a box that are not paper.
inline int drawn_in(const Picture& picture, Box box) {
  return box.width * box.height - count_colour(picture, kPaper, box);
}

/// The first scene of a split as an agent plays it, and every canvas of the episode.
struct PlayedScene {
  PlayedScene(const Task& task, Split split, std::span<const float> weights,
              RolloutRequest request = {.sampling = SamplingMode::deterministic})
      : rollout(task.model, task.environments(split)(1, 1)),
        canvases(zeros<3>(rollout.core.steps, 1, task.model.canvas().pixels())) {
    request.classify_every_step = true;
    request.canvases = &canvases;
    rollout.run(weights, request);
  }
  Episode episode() { return {rollout, canvases, 0}; }

  Rollout rollout;
  Tensor<3> canvases;
};

}  // namespace saccade
