#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "env/own_world.h"

namespace saccade {

/// A world whose values in [0, 1] depend on the scene, on the location and on the actions so far.
/// The class of scene n is n mod `classes`; action 0 earns 1, others nothing.
class WaveWorld final : public OwnWorld {
 public:
  WaveWorld(int episodes, int classes) : scenes_(episodes), acts_(episodes), classes_(classes) {}

  void reset(std::span<const std::int64_t> scenes, std::span<int> labels) override {
    std::ranges::copy(scenes, scenes_.begin());
    std::ranges::fill(acts_, 0);
    for (std::size_t b = 0; b < labels.size(); ++b)
      labels[b] = static_cast<int>(scenes[b] % classes_);
  }
  void look(Matrix locations, Matrix glimpses, std::span<int>) override {
    for (int b = 0; b < glimpses.rows; ++b)
      for (int i = 0; i < glimpses.cols; ++i) {
        const auto phase = static_cast<float>(scenes_[b] % 1013 + 3 * acts_[b] + i);
        glimpses(b, i) = 0.5F + 0.5F * std::sin(phase + locations(b, 0) - 2.0F * locations(b, 1));
      }
  }
  void act(std::span<const int> actions, std::span<float> rewards) override {
    for (std::size_t b = 0; b < actions.size(); ++b) {
      acts_[b] += actions[b] + 1;
      rewards[b] = actions[b] == 0 ? 1.0F : 0.0F;
    }
  }

 private:
  std::vector<std::int64_t> scenes_;  // (B)
  std::vector<int> acts_;             // (B)
  int classes_;
};

inline OwnWorldMaker wave_worlds(int classes) {
  return [classes](int episodes) { return std::make_unique<WaveWorld>(episodes, classes); };
}

}  // namespace saccade
