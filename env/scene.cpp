#include "env/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/name_table.h"
#include "env/scene_layout.h"
#include "env/search.h"
#include "env/task_kinds.h"

namespace saccade {

// What a scene asks about its digits.
enum class Question { label, largest, sequence };

struct SceneMaker::Kind {
  Layout layout;
  bool clutter;
  Question question;
  int max_digits;
};

namespace {

constexpr int kFewDigits = 4;  // for kinds whose label combines all digits
constexpr double kSmallestDigit = 0.25, kLargestDigit = 4.0;

const NameTable<SceneMaker::Kind>& kinds() {
  using enum Layout;
  using enum Question;
  static const NameTable<SceneMaker::Kind> table{
      "scene.kind",
      {{"centered", {side_by_side, false, label, kFewDigits}},
       {"translated", {anywhere, false, label, kFewDigits}},
       {"cluttered", {anywhere, true, label, kFewDigits}},
       {"bag", {tiles, false, largest, kMaxDigits}},
       {"transcribe", {left_to_right, true, sequence, kMaxDigits}}}};
  return table;
}

// Null for tasks with code of their own.
const SceneMaker::Kind* find_scene_kind(const std::string& name) {
  return find_task_kind(name).has_digits ? kinds().find(name) : nullptr;
}

const SceneMaker::Kind& kind_of_digits(const std::string& name) {
  const SceneMaker::Kind* kind = find_scene_kind(name);
  if (kind == nullptr)
    throw SettingError(
        {"scene.kind"},
        fmt::format("scene.kind: {} is no kind of scene; it is an environment of its own", name));
  return *kind;
}

bool has_label(const std::string& name) {
  const SceneMaker::Kind* kind = find_scene_kind(name);
  return kind != nullptr && kind->question == Question::label;
}

bool is_made_of_digits(const std::string& name) { return find_scene_kind(name) != nullptr; }

bool varies_count(const std::string& name) {
  return find_task_kind(name).has_digits && !has_label(name);
}

// How the classes of a scene's digits combine into one label, and how many labels there are.
struct Labelling {
  int (*classes)(int digit_classes, int num_digits);
  int (*label)(std::span<const int> digit_labels);
  std::string (*name)(const std::vector<std::string>& digit_names, int label);
  int num_digits = 0;  // required number of digits; 0: any
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
         },
         [](const std::vector<std::string>&, int label) { return std::to_string(label); }}},
       {"pair",
        {[](int classes, int) { return classes * (classes + 1) / 2; },
         [](std::span<const int> labels) {
           const auto [low, high] = std::minmax(labels[0], labels[1]);
           return high * (high + 1) / 2 + low;
         },
         [](const std::vector<std::string>& digit_names, int label) {
           int high = 0;  // pairs are numbered by their higher class
           while ((high + 1) * (high + 2) / 2 <= label) ++high;
           return digit_names[label - high * (high + 1) / 2] + "+" + digit_names[high];
         },
         2}}}};
  return table;
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

void check_count(const SceneConfig& config) {
  const SceneMaker::Kind* kind = find_scene_kind(config.kind);
  const int count = config.num_digits, least = config.min_digits;
  const int most = kind != nullptr ? kind->max_digits : kMaxDigits;
  const bool is_bag = kind != nullptr && kind->question == Question::largest;
  const char* empty = is_bag ? "an empty bag has no largest digit; allowed" : "allowed";
  if (count < 1 || count > most)
    throw SettingError({"scene.num_digits"}, fmt::format("scene.num_digits: {}; {}: 1 to {}", count,
                                                         count < 1 ? empty : "allowed", most));
  if (least < 0)
    throw SettingError(
        {"scene.min_digits", "scene.num_digits"},
        fmt::format(
            "scene.min_digits: {}; {}: 1 to scene.num_digits ({}), or 0 for always that many",
            least, empty, count));
  if (least > count)
    throw SettingError(
        {"scene.min_digits", "scene.num_digits"},
        fmt::format("scene.min_digits: {} is more than scene.num_digits: {}; allowed: 0 to {}",
                    least, count, count));
}

