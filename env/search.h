#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/environment.h"
#include "env/scene.h"
#include "env/scene_config.h"
#include "nn/random.h"

namespace saccade {

/// The names of the answers, in order: absent, present.
std::vector<std::string> search_answers();
/// What sets a target apart from the other digits: `shape`, its class alone; `brightness`, that
/// also the others have a third of their brightness, so that it pops out.
std::vector<std::string> search_targets();
/// The sizes of its environments. Throws InputError as SearchEnvironment.
EnvironmentSizes search_sizes(const SceneConfig& scene, const Dataset& digits);

/// Visual search (Treisman and Gelade 1980; Wolfe 1998; scene.kind: search): the first look of an
/// episode sees the cue, one digit in the middle of a black canvas. Then follows the display, n
/// digits that do not overlap, n uniform in [min_digits, num_digits], which is called the set size.
/// Is one of them of the cue's class?
///
/// In half of the scenes it is: the target is another picture of that class. All other digits are
/// uniformly drawn pictures of other classes. For the places, the canvas inside its border is cut
/// into as many equal tiles as digits fit; each digit is at a uniform place in a tile of its own,
/// and all choices of tiles are equally likely. Scene n shows the n-th digit of the set's order as
/// its cue, so an evaluation with room for every digit shows each as the cue.
///
/// Until end_cue() the facts hold the cue as the only digit. Then they hold the display: the target
/// is the first digit, and the answer; if it is absent, all digits are the answer, because all must
/// be seen to know. The label (1: present) and the sources, the cue's among them, stay the same.
class SearchEnvironment final : public RetinaEnvironment {
 public:
  /// Keeps a reference to `digits` and a copy of `retina`. `rollouts` (M) consecutive episodes
  /// share a scene, so that B episodes use B / M scenes; episodes is a multiple of rollouts. Throws
  /// InputError (scene.canvas) if the display does not fit, and for a class with a single picture
  /// or digits of one class only.
  SearchEnvironment(const SceneConfig& scene, const AugmentationConfig& augmentation,
                    const Dataset& digits, DigitOrder order, const Retina& retina,
                    std::uint64_t seed, int episodes, int rollouts);

  int num_classes() const override { return 2; }
  CanvasSize canvas() const override {
    return {digits_.channels(), scene_.canvas[0], scene_.canvas[1]};
  }
  bool has_cue() const override { return true; }

 private:
  // What follows a cue.
  struct Display {
    SceneFacts facts;
    RandomStream distortion;  // after the cue's
  };

  void begin(std::uint64_t first_scene) override;
  void begin_one(int episode, std::uint64_t scene) override;
  void replace_cues() override;
  void replace_cue(int episode) override;

  Display plan(std::uint64_t number) const;
  int draw_target(int cue, RandomStream& stream) const;
  int draw_distractor(int cue, RandomStream& stream) const;
  void show_cue(int episode, std::uint64_t number);
  void show_display(int episode);
  void add_digit(int index, const Box& box, bool dims, RandomStream& distortion);

  SceneConfig scene_;
  bool dims_others_;
  Augmentation augmentation_;
  const Dataset& digits_;
  DigitOrder order_;
  std::uint64_t seed_;
  int rollouts_;
  std::vector<int> by_class_;         // (N): pictures, ordered by their class
  std::vector<int> first_of_;         // (C + 1): where each class begins in by_class_
  std::vector<Display> displays_;     // (B / M)
  std::vector<std::uint8_t> canvas_;  // (channels, rows, cols), of one scene
  std::vector<std::uint8_t> digit_;   // (rows, cols, channels), one distorted digit
  Augmentation::Scratch scratch_;
};

}  // namespace saccade
