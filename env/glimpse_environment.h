#pragma once

#include <cstdint>

#include "env/environment.h"
#include "env/scene.h"

namespace saccade {

/// Glimpses of scenes with digits. `rollouts` (M) consecutive episodes share a scene, so that B
/// episodes use B / M scenes, numbered from first_scene. The answer is a class, or a sequence if
/// the scenes have symbols (scene.kind: transcribe).
class GlimpseEnvironment final : public RetinaEnvironment {
 public:
  /// Keeps copies of `scenes` and `retina`. episodes is a multiple of rollouts.
  GlimpseEnvironment(const SceneMaker& scenes, const Retina& retina, int episodes, int rollouts);

  int num_classes() const override { return scenes_.num_classes(); }
  CanvasSize canvas() const override {
    return {scenes_.channels(), scenes_.rows(), scenes_.cols()};
  }
  AnswerKind answer_kind() const override {
    return scenes_.max_symbols() > 0 ? AnswerKind::sequence : AnswerKind::one_class;
  }
  int max_symbols() const override { return scenes_.max_symbols(); }

 private:
  void begin(std::uint64_t first_scene) override;
  void begin_one(int episode, std::uint64_t scene) override;

  SceneMaker scenes_;
  int rollouts_;
  SceneMaker::Buffer buffer_;
};

}  // namespace saccade
