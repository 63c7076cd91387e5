#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/setting.h"
#include "nn/random.h"

namespace saccade {

/// Random distortions of the training images; all zero and no flip is off. Keys:
/// data.augmentation.*
struct AugmentationConfig {
  double rotation = 0.0;  // degrees, uniform in +-rotation; [0, 180]
  double scale = 0.0;     // factor uniform in 1 +- scale; [0, 0.9]
  double shear = 0.0;     // x += s y, s uniform in +-shear; [0, 1]
  double shift = 0.0;     // pixels along x and y, uniform in +-shift; [0, 16]
  double elastic = 0.0;   // pixels along x and y at each knot, uniform in +-elastic; [0, 16]
  double stroke = 0.0;    // pixels by which edges move out, uniform in +-stroke; [0, 1]
  bool flip = false;      // every other image is its mirror image, left to right

  // Whether the digits that distractors are cut from are distorted, each by itself. If not, an
  // agent can learn to tell a digit from distractors by how distorting smooths it, which no test
  // scene shows.
  bool distractors = true;

  bool enabled() const {
    return rotation > 0 || scale > 0 || shear > 0 || shift > 0 || elastic > 0 || stroke > 0 || flip;
  }
};

/// `num_distractors` is that of the scenes.
Settings describe(AugmentationConfig& config, int* num_distractors);

/// One random affine map about the digit's centre, read bilinearly; black outside. An elastic one
/// besides (Simard et al. 2003): where each pixel is read is displaced by a smooth random field,
/// interpolated bilinearly between 5 x 5 knots that span the digit. A flip, with probability 1/2,
/// mirrors the result of the affine map. Before all that, strokes become thicker by u pixels on
/// each side, or thinner if u < 0: each pixel x becomes (1 - |u|) x + |u| m, where m is the
/// brightest, or darkest, of it and its four neighbours (a grey-scale dilation, or erosion).
class Augmentation {
 public:
  explicit Augmentation(const AugmentationConfig& config) : config_(config) {}

  bool enabled() const { return config_.enabled(); }
  bool of_distractors() const { return config_.distractors; }

  /// Memory that apply() works in, for images of one size.
  struct Scratch {
    Scratch(int rows, int cols);
    int rows, cols;
    int width;                           // at least cols + 1
    std::vector<std::uint8_t> framed;    // (rows + 2, width + 1)
    std::vector<std::uint8_t> edges;     // the same, with other strokes
    std::vector<std::uint32_t> corners;  // (rows + 1, width)
    std::vector<float> bend;             // displacements, (2, width)
    std::vector<int> brightness;         // of a row, (width)
    std::vector<std::uint8_t> bytes;     // the same
    std::vector<int> knot;               // of a column: the knot to its left, (width)
    std::vector<float> share;            // and how far it is from there to the next, (width)
  };

  /// Writes the distorted `source` into `target`; both (rows, cols, channels), not overlapping.
  void apply(std::span<std::uint8_t> target, std::span<const std::uint8_t> source, int channels,
             RandomStream& stream, Scratch& scratch) const;

 private:
  AugmentationConfig config_;
};

}  // namespace saccade
