#include "env/given_environment.h"

#include <algorithm>

namespace saccade {
namespace {

// The facts of an unlabelled scene; a sequence has at least its end mark.
SceneFacts unknown(const AnswerSpec& answer_spec) {
  SceneFacts facts;
  facts.num_digits = 0;
  if (answer_spec.kind != AnswerKind::sequence) return facts;
  facts.symbols[0] = answer_spec.num_classes - 1;
  facts.num_symbols = 1;
  return facts;
}

}  // namespace

CanvasEnvironment::CanvasEnvironment(std::span<const std::uint8_t> canvases,
                                     std::span<const int> labels, const CanvasSize& size,
                                     const Retina& retina, const AnswerSpec& answer_spec,
                                     int episodes)
    : RetinaEnvironment(retina, episodes, 1),
      canvases_(canvases),
      labels_(labels),
      size_(size),
      answer_spec_(answer_spec) {
  std::ranges::fill(facts_, unknown(answer_spec));
}

void CanvasEnvironment::begin(std::uint64_t first_scene) {
  for (int b = 0; b < episodes(); ++b) begin_one(b, first_scene + b);
}

void CanvasEnvironment::begin_one(int episode, std::uint64_t scene) {
  const auto pixels = static_cast<std::size_t>(size_.pixels());
  const std::size_t place = scene % (canvases_.size() / pixels);
  show(episode, canvases_.subspan(place * pixels, pixels));
  if (!labels_.empty()) facts_[episode].label = labels_[place];
}

GlimpseArrayEnvironment::GlimpseArrayEnvironment(const Tensor<2>& glimpses, const CanvasSize& size,
                                                 const AnswerSpec& answer_spec, int episodes,
                                                 int location_size)
    : glimpses_(glimpses),
      size_(size),
      location_size_(location_size),
      answer_spec_(answer_spec),
      facts_(episodes, unknown(answer_spec)) {}

void GlimpseArrayEnvironment::begin(std::uint64_t first_scene) { first_scene_ = first_scene; }

void GlimpseArrayEnvironment::observe(ConstMatrix, Matrix glimpses) {
  const std::size_t scenes = glimpses_.shape()[0];
  for (int b = 0; b < glimpses.rows; ++b)
    std::copy_n(&glimpses_((first_scene_ + b) % scenes, 0), glimpses.cols, glimpses.row(b));
}

void GlimpseArrayEnvironment::observe_smoothly(ConstMatrix locations, Matrix glimpses,
                                               Matrix slopes) {
  observe(locations, glimpses);
  for (int b = 0; b < slopes.rows; ++b) std::fill_n(slopes.row(b), slopes.cols, 0.0F);
}

}  // namespace saccade
