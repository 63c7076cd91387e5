#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/model/rollout.h"
#include "experiments/pictures/picture.h"
#include "experiments/task/task.h"

namespace saccade {

/// Returns a world that can be drawn. Throws InputError if it has no canvas.
const World& with_canvas(const World& world);

/// An agent as pictures show it. Throws as with_canvas().
struct PicturedAgent {
  PicturedAgent(const Task& task)  // implicit: the agent of a task
      : world(with_canvas(task)),
        look(task.model.look()),
        answer(task.model.answer()),
        gated(task.model.gate.has_value()) {}
  /// Somebody else who looks and answers so.
  PicturedAgent(const World& world_, LookTraits look_, AnswerTraits answer_)
      : world(with_canvas(world_)), look(std::move(look_)), answer(answer_) {}

  const World& world;
  LookTraits look;
  AnswerTraits answer;
  bool gated = false;  // attention.input
};

/// One played episode whose canvases were kept.
struct Episode {
  /// Episode b of a rollout that was played with classify_every_step.
  Episode(Rollout& rollout, const Tensor<3>& canvases_, int b_ = 0, bool judged_ = true)
      : look(*rollout.look),
        answer(*rollout.answer),
        gate(rollout.gate ? &*rollout.gate : nullptr),
        facts(rollout.environment->facts()[b_]),
        canvases(canvases_),
        b(b_),
        judged(judged_) {}
  /// The only episode of these records.
  Episode(LookRecord& look_, const AnswerRecord& answer_, const SceneFacts& facts_,
          const Tensor<3>& canvases_)
      : look(look_), answer(answer_), facts(facts_), canvases(canvases_) {}

  LookRecord& look;
  const AnswerRecord& answer;
  const GateMemory* gate = nullptr;  // null without attention.input
  const SceneFacts& facts;
  const Tensor<3>& canvases;  // (T, B, pixels): RolloutRequest::canvases
  int b = 0;                  // index in all of these
  bool judged = true;         // the label is known; otherwise there is no verdict

  /// Ends the looks after `looks` of them, from 1 to T, where the agent stopped by itself.
  void end_after(int looks) { stopped_after_ = looks; }
  /// Ends those of an agent that answers a class: its answer is the most probable class then.
  void stop_after(int looks);
  /// The looks after which it ended; empty if it took all.
  const std::optional<int>& stopped_after() const { return stopped_after_; }

  std::span<const int> labels() const { return answer.labels(b); }
  std::span<const int> predictions() const {
    return answer_at_stop_ ? std::span(&*answer_at_stop_, 1) : answer.predictions(b);
  }
  bool right() const {
    return answer_at_stop_ ? *answer_at_stop_ == labels()[0] : answer.error(b) == 0.0F;
  }
  /// (channels, rows, cols) at look t, values in [0, 1]
  std::span<const float> canvas(int t) const {
    return {&canvases(t, b, 0), static_cast<std::size_t>(canvases.shape()[2])};
  }

 private:
  std::optional<int> stopped_after_ = {};
  std::optional<int> answer_at_stop_ = {};
};

/// Colour of the path of looks, and of the frame around a part that is read.
inline constexpr Colour kPathColour = {64, 222, 255};

/// Returns the longer side of a canvas whose mean side is that of a square of `side` pixels.
int tile_side(const CanvasSize& canvas, int side);

/// Draws where an agent looks and what it sees there. Points, and a grid with one candidate chosen:
/// the squares of all scales, the finest with the thickest line. Soft grids: the weights as a heat
/// map. A window: its frame and, as heat, the places of its filters. All of these: the path of the
/// looks so far (of their expected places). Models that read the whole canvas have none of this; if
/// they read it part by part, the part of the step is framed, and a gate on the input is overlaid
/// as heat.
class LookPicture {
 public:
  /// Canvases are enlarged by the largest integer factor that keeps the longer side within `side`
  /// pixels, and shrunk only if they would exceed twice that. Keeps a reference to the world of
  /// `agent`.
  LookPicture(const PicturedAgent& agent, int side);

  int rows() const { return rows_; }  // of a drawn canvas
  int cols() const { return cols_; }

  /// Draws the canvas at look t with the path so far; `numbered`: with the numbers of the looks.
  Picture canvas(const Episode& episode, int t, bool numbered) const;
  /// Draws the canvas at look t, dimmed to `light` in [0, 1], under heat (rows, cols) in [0, 1],
  /// without the looks.
  Picture heated(const Episode& episode, int t, const std::vector<double>& heat,
                 double light) const;
  /// Returns the scales of look t as the agent sees them, finest first, each square fitted into
  /// `side` pixels; empty for a model that reads the canvas. A mean over many places is brightened
  /// to full range.
  std::vector<Picture> seen(const Episode& episode, int t, int side) const;
  /// The number of those pictures.
  int num_seen() const;

  /// The colour of a scale's square, on the canvas and around its image.
  static Colour scale_colour(int scale);
  /// "24 px": the side of a scale of the retina in canvas pixels; with a zoom, "24-96 px".
  static std::string scale_side(const PicturedAgent& agent, int scale);

 private:
  Picture scaled(const Picture& small) const;
  std::vector<double> gate_heat(const Episode& episode, int t) const;
  void draw_part(Picture& picture, const CanvasReading& reading, int t) const;
  std::array<double, 2> place(const Episode& episode, int t) const;
  Point drawn(std::array<double, 2> place) const;
  void draw_squares(Picture& picture, std::array<double, 2> centre, double zoom) const;
  void draw_window(Picture& picture, const Gaze& gaze) const;
  void draw_path(Picture& picture, const Episode& episode, int t, bool numbered) const;

  const PicturedAgent agent_;
  int zoom_, shrink_;  // at least one of them is 1
  int rows_, cols_;
  int stroke_;  // width of a thin line
};

/// Scales by an integer factor so that the longer side is within `side` pixels: enlarges as far as
/// possible, or shrinks as little as necessary.
Picture fit_into(const Picture& picture, int side);

/// Converts planes (channels, rows, cols), 1 or 3 channels, values clamped to [0, 1].
Picture picture_of(std::span<const float> planes, int channels, int rows, int cols);

}  // namespace saccade
