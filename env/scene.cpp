#include "env/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "env/scene_kinds.h"
#include "env/scene_layout.h"

namespace saccade {
namespace {

const SceneKind& kind_of_digits(const std::string& name) {
  const SceneKind* kind = find_scene_kind(name);
  if (kind == nullptr)
    throw SettingError(
        {"scene.kind"},
        fmt::format("scene.kind: {} is no kind of scene; it is an environment of its own", name));
  return *kind;
}

// A rectangle of an image with interleaved channels.
struct Cut {
  const std::uint8_t* data;  // its upper left pixel
  int image_cols;
  int rows, cols;
};

Box scaled_size(const Dataset& digits, double scale) {
  const auto side = [scale](int pixels) {
    return std::max(1, static_cast<int>(std::lround(scale * pixels)));
  };
  return {.width = side(digits.cols()), .height = side(digits.rows())};
}

// A fixed number of pixels compiles to one vector; the rows of digits and of distractors are
// narrower than the vectors that a loop over any number would use.
template <int kCount>
void add_pixels(std::uint8_t* __restrict to, const std::uint8_t* __restrict from) {
  for (int i = 0; i < kCount; ++i)
    to[i] = static_cast<std::uint8_t>(std::min(255, to[i] + from[i]));
}

void add_row(std::uint8_t* to, const std::uint8_t* from, int count, int stride) {
  int i = 0;
  if (stride == 1)
    for (; i + 8 <= count; i += 8) add_pixels<8>(to + i, from + i);
  for (; i < count; ++i) add_pixels<1>(to + i, from + i * stride);
}

// Adds `cut` to the canvas (channels, rows, cols) with its corner at (x, y); clamps to white.
void add(std::span<std::uint8_t> canvas, int canvas_rows, int canvas_cols, int channels,
         const Cut& cut, int x, int y) {
  for (int c = 0; c < channels; ++c) {
    for (int row = 0; row < cut.rows; ++row) {
      std::uint8_t* to = &canvas[(c * canvas_rows + y + row) * canvas_cols + x];
      const std::uint8_t* from =
          cut.data + static_cast<std::ptrdiff_t>(row) * cut.image_cols * channels + c;
      add_row(to, from, cut.cols, channels);
    }
  }
}

}  // namespace

SceneMaker::SceneMaker(const SceneConfig& config, const AugmentationConfig& augmentation,
                       const Dataset& digits, DigitOrder order, std::uint64_t seed)
    : kind_(&kind_of_digits(config.kind)),
      config_(config),
      augmentation_(augmentation),
      digits_(digits),
      order_(order),
      seed_(seed),
      digit_(scaled_size(digits, config.digit_scale)),
      label_(labellings().at(config.label).label),
      classes_(digits.classes) {
  settle(config_);
  check(config_);
  check_layout(kind_->layout, config, digit_);
  check_distractors();

  const int count = config.num_digits;
  if (kind_->question == Question::label && count > 1)
    classes_ = labellings().at(config.label).classes(digits.classes, count);
  if (kind_->question == Question::sequence) {
    ++classes_;  // the end mark
    max_symbols_ = count + 1;
  }
}

void SceneMaker::check_distractors() const {
  const int size = config_.distractor_size, of_digits = std::min(digits_.rows(), digits_.cols());
  const int free = std::min(rows(), cols()) - 2 * config_.border;
  const int largest = std::min(of_digits, free);
  if (config_.num_distractors == 0 || (size >= 1 && size <= largest)) return;
  const std::string range = fmt::format("{} pixels; allowed: 1 to {}", size, largest);
  if (size < 1 || size > of_digits)
    throw SettingError({"scene.distractor_size"}, "scene.distractor_size: " + range);
  throw SettingError(
      {"scene.distractor_size", "scene.canvas", "scene.border"},
      fmt::format("scene.distractor_size: {}, what scene.canvas: {} x {} with scene.border: {} "
                  "leaves free",
                  range, rows(), cols(), config_.border));
}

SceneMaker::Buffer SceneMaker::make_buffer() const {
  const auto size = [](int a, int b, int c) { return static_cast<std::size_t>(a) * b * c; };
  Buffer buffer{
      .canvas = std::vector<std::uint8_t>(size(channels(), rows(), cols())),
      .digit = std::vector<std::uint8_t>(size(digits_.rows(), digits_.cols(), channels())),
      .scratch = {digits_.rows(), digits_.cols()},
      .resize = {}};
  if (config_.digit_scale != 1.0)
    buffer.resize.emplace(channels(), digits_.rows(), digits_.cols(), digit_.height, digit_.width);
  return buffer;
}

// A scene uses num_digits positions of the endless sequence of digits, however many it shows.
SceneFacts SceneMaker::make(std::uint64_t number, Buffer& buffer) const {
  RandomStream stream(seed_, Purpose::scene, number);
  RandomStream distortion(seed_, Purpose::augmentation, number);
  std::fill(buffer.canvas.begin(), buffer.canvas.end(), std::uint8_t{0});
  SceneFacts facts;
  facts.num_digits = facts.num_sources = draw_digit_count(config_, stream);
  RandomStream clutter(seed_, Purpose::distractor_augmentation, number);
  add_distractors(buffer, stream, clutter);
  place_digits(kind_->layout, config_, digit_, stream,
               std::span(facts.boxes).first(facts.num_digits));
  for (int k = 0; k < facts.num_digits; ++k) {
    const int index = digit_at(number * config_.num_digits + k, digits_.size(), order_, seed_);
    add_digit(index, facts.boxes[k], distortion, buffer);
    facts.regions[k] = to_region(facts.boxes[k], cols(), rows());
    facts.classes[k] = digits_.labels(index);
    facts.sources[k] = index;
  }
  set_answer(facts);
  return facts;
}

int draw_digit_count(const SceneConfig& config, RandomStream& stream) {
  const int most = config.num_digits;
  const int least = config.min_digits == 0 ? most : config.min_digits;
  return least == most ? most : least + stream.below(most - least + 1);
}

void SceneMaker::add_distractors(Buffer& buffer, RandomStream& stream,
                                 RandomStream& distortion) const {
  const int size = config_.distractor_size;
  for (int k = 0; k < config_.num_distractors; ++k) {
    const int index = stream.below(digits_.size());
    const int from_x = stream.below(digits_.cols() - size + 1);
    const int from_y = stream.below(digits_.rows() - size + 1);
    const int x = random_corner(cols(), size, config_.border, stream);
    const int y = random_corner(rows(), size, config_.border, stream);
    const std::uint8_t* pixels = &digits_.images(index, 0, 0, 0);
    if (augmentation_.of_distractors()) pixels = distorted(pixels, distortion, buffer);
    pixels += (static_cast<std::ptrdiff_t>(from_y) * digits_.cols() + from_x) * channels();
    add(buffer.canvas, rows(), cols(), channels(), {pixels, digits_.cols(), size, size}, x, y);
  }
}

// The pixels of a digit as a training scene shows them.
const std::uint8_t* SceneMaker::distorted(const std::uint8_t* pixels, RandomStream& distortion,
                                          Buffer& buffer) const {
  if (!augmentation_.enabled()) return pixels;
  augmentation_.apply(buffer.digit, {pixels, buffer.digit.size()}, channels(), distortion,
                      buffer.scratch);
  return buffer.digit.data();
}

void SceneMaker::add_digit(int index, const Box& box, RandomStream& distortion,
                           Buffer& buffer) const {
  const std::uint8_t* pixels = distorted(&digits_.images(index, 0, 0, 0), distortion, buffer);
  if (buffer.resize) pixels = buffer.resize->forward({pixels, buffer.digit.size()}).data();
  add(buffer.canvas, rows(), cols(), channels(), {pixels, box.width, box.height, box.width}, box.x,
      box.y);
}

void SceneMaker::set_answer(SceneFacts& facts) const {
  const std::span classes = std::span(facts.classes).first(facts.num_digits);
  std::fill_n(facts.is_answer.begin(), facts.num_digits, true);
  switch (kind_->question) {
    case Question::label:
      facts.label = facts.num_digits == 1 ? classes[0] : label_(classes);
      break;
    case Question::largest:
      facts.label = *std::ranges::max_element(classes);
      facts.length = facts.num_digits;
      for (int k = 0; k < facts.num_digits; ++k) facts.is_answer[k] = classes[k] == facts.label;
      break;
    case Question::sequence:
      std::ranges::copy(classes, facts.symbols.begin());
      facts.symbols[facts.num_digits] = num_classes() - 1;
      facts.num_symbols = facts.num_digits + 1;
      break;
  }
}

int digit_at(std::uint64_t position, int size, DigitOrder order, std::uint64_t seed) {
  // The scenes of environments are seed * 2^32 + n, and 2^32 and a size have common factors: each
  // 2^32 positions begin elsewhere (multiplicative hashing, Knuth 1973, section 6.4).
  const std::uint64_t begin = (position >> 32) * 0x9E3779B97F4A7C15 >> 32;
  const std::uint64_t from_there = begin + (position & 0xFFFFFFFF);
  const auto pass = static_cast<std::uint32_t>(from_there / size);
  const auto place = static_cast<int>(from_there % size);
  if (order == DigitOrder::fixed) return place;
  return RandomPermutation(size, seed, Purpose::digit_order, pass)(place);
}

}  // namespace saccade