void check_own(const SceneConfig& config) {
  if (config.channels == 2)
    throw SettingError({"scene.channels"}, "scene.channels: 2; allowed: 1, 3");
  const std::set<std::string> different(config.classes.begin(), config.classes.end());
  if (config.classes.size() < 2 || different.size() != config.classes.size() ||
      different.contains(""))
    throw SettingError({"scene.classes"},
                       fmt::format("scene.classes: {}; allowed: two names or more, all different",
                                   join(config.classes)));
}

}  // namespace

std::vector<std::string> SceneConfig::default_classes() {
  std::vector<std::string> names;
  for (int digit = 0; digit < 10; ++digit) names.push_back(std::to_string(digit));
  return names;
}

bool has_clutter(const std::string& name) {
  const SceneMaker::Kind* kind = find_scene_kind(name);
  return kind != nullptr && kind->clutter;
}

std::vector<std::string> scene_kinds() { return kinds().names(); }
std::vector<std::string> scene_labels() { return labellings().names(); }

SceneTraits scene_traits(const std::string& kind) {
  const SceneMaker::Kind& found = kinds().at(kind);
  return {.sequence = found.question == Question::sequence,
          .tiled = found.layout == Layout::tiles,
          .counts_digits = found.question == Question::largest};
}

std::string scene_answer_name(const SceneConfig& config,
                              const std::vector<std::string>& digit_names, int label) {
  const Question question = kinds().at(config.kind).question;
  if (question == Question::sequence && label == static_cast<int>(digit_names.size()))
    return "<end>";
  if (question != Question::label || config.num_digits == 1) return digit_names[label];
  return labellings().at(config.label).name(digit_names, label);
}

