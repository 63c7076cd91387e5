#pragma once

#include <cstdint>

#include "env/environment.h"
#include "env/scene_source.h"

namespace saccade {

/// Scenes from a SceneSource, whose answer is a class. `rollouts` (M) consecutive episodes share a
/// scene, so that B episodes use B / M scenes, numbered from first_scene. reset() and restart()
/// wait for the scenes, and throw what the source throws.
class SourceEnvironment final : public RetinaEnvironment {
 public:
  /// Keeps a reference to `source`, whose canvases are of `canvas` and whose labels are below
  /// `classes`, and a copy of `retina`. episodes is a multiple of rollouts.
  SourceEnvironment(SceneSource& source, const CanvasSize& canvas, int classes,
                    const Retina& retina, int episodes, int rollouts)
      : RetinaEnvironment(retina, episodes, rollouts),
        source_(source),
        canvas_(canvas),
        classes_(classes),
        rollouts_(rollouts) {}

  int num_classes() const override { return classes_; }
  CanvasSize canvas() const override { return canvas_; }

 private:
  void begin(std::uint64_t first_scene) override;
  void begin_one(int episode, std::uint64_t scene) override;
  void show_scene(int episode, std::span<const std::uint8_t> canvas, const SceneFacts& facts);

  SceneSource& source_;
  CanvasSize canvas_;
  int classes_;
  int rollouts_;
};

}  // namespace saccade
