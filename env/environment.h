#pragma once

#include <cstdint>
#include <functional>
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

/// What an agent has to say.
enum class AnswerKind {
  one_class,  // one of C classes, at the end: answer()
  sequence,   // of C symbols, the last of which is the end mark, at the end: answer_sequence()
  actions,    // one of C actions at every step: act()
};

/// A batch of B episodes that are looked at together.
///
/// The legal order of calls is reset, look and view any number of times, answer once (by the call
/// of answer_kind()), and again from reset; any other order, and the call of another answer kind,
/// throws std::logic_error. Where the answer is actions, act() stands between the looks any number
/// of times, and the next reset() ends the episodes. There is no automatic reset: after the answer
/// the facts stay until the next reset(). A call covers all B episodes, writes into memory of the
/// caller and allocates nothing. The same (seed, first_scene, locations, actions) gives the same
/// bits. An environment is used by one thread at a time; environments do not share state.
///
/// Episodes that do not begin and end together (env/vector_environment.h) are restarted and judged
/// one by one, between reset() and the call that would answer for all.
///
/// An environment may be looked at (glimpse_size() > 0), viewed (canvas().pixels() > 0), or both.
class Environment {
 public:
  virtual ~Environment() = default;

  virtual int episodes() const = 0;                 // B
  virtual int glimpse_size() const = 0;             // D; 0: it cannot be looked at
  virtual int num_classes() const = 0;              // C: classes, symbols or actions
  virtual CanvasSize canvas() const { return {}; }  // where there is one
  virtual AnswerKind answer_kind() const { return AnswerKind::one_class; }
  virtual int max_symbols() const { return 0; }  // J: of the longest sequence, end mark included

  /// Whether the facts change while an episode lasts.
  bool moves() const { return answer_kind() == AnswerKind::actions; }

  /// The most that an episode of so many acts can earn; of other answers 1.
  virtual float best_return(int) const { return 1.0F; }

  /// Begins B new episodes. Scenes are numbered from `first_scene`; see each environment for how
  /// many scenes B episodes use.
  void reset(std::uint64_t first_scene);
  /// What is seen at locations (B, 2), (x, y) in [-1, 1]: glimpses (B, D), values in [0, 1]. A
  /// location outside, or not a number, throws std::out_of_range.
  void look(ConstMatrix locations, Matrix glimpses);
  /// What is seen at places (K, 2) in every episode: glimpses (B K, D), row b K + k. Places as in
  /// look().
  void look_at_all(ConstMatrix places, Matrix glimpses);
  /// What is seen at locations (B, 2) between pixels, so that it changes smoothly with them:
  /// glimpses (B, D) as in look(), and slopes (B, 2 D), the derivatives of a glimpse by x and then
  /// by y (Retina::look_smoothly). They are written with it, for a world may have moved on by the
  /// time of the way back.
  void look_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes);
  /// The whole canvases as they are now, for agents that see them: (B, channels * rows * cols),
  /// values in [0, 1].
  void view(Matrix canvases);
  /// Adds to dcanvas (channels * rows * cols), the gradient of a canvas as view() shows it, what
  /// the gradient dglimpse (D) of a look at (x, y) says of it. Environments without a retina throw
  /// std::logic_error.
  virtual void look_backward(std::span<float> dcanvas, float x, float y,
                             std::span<const float> dglimpse) const;
  /// The same of look_smoothly().
  virtual void look_smoothly_backward(std::span<float> dcanvas, float x, float y,
                                      std::span<const float> dglimpse) const;
  /// The agent's classes (B) end the episodes; rewards (B): 1 for the right class, else 0.
  void answer(std::span<const int> classes, std::span<float> rewards);
  /// The agent's symbols (B, J) end the episodes; what follows an end mark does not count. Rewards
  /// (B): 1 where the whole sequence is right, end mark included, else 0.
  void answer_sequence(std::span<const int> symbols, std::span<float> rewards);
  /// The agent's actions (B) move the world on by one step; rewards (B): what the step earned. An
  /// action outside 0 .. C - 1 throws std::out_of_range and nothing moves.
  void act(std::span<const int> actions, std::span<float> rewards);

  /// Begins another scene in one episode; the others go on. Environments whose episodes share
  /// scenes or that have no such call throw std::logic_error.
  void restart(int episode, std::uint64_t scene);
  /// What is seen in one episode at a location as in look(): glimpse (D).
  void look(int episode, float x, float y, std::span<float> glimpse);
  /// What answer() and answer_sequence() would pay one episode for this class (1) or these symbols
  /// (J). It ends nothing.
  float judge(int episode, std::span<const int> said) const;

  /// What is true of each episode (B), apart from the observation; valid from reset() on, and
  /// changed by act() and restart() alone.
  virtual std::span<const SceneFacts> facts() const = 0;

 protected:
  virtual void begin(std::uint64_t first_scene) = 0;
  /// Environments without a retina, a grid, a canvas, actions or episodes of their own need not
  /// have them: std::logic_error.
  virtual void begin_one(int episode, std::uint64_t scene);
  virtual void observe(ConstMatrix locations, Matrix glimpses);
  virtual void observe_one(int episode, float x, float y, float* glimpse);
  virtual void observe_all(ConstMatrix places, Matrix glimpses);
  virtual void observe_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes);
  virtual void observe_canvases(Matrix canvases);
  /// One step of the world; writes every reward. The actions are in range.
  virtual void advance(std::span<const int> actions, std::span<float> rewards);

 private:
  void check_call(const char* call, AnswerKind kind) const;

  bool running_ = false;
};

/// Makes an environment of `episodes` episodes, `rollouts` of which in a row share a scene.
using EnvironmentFactory = std::function<std::unique_ptr<Environment>(int episodes, int rollouts)>;

/// What environments that are seen through a retina have in common: the facts of B episodes, and
/// canvases that `sharing` episodes in a row look at, prepared once.
class RetinaEnvironment : public Environment {
 public:
  int episodes() const override { return static_cast<int>(facts_.size()); }
  int glimpse_size() const override { return retina_.glimpse_size(); }
  std::span<const SceneFacts> facts() const override { return facts_; }
  void look_backward(std::span<float> dcanvas, float x, float y,
                     std::span<const float> dglimpse) const override {
    retina_.look_backward(dcanvas, x, y, dglimpse);
  }
  void look_smoothly_backward(std::span<float> dcanvas, float x, float y,
                              std::span<const float> dglimpse) const override {
    retina_.look_smoothly_backward(dcanvas, x, y, dglimpse);
  }

 protected:
  /// Keeps a copy of `retina`. episodes is a multiple of sharing.
  RetinaEnvironment(const Retina& retina, int episodes, int sharing);

  /// Shows a canvas, (channels, rows, cols), to the episode and those that share it.
  void show(int episode, std::span<const std::uint8_t> canvas);

  std::vector<SceneFacts> facts_;  // (B)

 private:
  void observe(ConstMatrix locations, Matrix glimpses) override;
  void observe_one(int episode, float x, float y, float* glimpse) override;
  void observe_all(ConstMatrix places, Matrix glimpses) override;
  void observe_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes) override;
  void observe_canvases(Matrix canvases) override;
  std::span<const std::byte> prepared(int episode) const;
  std::size_t offset(int episode) const { return episode / sharing_ * retina_.prepared_size(); }

  Retina retina_;
  int sharing_;
  std::vector<std::byte> prepared_;  // (B / sharing, retina.prepared_size())
};

/// Glimpses of scenes with digits. `rollouts` (M) episodes in a row share a scene, so that B
/// episodes use B / M scenes, numbered from first_scene. The answer is a class, or a sequence where
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
