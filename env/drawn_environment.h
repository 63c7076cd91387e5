#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/environment.h"
#include "env/split.h"
#include "nn/random.h"

namespace saccade {

/// Base of worlds whose scenes stand still, are drawn one by one from random numbers, and ask for a
/// class: a world is then its sizes and draw(). `rollouts` (M) consecutive episodes share a scene,
/// so that B episodes use B / M scenes; scene n differs between the splits.
class DrawnEnvironment : public RetinaEnvironment {
 public:
  int num_classes() const override { return sizes_.num_classes; }
  CanvasSize canvas() const override { return sizes_.canvas; }

 protected:
  /// Keeps a copy of `retina`, which must be for a canvas of this size. episodes is a multiple of
  /// rollouts.
  DrawnEnvironment(const EnvironmentSizes& sizes, const Retina& retina, Split split,
                   std::uint64_t seed, int episodes, int rollouts);

  /// Draws a scene on a black canvas, (channels, rows, cols), and says what is true of it: at least
  /// the label, and the boxes of num_digits things, whose regions follow. Takes all that is random
  /// from `stream`, which is the scene's own, and so depends on nothing else.
  virtual void draw(RandomStream& stream, std::span<std::uint8_t> canvas, SceneFacts& facts) = 0;

 private:
  void begin(std::uint64_t first_scene) override;
  void begin_one(int episode, std::uint64_t scene) override;
  void show_scene(int episode, std::uint64_t scene);

  EnvironmentSizes sizes_;
  Split split_;
  std::uint64_t seed_;
  int rollouts_;
  std::vector<std::uint8_t> canvas_;  // (channels, rows, cols), of one scene
};

}  // namespace saccade
