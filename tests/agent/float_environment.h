#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "env/environment.h"
#include "env/retina.h"
#include "nn/random.h"
#include "tests/agent/support.h"

namespace saccade {

/// Canvases of floats that can be perturbed, with the retina of kTinySpec as naive loops.
class FloatEnvironment final : public Environment {
 public:
  static constexpr int kSide = 12, kPixels = kSide * kSide, kPatch = 3, kEpisodes = 3, kSymbols = 3;

  explicit FloatEnvironment(AnswerKind kind)
      : canvases(zeros<2>(kEpisodes, kPixels)), kind_(kind), facts_(kEpisodes) {
    RandomStream stream(4, Purpose::scene, 0, 0);
    for (float& pixel : canvases) pixel = stream.uniform();
    for (SceneFacts& facts : facts_) facts.num_symbols = kSymbols;
  }
  int episodes() const override { return kEpisodes; }
  int glimpse_size() const override { return kTinyGlimpse; }
  int num_classes() const override { return kTinyClasses; }
  CanvasSize canvas() const override { return kTinySpec.canvas; }
  AnswerKind answer_kind() const override { return kind_; }
  int max_symbols() const override { return kind_ == AnswerKind::sequence ? kSymbols : 0; }
  std::span<const SceneFacts> facts() const override { return facts_; }
  void look_backward(std::span<float> dcanvas, const float* location,
                     std::span<const float> dglimpse) const override {
    Retina({.patch_size = kPatch, .scales = 2}, kSide, kSide, 1)
        .look_backward(dcanvas, location[0], location[1], dglimpse);
  }

  void look_smoothly_backward(std::span<float> dcanvas, const float* location,
                              std::span<const float> dglimpse) const override {
    Retina({.patch_size = kPatch, .scales = 2}, kSide, kSide, 1)
        .look_smoothly_backward(dcanvas, location[0], location[1], dglimpse);
  }

  Tensor<2> canvases;                       // (B, pixels)
  int nudged_look = -1, nudged_number = 0;  // one number in the glimpses of a look
  float nudge = 0.0F;

 private:
  void begin(std::uint64_t) override { looks_ = 0; }
  void observe(ConstMatrix locations, Matrix glimpses) override {
    for (int b = 0; b < kEpisodes; ++b) look(b, locations(b, 0), locations(b, 1), glimpses.row(b));
    if (looks_++ == nudged_look)
      for (int b = 0; b < kEpisodes; ++b) glimpses(b, nudged_number) += nudge;
  }
  void observe_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes) override {
    for (int b = 0; b < kEpisodes; ++b)
      look_smoothly(b, locations(b, 0), locations(b, 1), glimpses.row(b), slopes.row(b));
  }
  void observe_all(ConstMatrix places, Matrix glimpses, int first) override {
    for (int row = 0; row < glimpses.rows; ++row) {
      const int k = row % places.rows;
      look(first + row / places.rows, places(k, 0), places(k, 1), glimpses.row(row));
    }
  }
  void observe_canvases(Matrix to) override {
    for (int b = 0; b < kEpisodes; ++b) std::copy_n(&canvases(b, 0), kPixels, to.row(b));
  }
  void advance(std::span<const int>, std::span<float> rewards) override {
    std::ranges::fill(rewards, 0.0F);
  }

  void look(int b, float x, float y, float* glimpse) const {
    for (const int zoom : {1, 2}) {
      const auto first = [&](float location) {
        return Retina::first_edge(location, kSide, kPatch * zoom);
      };
      for (int i = 0; i < kPatch * kPatch; ++i) {
        double sum = 0.0;
        for (int k = 0; k < zoom * zoom; ++k) {
          const int row = first(y) + i / kPatch * zoom + k / zoom;
          const int col = first(x) + i % kPatch * zoom + k % zoom;
          if (row >= 0 && row < kSide && col >= 0 && col < kSide)
            sum += canvases(b, row * kSide + col);
        }
        *glimpse++ = static_cast<float>(sum / (zoom * zoom));
      }
    }
  }

  // Integrals of the canvas over boxes with real-valued edges, and their derivatives.
  void look_smoothly(int b, float x, float y, float* glimpse, float* slopes) const {
    for (const int zoom : {1, 2}) {
      const auto edge = [&](float location, int i) {
        return 0.5 * (location + 1.0) * kSide + (i - 0.5 * kPatch) * zoom;
      };
      const auto overlap = [&](double box, int k) {
        return std::max(0.0, std::min(box + zoom, k + 1.0) - std::max(box, 1.0 * k)) / zoom;
      };
      const auto shift = [&](double box, int k) {  // its derivative with respect to the box's edge
        const bool enters = box + zoom > k && box + zoom<k + 1, leaves = box> k && box < k + 1;
        return 0.5 * kSide * (enters - leaves) / zoom;
      };
      for (int i = 0; i < kPatch * kPatch; ++i, ++glimpse, ++slopes) {
        const double top = edge(y, i / kPatch), left = edge(x, i % kPatch);
        double sum = 0.0, by_x = 0.0, by_y = 0.0;
        for (int row = 0; row < kSide; ++row)
          for (int col = 0; col < kSide; ++col) {
            const double pixel = canvases(b, row * kSide + col);
            sum += pixel * overlap(top, row) * overlap(left, col);
            by_x += pixel * overlap(top, row) * shift(left, col);
            by_y += pixel * shift(top, row) * overlap(left, col);
          }
        *glimpse = static_cast<float>(sum);
        slopes[0] = static_cast<float>(by_x);
        slopes[kTinyGlimpse] = static_cast<float>(by_y);
      }
    }
  }

  AnswerKind kind_;
  std::vector<SceneFacts> facts_;
  int looks_ = 0;
};

}  // namespace saccade
