#include "experiments/pictures/scene_sheet.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/pictures/colours.h"
#include "experiments/pictures/look_picture.h"

namespace saccade {
namespace {

constexpr TextStyle kLabel = {.height = 11, .align = Align::left, .bold = true};
constexpr int kSceneSide = 180;  // side of a canvas
constexpr int kSheetRim = 14;    // around the sheet and between scenes
constexpr int kLabelRows = 20;
constexpr int kScaleGap = 6;
constexpr int kScaleFrame = 2;
constexpr int kColumns = 3;  // scenes side by side

// Returns the expected answer; for actions the scene itself shows it.
std::string answer_of(const World& world, const SceneFacts& facts) {
  if (world.kind.acts()) return world.config.scene.kind;
  if (facts.num_symbols == 0) return world.class_name(facts.label);
  return world.spoken(std::span(facts.symbols).first(facts.num_symbols - 1));
}

// A tile of the sheet; all scenes of a task have the same size.
class Tile {
 public:
  explicit Tile(const World& world) : world_(world), canvas_(world.spec.canvas) {
    const Picture drawn = fit_into(Picture(canvas_.rows, canvas_.cols, {}), side());
    canvas_rows_ = drawn.rows();
    canvas_cols_ = drawn.cols();
    if (!world.retina) return;
    const int scales = world.config.retina.scales;
    scale_side_ = std::max(1, (canvas_rows_ - (scales - 1) * kScaleGap) / scales - 2 * kScaleFrame);
  }

  int rows() const {
    const int scales = world_.retina ? world_.config.retina.scales : 0;
    return kLabelRows + std::max(canvas_rows_, scales * (framed_side() + kScaleGap) - kScaleGap);
  }
  int cols() const { return canvas_cols_ + (world_.retina ? kScaleGap + framed_side() : 0); }

  Picture draw(std::span<const float> canvas, std::span<const float> glimpse,
               const SceneFacts& facts) const {
    Picture tile(rows(), cols(), kPaper);
    tile.text({0, kLabel.height}, fitted(answer_of(world_, facts), cols(), kLabel), kInk, kLabel);
    Picture scene =
        fit_into(picture_of(canvas, canvas_.channels, canvas_.rows, canvas_.cols), side());
    draw_boxes(scene, facts);
    tile.paste(scene, {0, kLabelRows});
    if (world_.retina) draw_scales(tile, glimpse);
    return tile;
  }

 private:
  int side() const { return tile_side(canvas_, kSceneSide); }
  // Scales by integer factors; a patch is never shrunk.
  int framed_side() const {
    const int patch = world_.retina ? world_.config.retina.patch_size : 0;
    return std::max(scale_side_ / std::max(patch, 1), 1) * patch + 2 * kScaleFrame;
  }

  void draw_boxes(Picture& scene, const SceneFacts& facts) const {
    const auto x = [&](int at) { return at * canvas_cols_ / canvas_.cols; };
    const auto y = [&](int at) { return at * canvas_rows_ / canvas_.rows; };
    for (int k = 0; k < facts.num_digits; ++k) {
      const Box& box = facts.boxes[k];
      const int left = x(box.x), top = y(box.y);
      scene.outline({left, top, x(box.x + box.width) - left, y(box.y + box.height) - top},
                    facts.is_answer[k] ? kAnswerBox : kOtherBox);
    }
  }

  void draw_scales(Picture& tile, std::span<const float> glimpse) const {
    const int patch = world_.config.retina.patch_size;
    const std::size_t size = static_cast<std::size_t>(canvas_.channels) * patch * patch;
    const int left = canvas_cols_ + kScaleGap, framed = framed_side();
    for (int scale = 0; scale < world_.config.retina.scales; ++scale) {
      const int top = kLabelRows + scale * (framed + kScaleGap);
      tile.fill({left, top, framed, framed}, LookPicture::scale_colour(scale));
      tile.paste(picture_of(glimpse.subspan(scale * size, size), canvas_.channels, patch, patch)
                     .enlarged((framed - 2 * kScaleFrame) / patch),
                 {left + kScaleFrame, top + kScaleFrame});
    }
  }

  const World& world_;
  CanvasSize canvas_;
  int canvas_rows_, canvas_cols_;  // as drawn
  int scale_side_ = 0;             // room for one scale
};

}  // namespace

Picture scene_sheet(const World& world, int scenes) {
  const auto environment = world.environments(Split::train)(scenes, 1);
  environment->reset(0);
  if (environment->has_cue()) environment->end_cue();
  Tensor<2> canvases = zeros<2>(scenes, world.spec.canvas.pixels());
  environment->view(matrix(canvases));
  Tensor<2> centres = zeros<2>(scenes, environment->location_size());
  Tensor<2> glimpses = zeros<2>(scenes, environment->glimpse_size());
  if (world.retina) environment->look(matrix(centres), matrix(glimpses));

  const Tile tile(world);
  const int columns = std::min(kColumns, scenes), lines = (scenes + columns - 1) / columns;
  Picture sheet(kSheetRim + lines * (tile.rows() + kSheetRim),
                kSheetRim + columns * (tile.cols() + kSheetRim), kPaper);
  for (int n = 0; n < scenes; ++n)
    sheet.paste(tile.draw(std::span(canvases).subspan(n * canvases.shape()[1], canvases.shape()[1]),
                          std::span(glimpses).subspan(n * glimpses.shape()[1], glimpses.shape()[1]),
                          environment->facts()[n]),
                {kSheetRim + n % columns * (tile.cols() + kSheetRim),
                 kSheetRim + n / columns * (tile.rows() + kSheetRim)});
  return sheet;
}

}  // namespace saccade
