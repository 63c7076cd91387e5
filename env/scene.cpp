#include "env/scene.h"

#include <fmt/format.h>

#include <algorithm>

#include "nn/check.h"
#include "nn/error.h"
#include "nn/name_table.h"

namespace saccade {
namespace {

struct Kind {
  bool moves;
  bool clutter;
};

const NameTable<Kind>& kinds() {
  static const NameTable<Kind> table{
      "scene.kind",
      {{"centered", {false, false}}, {"translated", {true, false}}, {"cluttered", {true, true}}}};
  return table;
}

// How the classes of a scene's digits make one label, and how many labels there are.
struct Labelling {
  int (*classes)(int digit_classes, int num_digits);
  int (*label)(std::span<const int> digit_labels);
};

const NameTable<Labelling>& labellings() {
  static const NameTable<Labelling> table{
      "scene.label",
      {{"sum",
        {[](int classes, int n) { return (classes - 1) * n + 1; },
         [](std::span<const int> labels) {
           int sum = 0;
           for (const int label : labels) sum += label;
           return sum;
         }}},
       {"pair",
        {[](int classes, int) { return classes * (classes + 1) / 2; },
         [](std::span<const int> labels) {
           const auto [low, high] = std::minmax(labels[0], labels[1]);
           return high * (high + 1) / 2 + low;
         }}}}};
  return table;
}

// A rectangle of an image of interleaved channels.
struct Cut {
  const std::uint8_t* data;  // its upper left pixel
  int image_cols;
  int rows, cols;
};

template <class Stride>
void add_saturated(std::uint8_t* __restrict to, const std::uint8_t* __restrict from, int count,
                   Stride stride) {
  for (int i = 0; i < count; ++i)
    to[i] = static_cast<std::uint8_t>(std::min(255, to[i] + from[i * stride]));
}

// Adds `cut` to the canvas (channels, rows, cols) with its corner at (x, y); clamps to white.
void add(std::span<std::uint8_t> canvas, int canvas_rows, int canvas_cols, int channels,
         const Cut& cut, int x, int y) {
  for (int c = 0; c < channels; ++c) {
    for (int row = 0; row < cut.rows; ++row) {
      std::uint8_t* to = &canvas[(c * canvas_rows + y + row) * canvas_cols + x];
      const std::uint8_t* from =
          cut.data + static_cast<std::ptrdiff_t>(row) * cut.image_cols * channels + c;
      if (channels == 1)  // contiguous: the compiler makes vectors of it
        add_saturated(to, from, cut.cols, std::integral_constant<int, 1>{});
      else
        add_saturated(to, from, cut.cols, channels);
    }
  }
}

Region to_region(const Box& box, int canvas_cols, int canvas_rows) {
  const auto cols = static_cast<float>(canvas_cols), rows = static_cast<float>(canvas_rows);
  return {.x = static_cast<float>(2 * box.x + box.width) / cols - 1.0F,
          .y = static_cast<float>(2 * box.y + box.height) / rows - 1.0F,
          .half_width = static_cast<float>(box.width) / cols,
          .half_height = static_cast<float>(box.height) / rows};
}

// Uniform over all corners that keep the square inside the border, both ends included.
int random_corner(int canvas_side, int side, int border, RandomStream& stream) {
  return border + stream.below(canvas_side - 2 * border - side + 1);
}

}  // namespace

std::vector<std::string> scene_kinds() { return kinds().names(); }
std::vector<std::string> scene_labels() { return labellings().names(); }

SceneMaker::SceneMaker(const SceneConfig& config, const AugmentationConfig& augmentation,
                       const DigitSet& digits, DigitOrder order, std::uint64_t seed)
    : config_(config),
      augmentation_(augmentation),
      digits_(digits),
      order_(order),
      seed_(seed),
      moves_(kinds().at(config.kind).moves),
      label_(labellings().at(config.label).label),
      classes_(digits.classes) {
  const int count = config.num_digits;
  if (!kinds().at(config.kind).clutter) config_.num_distractors = 0;
  constexpr int kMost = 4;
  if (count < 1 || count > kMost)
    throw InputError(fmt::format("scene.num_digits: {}; allowed: 1 to {}", count, kMost));
  if (config.label == "pair" && count != 2)
    throw InputError(fmt::format("scene.label: pair needs scene.num_digits: 2, not {}", count));
  if (count > 1) classes_ = labellings().at(config.label).classes(digits.classes, count);

  if (config.border < 0)
    throw InputError(fmt::format("scene.border: {} pixels; allowed: 0 and more", config.border));
  if (config_.num_distractors < 0)
    throw InputError(
        fmt::format("scene.num_distractors: {}; allowed: 0 and more", config.num_distractors));
  const int free_rows = rows() - 2 * config.border;
  const int free_cols = cols() - 2 * config.border;
  if (digits.rows() > free_rows || digits.cols() * (moves_ ? 1 : count) > free_cols)
    throw InputError(fmt::format(
        "scene.canvas: {} x {} with scene.border: {} leaves no room for {} digit(s) of {} x {}",
        rows(), cols(), config.border, count, digits.rows(), digits.cols()));
  const int largest = std::min(digits.rows(), digits.cols());
  if (config_.num_distractors > 0 &&
      (config.distractor_size < 1 || config.distractor_size > largest))
    throw InputError(fmt::format("scene.distractor_size: {} pixels; allowed: 1 to {}",
                                 config.distractor_size, largest));
}

SceneMaker::Buffer SceneMaker::make_buffer() const {
  const auto size = [](int a, int b, int c) { return static_cast<std::size_t>(a) * b * c; };
  return {std::vector<std::uint8_t>(size(channels(), rows(), cols())),
          std::vector<std::uint8_t>(size(digits_.rows(), digits_.cols(), channels())),
          std::vector<float>(Augmentation::scratch_size(digits_.rows(), digits_.cols()))};
}

SceneFacts SceneMaker::make(std::uint64_t number, Buffer& buffer) const {
  const auto high = static_cast<std::uint32_t>(number >> 32);
  const auto low = static_cast<std::uint32_t>(number);
  RandomStream stream(seed_, Purpose::scene, high, low);
  RandomStream distortion(seed_, Purpose::augmentation, high, low);
  std::fill(buffer.canvas.begin(), buffer.canvas.end(), std::uint8_t{0});
  add_distractors(buffer, stream);

  const int count = config_.num_digits;
  SceneFacts facts;
  facts.num_digits = count;
  std::array<int, kMaxDigits> labels{};
  for (int k = 0; k < count; ++k) {
    const int index = pick_digit(number * count + k);
    const std::uint8_t* pixels = &digits_.images(index, 0, 0, 0);
    if (augmentation_.enabled()) {
      augmentation_.apply(buffer.digit, {pixels, buffer.digit.size()}, digits_.rows(),
                          digits_.cols(), channels(), distortion, buffer.scratch);
      pixels = buffer.digit.data();
    }
    Box& box = facts.boxes[k];
    box = {.width = digits_.cols(), .height = digits_.rows()};
    if (moves_) {
      box.x = random_corner(cols(), box.width, config_.border, stream);
      box.y = random_corner(rows(), box.height, config_.border, stream);
    } else {
      box.x = (cols() - count * box.width) / 2 + k * box.width;
      box.y = (rows() - box.height) / 2;
    }
    add(buffer.canvas, rows(), cols(), channels(), {pixels, digits_.cols(), box.height, box.width},
        box.x, box.y);
    facts.regions[k] = to_region(box, cols(), rows());
    labels[k] = digits_.labels(index);
  }
  facts.label = count == 1 ? labels[0] : label_(std::span(labels).first(count));
  return facts;
}

void SceneMaker::add_distractors(Buffer& buffer, RandomStream& stream) const {
  const int size = config_.distractor_size;
  for (int k = 0; k < config_.num_distractors; ++k) {
    const int index = stream.below(digits_.size());
    const int from_x = stream.below(digits_.cols() - size + 1);
    const int from_y = stream.below(digits_.rows() - size + 1);
    const int x = random_corner(cols(), size, config_.border, stream);
    const int y = random_corner(rows(), size, config_.border, stream);
    const std::uint8_t* pixels = &digits_.images(index, from_y, from_x, 0);
    add(buffer.canvas, rows(), cols(), channels(), {pixels, digits_.cols(), size, size}, x, y);
  }
}

// The digit at a position of the endless sequence of passes over the set.
int SceneMaker::pick_digit(std::uint64_t position) const {
  const auto pass = static_cast<std::uint32_t>(position / digits_.size());
  const auto place = static_cast<int>(position % digits_.size());
  if (order_ == DigitOrder::fixed) return place;
  return RandomPermutation(digits_.size(), seed_, Purpose::digit_order, pass)(place);
}

}  // namespace saccade
