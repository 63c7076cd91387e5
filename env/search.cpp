#include "env/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "base/check.h"
#include "base/error.h"
#include "base/name_table.h"
#include "env/scene_layout.h"

namespace saccade {
namespace {

constexpr int kDimming = 3;  // of what is no target, if it is found by its brightness

// Whether the other digits are dimmed, so that the target pops out.
const NameTable<bool>& target_table() {
  static const NameTable<bool> table{"scene.target", {{"shape", false}, {"brightness", true}}};
  return table;
}

// The tiles that each hold a digit of `digit` pixels; without room for one, none.
TileGrid display_tiles(const SceneConfig& scene, Box digit) {
  const auto fit = [&](int canvas_side, int side) {
    return std::max(0, canvas_side - 2 * scene.border) / side;
  };
  return {fit(scene.canvas[0], digit.height), fit(scene.canvas[1], digit.width)};
}

// Draws a uniform corner for `side` pixels in tile `tile` of the `tiles` along a side of the
// canvas.
int corner_in_tile(int tile, int tiles, int canvas_side, int border, int side,
                   RandomStream& stream) {
  const int free = canvas_side - 2 * border;
  const int begin = tile * free / tiles, end = (tile + 1) * free / tiles;
  return border + begin + stream.below(end - begin - side + 1);
}

// Places digits of the size of boxes[0] (n), each in a tile of its own.
void place_display(const SceneConfig& scene, RandomStream& stream, std::span<Box> boxes) {
  const Box digit = boxes.front();
  const TileGrid grid = display_tiles(scene, digit);
  std::array<int, kMaxDigits> tiles{};
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    const auto used = tiles.begin() + static_cast<std::ptrdiff_t>(k);
    do {
      *used = stream.below(grid.rows * grid.cols);
    } while (std::find(tiles.begin(), used, *used) != used);
    boxes[k] = {.x = corner_in_tile(*used % grid.cols, grid.cols, scene.canvas[1], scene.border,
                                    digit.width, stream),
                .y = corner_in_tile(*used / grid.cols, grid.rows, scene.canvas[0], scene.border,
                                    digit.height, stream),
                .width = digit.width,
                .height = digit.height};
  }
}

void check_display(const SceneConfig& scene, Box digit) {
  const TileGrid grid = display_tiles(scene, digit);
  const int most = grid.rows * grid.cols, count = scene.num_digits, margin = 2 * scene.border;
  if (count <= most) return;
  const TileGrid needed = tile_grid(count);
  throw SettingError(
      {"scene.canvas", "scene.num_digits", "scene.border"},
      fmt::format("scene.canvas: {} x {} with scene.border: {} has room for {} digits of {} x {} "
                  "that do not overlap, and scene.num_digits is {}; needed: scene.canvas of at "
                  "least {} x {}, or fewer digits",
                  scene.canvas[0], scene.canvas[1], scene.border, most, digit.height, digit.width,
                  count, needed.rows * digit.height + margin, needed.cols * digit.width + margin));
}

// Returns where each class begins among digits ordered by their class, (C + 1).
std::vector<int> class_starts(const Dataset& digits) {
  std::vector<int> starts(digits.classes + 1);
  for (const int label : digits.labels) ++starts[label + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

void check_search(const SceneConfig& scene, const Dataset& digits) {
  check_display(scene, {.width = digits.cols(), .height = digits.rows()});
  const std::vector<int> starts = class_starts(digits);
  int shown = 0;
  for (int c = 0; c < digits.classes; ++c) {
    const int count = starts[c + 1] - starts[c];
    shown += count > 0;
    if (count == 1)
      throw InputError(
          fmt::format("scene.kind: search shows one picture of a class as the cue and another one "
                      "to be found, but class {} has a single one; allowed: two and more",
                      c));
  }
  if (shown < 2)
    throw InputError(fmt::format(
        "scene.kind: search needs digits of other classes than the cue's, but there are {} "
        "classes; allowed: two and more",
        shown));
}

}  // namespace

std::vector<std::string> search_answers() { return {"absent", "present"}; }
std::vector<std::string> search_targets() { return target_table().names(); }

EnvironmentSizes search_sizes(const SceneConfig& scene, const Dataset& digits) {
  check(scene);
  check_search(scene, digits);
  return {.num_classes = static_cast<int>(search_answers().size()),
          .canvas = {digits.channels(), scene.canvas[0], scene.canvas[1]}};
}

SearchEnvironment::SearchEnvironment(const SceneConfig& scene,
                                     const AugmentationConfig& augmentation, const Dataset& digits,
                                     DigitOrder order, const Retina& retina, std::uint64_t seed,
                                     int episodes, int rollouts)
    : RetinaEnvironment(retina, episodes, rollouts),
      scene_(scene),
      dims_others_(target_table().at(scene.target)),
      augmentation_(augmentation),
      digits_(digits),
      order_(order),
      seed_(seed),
      rollouts_(rollouts),
      by_class_(digits.size()),
      first_of_(class_starts(digits)),
      scratch_(digits.rows(), digits.cols()) {
  search_sizes(scene, digits);
  std::iota(by_class_.begin(), by_class_.end(), 0);
  std::ranges::stable_sort(by_class_, {}, [&](int index) { return digits.labels(index); });
  displays_.assign(episodes / rollouts, {{}, RandomStream(seed, Purpose::augmentation, 0)});
  canvas_.resize(canvas().pixels());
  digit_.resize(static_cast<std::size_t>(digits.rows()) * digits.cols() * digits.channels());
}

void SearchEnvironment::begin(std::uint64_t first_scene) {
  for (int b = 0; b < episodes(); b += rollouts_) show_cue(b, first_scene + b / rollouts_);
}

void SearchEnvironment::begin_one(int episode, std::uint64_t scene) {
  if (rollouts_ > 1) return Environment::begin_one(episode, scene);
  show_cue(episode, scene);
}

void SearchEnvironment::replace_cues() {
  for (int b = 0; b < episodes(); b += rollouts_) show_display(b);
}

void SearchEnvironment::replace_cue(int episode) {
  if (rollouts_ > 1) return Environment::replace_cue(episode);
  show_display(episode);
}

SearchEnvironment::Display SearchEnvironment::plan(std::uint64_t number) const {
  RandomStream stream(seed_, Purpose::scene, number);
  Display display{{}, RandomStream(seed_, Purpose::augmentation, number)};
  SceneFacts& facts = display.facts;
  const int cue = digit_at(number, digits_.size(), order_, seed_);
  facts.label = stream.below(2);
  facts.num_digits = draw_digit_count(scene_, stream);
  facts.boxes[0] = {.width = digits_.cols(), .height = digits_.rows()};
  place_display(scene_, stream, std::span(facts.boxes).first(facts.num_digits));
  facts.sources[0] = cue;
  facts.num_sources = 1 + facts.num_digits;
  for (int k = 0; k < facts.num_digits; ++k) {
    const bool is_target = facts.label == 1 && k == 0;
    const int index = is_target ? draw_target(cue, stream) : draw_distractor(cue, stream);
    facts.regions[k] = to_region(facts.boxes[k], scene_.canvas[1], scene_.canvas[0]);
    facts.classes[k] = digits_.labels(index);
    facts.is_answer[k] = is_target || facts.label == 0;
    facts.sources[1 + k] = index;
  }
  return display;
}

// Draws another picture of the cue's class.
int SearchEnvironment::draw_target(int cue, RandomStream& stream) const {
  const int label = digits_.labels(cue), first = first_of_[label], last = first_of_[label + 1] - 1;
  const int index = by_class_[first + stream.below(last - first)];
  return index == cue ? by_class_[last] : index;
}

// Draws a picture of another class.
int SearchEnvironment::draw_distractor(int cue, RandomStream& stream) const {
  const int label = digits_.labels(cue), first = first_of_[label];
  const int count = first_of_[label + 1] - first;
  const int place = stream.below(digits_.size() - count);
  return by_class_[place < first ? place : place + count];
}

// Updates facts and retina.
void SearchEnvironment::show_cue(int episode, std::uint64_t number) {
  Display& display = displays_[episode / rollouts_] = plan(number);
  const int cue = display.facts.sources[0];
  SceneFacts facts;
  facts.label = display.facts.label;
  facts.boxes[0] = {.x = (scene_.canvas[1] - digits_.cols()) / 2,
                    .y = (scene_.canvas[0] - digits_.rows()) / 2,
                    .width = digits_.cols(),
                    .height = digits_.rows()};
  facts.regions[0] = to_region(facts.boxes[0], scene_.canvas[1], scene_.canvas[0]);
  facts.classes[0] = digits_.labels(cue);
  facts.is_answer[0] = true;
  facts.sources = display.facts.sources;
  facts.num_sources = display.facts.num_sources;
  std::ranges::fill(canvas_, std::uint8_t{0});
  add_digit(cue, facts.boxes[0], /*dims=*/false, display.distortion);
  show(episode, canvas_);
  std::fill_n(facts_.begin() + episode, rollouts_, facts);
}

// Updates facts and retina.
void SearchEnvironment::show_display(int episode) {
  const Display& display = displays_[episode / rollouts_];
  const SceneFacts& facts = display.facts;
  RandomStream distortion = display.distortion;
  std::ranges::fill(canvas_, std::uint8_t{0});
  for (int k = 0; k < facts.num_digits; ++k) {
    const bool is_target = facts.label == 1 && k == 0;
    add_digit(facts.sources[1 + k], facts.boxes[k], dims_others_ && !is_target, distortion);
  }
  show(episode, canvas_);
  std::fill_n(facts_.begin() + episode, rollouts_, facts);
}

void SearchEnvironment::add_digit(int index, const Box& box, bool dims, RandomStream& distortion) {
  const std::uint8_t* pixels = &digits_.images(index, 0, 0, 0);
  const int channels = digits_.channels();
  if (augmentation_.enabled()) {
    augmentation_.apply(digit_, {pixels, digit_.size()}, channels, distortion, scratch_);
    pixels = digit_.data();
  }
  for (int c = 0; c < channels; ++c)
    for (int row = 0; row < box.height; ++row) {
      const std::uint8_t* from = pixels + static_cast<std::ptrdiff_t>(row) * box.width * channels;
      std::uint8_t* to = &canvas_[(static_cast<std::size_t>(c) * scene_.canvas[0] + box.y + row) *
                                      scene_.canvas[1] +
                                  box.x];
      for (int col = 0; col < box.width; ++col) {
        const std::uint8_t pixel = from[col * channels + c];
        to[col] = dims ? pixel / kDimming : pixel;
      }
    }
}

}  // namespace saccade
