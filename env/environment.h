#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "env/retina.h"
#include "env/scene.h"
#include "nn/tensor.h"

namespace saccade {

struct CanvasSize {
  int channels = 1;
  int rows = 0;
  int cols = 0;

  int pixels() const { return channels * rows * cols; }
};

/// A batch of B episodes that are looked at together.
///
/// The legal order of calls is reset, look any number of times, answer once, and again from reset;
/// any other order throws std::logic_error. There is no automatic reset: after answer() the facts
/// stay until the next reset(). A call covers all B episodes, writes into memory of the caller and
/// allocates nothing. The same (seed, first_scene, locations) gives the same bits. An environment
/// is used by one thread at a time; environments do not share state.
class Environment {
 public:
  virtual ~Environment() = default;

  virtual int episodes() const = 0;                 // B
  virtual int glimpse_size() const = 0;             // D
  virtual int num_classes() const = 0;              // C
  virtual CanvasSize canvas() const { return {}; }  // where there is one

  /// Begins B new episodes. Scenes are numbered from `first_scene`; see each environment for how
  /// many scenes B episodes use.
  void reset(std::uint64_t first_scene);
  /// What is seen at locations (B, 2), (x, y) in [-1, 1]: glimpses (B, D), values in [0, 1]. A
  /// location outside, or not a number, throws std::out_of_range.
  void look(ConstMatrix locations, Matrix glimpses);
  /// What is seen at places (K, 2) in every episode: glimpses (B K, D), row b K + k. Places as in
  /// look().
  void look_at_all(ConstMatrix places, Matrix glimpses);
  /// The whole canvases, for agents that see them: (B, channels * rows * cols), values in [0, 1].
  void view(Matrix canvases);
  /// The agent's classes (B) end the episodes; rewards (B): 1 for the right class, else 0.
  void answer(std::span<const int> classes, std::span<float> rewards);

  /// What is true of each episode (B), apart from the observation; valid from reset() on.
  virtual std::span<const SceneFacts> facts() const = 0;

 protected:
  virtual void begin(std::uint64_t first_scene) = 0;
  virtual void observe(ConstMatrix locations, Matrix glimpses) = 0;
  /// Environments without a grid or a canvas need not have them: std::logic_error.
  virtual void observe_all(ConstMatrix places, Matrix glimpses);
  virtual void observe_canvases(Matrix canvases);

 private:
  bool running_ = false;
};

/// Glimpses of scenes with digits. `rollouts` (M) episodes in a row share a scene, so that B
/// episodes use B / M scenes, numbered from first_scene.
class GlimpseEnvironment final : public Environment {
 public:
  /// Keeps copies of `scenes` and `retina`. episodes is a multiple of rollouts.
  GlimpseEnvironment(const SceneMaker& scenes, const Retina& retina, int episodes, int rollouts);

  int episodes() const override { return static_cast<int>(facts_.size()); }
  int glimpse_size() const override { return retina_.glimpse_size(); }
  int num_classes() const override { return scenes_.num_classes(); }
  CanvasSize canvas() const override {
    return {scenes_.channels(), scenes_.rows(), scenes_.cols()};
  }
  std::span<const SceneFacts> facts() const override { return facts_; }

 private:
  void begin(std::uint64_t first_scene) override;
  void observe(ConstMatrix locations, Matrix glimpses) override;
  void observe_all(ConstMatrix places, Matrix glimpses) override;
  void observe_canvases(Matrix canvases) override;
  std::span<const std::byte> prepared(int episode) const;

  SceneMaker scenes_;
  Retina retina_;
  int rollouts_;
  SceneMaker::Buffer buffer_;
  std::vector<SceneFacts> facts_;    // (B)
  std::vector<std::byte> prepared_;  // (B / M, retina.prepared_size())
};

}  // namespace saccade
