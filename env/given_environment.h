#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/environment.h"

namespace saccade {

/// The answer spec: what is asked about scenes that the caller supplies.
struct AnswerSpec {
  AnswerKind kind = AnswerKind::one_class;  // not actions: a fixed picture does not move
  int num_classes = 10;                     // C
  int max_symbols = 0;                      // J, for sequences
};

/// Scenes that the caller supplies as whole canvases, with optional class labels: facts have no
/// digits. Scene n is canvas n mod N; no two episodes share one.
class CanvasEnvironment final : public RetinaEnvironment {
 public:
  /// Keeps references to `canvases` (N, channels, rows, cols), N >= 1, of `size`, and to `labels`
  /// (N), which may be empty. Keeps a copy of `retina`, which must be for canvases of that size.
  CanvasEnvironment(std::span<const std::uint8_t> canvases, std::span<const int> labels,
                    const CanvasSize& size, const Retina& retina, const AnswerSpec& answer_spec,
                    int episodes);

  int num_classes() const override { return answer_spec_.num_classes; }
  CanvasSize canvas() const override { return size_; }
  AnswerKind answer_kind() const override { return answer_spec_.kind; }
  int max_symbols() const override { return answer_spec_.max_symbols; }

 private:
  void begin(std::uint64_t first_scene) override;
  void begin_one(int episode, std::uint64_t scene) override;

  std::span<const std::uint8_t> canvases_;
  std::span<const int> labels_;
  CanvasSize size_;
  AnswerSpec answer_spec_;
};

/// Scenes for which the caller supplies only the glimpses, at whatever locations they were taken: a
/// look of scene n shows what row n mod N of `glimpses` holds at the time. Slopes are unknown and
/// written as 0.
class GlimpseArrayEnvironment final : public Environment {
 public:
  /// Keeps a reference to `glimpses` (N, D), N >= 1.
  GlimpseArrayEnvironment(const Tensor<2>& glimpses, const CanvasSize& size,
                          const AnswerSpec& answer_spec, int episodes, int location_size = 2);

  int episodes() const override { return static_cast<int>(facts_.size()); }
  int glimpse_size() const override { return static_cast<int>(glimpses_.shape()[1]); }
  int location_size() const override { return location_size_; }
  int num_classes() const override { return answer_spec_.num_classes; }
  CanvasSize canvas() const override { return size_; }
  AnswerKind answer_kind() const override { return answer_spec_.kind; }
  int max_symbols() const override { return answer_spec_.max_symbols; }
  std::span<const SceneFacts> facts() const override { return facts_; }

 private:
  void begin(std::uint64_t first_scene) override;
  void observe(ConstMatrix locations, Matrix glimpses) override;
  void observe_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes) override;

  const Tensor<2>& glimpses_;
  CanvasSize size_;
  int location_size_;
  AnswerSpec answer_spec_;
  std::uint64_t first_scene_ = 0;
  std::vector<SceneFacts> facts_;  // (B)
};

}  // namespace saccade
