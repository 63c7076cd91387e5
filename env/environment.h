#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "env/retina.h"
#include "env/scene_facts.h"
#include "nn/tensor.h"

namespace saccade {

struct CanvasSize {
  int channels = 1;
  int rows = 0;
  int cols = 0;

  int pixels() const { return channels * rows * cols; }
  bool operator==(const CanvasSize&) const = default;
};

/// The kind of answer that an environment expects.
enum class AnswerKind {
  one_class,  // one of C classes, at the end: answer()
  sequence,   // of C symbols, the last of which is the end mark, at the end: answer_sequence()
  actions,    // one of C actions at every step: act()
};

/// The sizes of a task's environments, known before one is made.
struct EnvironmentSizes {
  int num_classes = 0;  // C
  CanvasSize canvas = {};
  int max_symbols = 0;   // J; 0: the answer is no sequence
  int glimpse_size = 0;  // D, of environments without a retina; 0: the retina says it
};

/// A batch of B episodes that are stepped together.
///
/// The legal order of calls is reset, then look and view any number of times, then one answer (by
/// the call that matches answer_kind()), then reset again. Any other order, and the call of another
/// answer kind, throws std::logic_error. If the answer is actions, act() may be called between
/// looks any number of times, and the next reset() ends the episodes. In environments with a cue,
/// the looks before end_cue() see it instead of the scene. There is no automatic reset:
/// after the answer the facts stay valid until the next reset(). A call covers all B episodes,
/// writes into the caller's memory and allocates nothing. The same (seed, first_scene, locations,
/// actions) gives the same bits. Only one thread may use an environment at a time; environments do
/// not share state.
///
/// Episodes that do not begin and end together (env/vector_environment.h) are restarted and judged
/// one by one, between reset() and the call that would answer for all.
///
/// An environment supports looking (glimpse_size() > 0), viewing (canvas().pixels() > 0), or both.
class Environment {
 public:
  virtual ~Environment() = default;

  virtual int episodes() const = 0;                 // B
  virtual int glimpse_size() const = 0;             // D; 0: looking is not supported
  virtual int location_size() const { return 2; }   // L: (x, y), or with a zoom (x, y, u)
  virtual int num_classes() const = 0;              // C: classes, symbols or actions
  virtual CanvasSize canvas() const { return {}; }  // empty if there is none
  virtual AnswerKind answer_kind() const { return AnswerKind::one_class; }
  virtual int max_symbols() const { return 0; }  // J: longest sequence, end mark included

  /// Whether every episode begins with a cue, which end_cue() replaces by the scene.
  virtual bool has_cue() const { return false; }

  /// Whether the facts change during an episode.
  bool moves() const { return answer_kind() == AnswerKind::actions || has_cue(); }

  /// The largest return of an episode with that many acts; 1 for other answer kinds.
  virtual float best_return(int) const { return 1.0F; }

  /// Begins B new episodes. Scenes are numbered from `first_scene`; each environment documents how
  /// many scenes B episodes use.
  void reset(std::uint64_t first_scene);
  /// Looks at locations (B, L), numbers in [-1, 1]: writes glimpses (B, D), values in [0, 1].
  /// Throws std::out_of_range for a number outside that range or NaN.
  void look(ConstMatrix locations, Matrix glimpses);
  /// After a look at locations (B, L): replaces those where the world looked elsewhere than it was
  /// asked to. The environments of this library look where they are asked to.
  virtual void find_places(Matrix /*locations*/) const {}
  /// Looks at every place (K, 2) in N episodes, from `first` on: writes glimpses (N K, D), row
  /// n K + k. Places have the range of look(); requires L = 2.
  void look_at_all(ConstMatrix places, Matrix glimpses, int first = 0);
  /// Looks at locations (B, L) with interpolation between pixels, so that the glimpse varies
  /// smoothly with the location: writes glimpses (B, D) as look() does, and slopes (B, L D), the
  /// derivatives of a glimpse by x, by y and by u (Retina::look_smoothly, look_zoomed). Slopes are
  /// written now because the world may have moved on before the backward pass.
  void look_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes);
  /// Writes the current canvases, for agents that see them whole: (B, channels * rows * cols),
  /// values in [0, 1].
  void view(Matrix canvases);
  /// The backward pass of a look at a location (L): adds to dcanvas (channels * rows * cols), the
  /// gradient of a canvas as view() shows it, the part due to dglimpse (D). Throws std::logic_error
  /// in environments without a retina.
  virtual void look_backward(std::span<float> dcanvas, const float* location,
                             std::span<const float> dglimpse) const;
  /// The same for look_smoothly().
  virtual void look_smoothly_backward(std::span<float> dcanvas, const float* location,
                                      std::span<const float> dglimpse) const;
  /// Ends the episodes with the agent's classes (B). Rewards (B): 1 for the right class, else 0.
  void answer(std::span<const int> classes, std::span<float> rewards);
  /// Ends the episodes with the agent's symbols (B, J); symbols after an end mark are ignored.
  /// Rewards (B): 1 if the whole sequence is right, end mark included, else 0.
  void answer_sequence(std::span<const int> symbols, std::span<float> rewards);
  /// Advances the world by one step with the agent's actions (B). Rewards (B): those of this step.
  /// Throws std::out_of_range for an action outside 0 .. C - 1, before anything moves.
  void act(std::span<const int> actions, std::span<float> rewards);
  /// Shows the scenes after their cues; again, it changes nothing. Throws std::logic_error in
  /// environments without a cue.
  void end_cue();