Settings describe(SceneConfig& config) {
  const Condition digits = when(&config.kind, task_kinds(), [](const std::string& name) {
    return find_task_kind(name).has_digits;
  });
  const Condition texts = when(&config.kind, task_kinds(), [](const std::string& name) {
    return find_task_kind(name).is_text;
  });
  const auto task = [&](const auto& trait) {
    return when(&config.kind, task_kinds(),
                [&](const std::string& name) { return trait(find_task_kind(name)); });
  };
  const Condition own = task([](const TaskKind& kind) { return kind.is_own; });
  const Condition canvas = task([](const TaskKind& kind) { return !kind.gives_glimpses; });
  const Condition world = task([](const TaskKind& kind) { return kind.gives_glimpses; });
  Settings all = {
      {"scene.kind", &config.kind, task_kinds(),
       "Task: where the digits lie, what else is there, and what is asked"},
      {"scene.canvas", &config.canvas, closed(8, 2048),
       "Size of the canvas (rows, cols), in pixels", canvas},
      {"scene.num_digits", &config.num_digits, closed(0, kMaxDigits),
       "Number of digits in a scene; of bag, transcribe and search the largest", digits},
      {"scene.min_digits", &config.min_digits, closed(0, kMaxDigits),
       "Smallest number of digits in a scene. 0: always num_digits",
       digits && when(&config.kind, task_kinds(), varies_count)},
      {"scene.label", &config.label, scene_labels(), "Class of a scene with several digits",
       digits && when(&config.kind, task_kinds(), has_label)},
      {"scene.num_distractors", &config.num_distractors, closed(0, 1024),
       "Number of distractors in a scene", when(&config.kind, task_kinds(), has_clutter)},
      {"scene.distractor_size", &config.distractor_size, closed(1, 512),
       "Side of a distractor, in pixels", unless(&config.num_distractors, 0)},
      {"scene.digit_scale", &config.digit_scale, closed(kSmallestDigit, kLargestDigit),
       "Size of a digit relative to its image",
       when(&config.kind, task_kinds(), is_made_of_digits)},
      {"scene.max_number", &config.max_number, closed(1, 999'999),
       "Largest number that is put into words", texts},
      {"scene.border", &config.border, closed(0, 1024),
       "Margin of the canvas that stays free of digits, in pixels"},
      {"scene.target", &config.target, search_targets(),
       "Difference of a search's target from the other digits: its shape, or also its brightness",
       when(&config.kind, task_kinds(),
            [](const std::string& name) { return find_task_kind(name).has_cue; })},
      {"scene.classes", &config.classes, Text::line,
       "Names of the classes, or actions, of scenes that a program gives, in their order", own},
      {"scene.channels", &config.channels, closed(1, 3),
       "Number of channels of such scenes: 1, or 3 for colour",
       task([](const TaskKind& kind) { return kind.is_own && !kind.gives_glimpses; })},
      {"scene.glimpse_size", &config.glimpse_size, closed(1, 1'000'000),
       "Number of values in a glimpse that a program gives", world},
      {"scene.best_return", &config.best_return, closed(1e-6, 1e9),
       "Largest return of an episode of own_game, which counts as no error",
       task([](const TaskKind& kind) { return kind.gives_glimpses && kind.acts(); })},
  };
  append(all, describe(config.own, "scene", &config.kind));
  return all;
}

void settle(SceneConfig& config) {
  if (!has_clutter(config.kind)) config.num_distractors = 0;
  if (!has_label(config.kind)) config.label = SceneConfig{}.label;
  if (!is_made_of_digits(config.kind)) config.digit_scale = SceneConfig{}.digit_scale;
  if (!varies_count(config.kind)) config.min_digits = 0;
  if (!find_task_kind(config.kind).has_cue) config.target = SceneConfig{}.target;
}

void check(const SceneConfig& config) {
  if (find_task_kind(config.kind).has_digits) check_count(config);
  if (find_task_kind(config.kind).is_own) check_own(config);
  const int needed = labellings().at(config.label).num_digits;
  if (needed > 0 && config.num_digits != needed)
    throw SettingError({"scene.label", "scene.num_digits"},
                       fmt::format("scene.label: {} needs scene.num_digits: {}, not {}",
                                   config.label, needed, config.num_digits));
  if (config.num_distractors < 0)
    throw SettingError(
        {"scene.num_distractors"},
        fmt::format("scene.num_distractors: {}; allowed: 0 and more", config.num_distractors));
  if (!(config.digit_scale >= kSmallestDigit && config.digit_scale <= kLargestDigit))
    throw SettingError({"scene.digit_scale"},
                       fmt::format("scene.digit_scale: {}; allowed: {} to {}", config.digit_scale,
                                   kSmallestDigit, kLargestDigit));
  if (config.border < 0)
    throw SettingError({"scene.border"},
                       fmt::format("scene.border: {} pixels; allowed: 0 and more", config.border));
}

std::int64_t distinct_scenes(const SceneConfig& config, int digits) {
  const Layout layout = kinds().at(config.kind).layout;
  const bool at_fixed_places = layout == Layout::side_by_side || layout == Layout::tiles;
  if (!at_fixed_places || has_clutter(config.kind) || config.min_digits > 0) return 0;
  return std::lcm(std::int64_t{digits}, std::int64_t{config.num_digits}) / config.num_digits;
}

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
  check_distractors();
  check_layout(kind_->layout, config, digit_);

  const int count = config.num_digits;
  if (kind_->question == Question::label && count > 1)
    classes_ = labellings().at(config.label).classes(digits.classes, count);
  if (kind_->question == Question::sequence) {
    ++classes_;  // the end mark
    max_symbols_ = count + 1;
  }
}

void SceneMaker::check_distractors() const {
  const int size = config_.distractor_size, largest = std::min(digits_.rows(), digits_.cols());
  if (config_.num_distractors > 0 && (size < 1 || size > largest))
    throw SettingError(
        {"scene.distractor_size"},
        fmt::format("scene.distractor_size: {} pixels; allowed: 1 to {}", size, largest));
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
  const auto high = static_cast<std::uint32_t>(number >> 32);
  const auto low = static_cast<std::uint32_t>(number);
  RandomStream stream(seed_, Purpose::scene, high, low);
  RandomStream distortion(seed_, Purpose::augmentation, high, low);
  std::fill(buffer.canvas.begin(), buffer.canvas.end(), std::uint8_t{0});
  SceneFacts facts;
  facts.num_digits = facts.num_sources = draw_digit_count(config_, stream);
  RandomStream clutter(seed_, Purpose::distractor_augmentation, high, low);
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
    pixels += (from_y * digits_.cols() + from_x) * channels();
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
  const auto pass = static_cast<std::uint32_t>(position / size);
  const auto place = static_cast<int>(position % size);
  if (order == DigitOrder::fixed) return place;
  return RandomPermutation(size, seed, Purpose::digit_order, pass)(place);
}

}  // namespace saccade
