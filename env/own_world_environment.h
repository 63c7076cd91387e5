#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "env/environment.h"
#include "env/own_world.h"
#include "env/split.h"

namespace saccade {

/// What an agent sees and does in an OwnWorld.
struct OwnWorldSpec {
  int glimpse_size = 0;                       // D
  int num_classes = 0;                        // C: classes, or actions
  AnswerKind answer = AnswerKind::one_class;  // or actions
  float best_return = 1.0F;                   // of actions: see Environment::best_return()
};

/// Glimpses of a world that a program gives. It has no canvas and no retina: it can be looked at,
/// at single points, and not be viewed; values are any finite numbers. `rollouts` (M) consecutive
/// episodes share a scene, so that B episodes use B / M scenes, numbered from first_scene, for
/// validation from 2^61 + first_scene and for the test from 2^62 + first_scene on. Facts have no
/// digits.
///
/// Calls throw OwnPartError, naming the scenes, if the world throws or gives a number that is not
/// finite, a class that is not below C, or a location outside [-1, 1].
class OwnWorldEnvironment final : public Environment {
 public:
  /// Makes the world. episodes is a multiple of rollouts.
  OwnWorldEnvironment(const OwnWorldMaker& make, const OwnWorldSpec& spec, Split split,
                      int episodes, int rollouts);

  int episodes() const override { return static_cast<int>(facts_.size()); }
  int glimpse_size() const override { return spec_.glimpse_size; }
  int num_classes() const override { return spec_.num_classes; }
  AnswerKind answer_kind() const override { return spec_.answer; }
  float best_return(int) const override { return spec_.best_return; }
  /// A label is -1 until the world says it.
  std::span<const SceneFacts> facts() const override { return facts_; }
  void find_places(Matrix locations) const override;

 private:
  void begin(std::uint64_t first_scene) override;
  void observe(ConstMatrix locations, Matrix glimpses) override;
  void observe_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes) override;
  void advance(std::span<const int> actions, std::span<float> rewards) override;

  template <class Call>
  void ask(const char* method, const Call& call);
  void take_labels();

  const OwnWorldSpec spec_;
  const std::uint64_t first_of_split_;
  const int rollouts_;
  std::vector<std::int64_t> scenes_;  // (B)
  std::vector<int> labels_;           // (B)
  Tensor<2> places_;                  // (B, 2): of the last look
  std::vector<SceneFacts> facts_;     // (B)
  std::unique_ptr<OwnWorld> world_;
};

}  // namespace saccade