  /// Begins another scene in one episode; the others continue. Throws std::logic_error in
  /// environments whose episodes share scenes or that do not support it.
  void restart(int episode, std::uint64_t scene);
  /// Looks in one episode only, at a location (L) as in look(): writes glimpse (D).
  void look(int episode, const float* location, std::span<float> glimpse);
  /// As end_cue(), in one episode. Throws std::logic_error where restart() does.
  void end_cue(int episode);
  /// Returns the reward that answer() or answer_sequence() would give one episode for this class
  /// (1) or these symbols (J). Does not end the episode.
  float judge(int episode, std::span<const int> answer) const;

  /// The ground truth of each episode (B), which is not part of the observation; valid from reset()
  /// on, and changed only by act(), end_cue() and restart().
  virtual std::span<const SceneFacts> facts() const = 0;

 protected:
  virtual void begin(std::uint64_t first_scene) = 0;
  /// Optional overrides. By default they throw std::logic_error: an environment need not have a
  /// retina, a grid, a canvas, actions or single episodes.
  virtual void begin_one(int episode, std::uint64_t scene);
  virtual void observe(ConstMatrix locations, Matrix glimpses);
  virtual void observe_one(int episode, const float* location, float* glimpse);
  virtual void observe_all(ConstMatrix places, Matrix glimpses, int first);
  virtual void observe_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes);
  virtual void observe_canvases(Matrix canvases);
  /// Advances the world by one step; must write every reward. The actions are in range.
  virtual void advance(std::span<const int> actions, std::span<float> rewards);
  virtual void replace_cues();
  virtual void replace_cue(int episode);

 private:
  void check_call(const char* call, AnswerKind kind) const;

  bool running_ = false;
};

/// Makes an environment of `episodes` episodes, of which `rollouts` consecutive ones share a scene.
using EnvironmentFactory = std::function<std::unique_ptr<Environment>(int episodes, int rollouts)>;

/// Base of environments with a retina: holds the facts of B episodes, and canvases that are
/// prepared once for `sharing` consecutive episodes.
class RetinaEnvironment : public Environment {
 public:
  int episodes() const override { return static_cast<int>(facts_.size()); }
  int glimpse_size() const override { return retina_.glimpse_size(); }
  int location_size() const override { return retina_.location_size(); }
  std::span<const SceneFacts> facts() const override { return facts_; }
  void look_backward(std::span<float> dcanvas, const float* location,
                     std::span<const float> dglimpse) const override;
  void look_smoothly_backward(std::span<float> dcanvas, const float* location,
                              std::span<const float> dglimpse) const override;

 protected:
  /// Keeps a copy of `retina`. episodes is a multiple of sharing.
  RetinaEnvironment(const Retina& retina, int episodes, int sharing);

  /// Shows a canvas, (channels, rows, cols), to the episode and to those that share it.
  void show(int episode, std::span<const std::uint8_t> canvas);

  std::vector<SceneFacts> facts_;  // (B)

 private:
  void observe(ConstMatrix locations, Matrix glimpses) override;
  void observe_one(int episode, const float* location, float* glimpse) override;
  void observe_all(ConstMatrix places, Matrix glimpses, int first) override;
  void observe_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes) override;
  void observe_canvases(Matrix canvases) override;
  std::span<const std::byte> prepared(int episode) const;
  std::size_t offset(int episode) const { return episode / sharing_ * retina_.prepared_size(); }

  Retina retina_;
  Retina::Lattices lattices_;
  int sharing_;
  std::vector<std::byte> prepared_;  // (B / sharing, retina.prepared_size())
};

}  // namespace saccade
