#include "env/scene_kinds.h"

#include <algorithm>
#include <numeric>

#include "env/task_kinds.h"

namespace saccade {
namespace {

constexpr int kFewDigits = 4;  // for kinds whose label combines all digits

}  // namespace

const NameTable<SceneKind>& scene_kind_table() {
  using enum Layout;
  using enum Question;
  static const NameTable<SceneKind> table{
      "scene.kind",
      {{"centered", {side_by_side, false, label, kFewDigits}},
       {"translated", {anywhere, false, label, kFewDigits}},
       {"cluttered", {anywhere, true, label, kFewDigits}},
       {"bag", {tiles, false, largest, kMaxDigits}},
       {"transcribe", {left_to_right, true, sequence, kMaxDigits}}}};
  return table;
}

const SceneKind* find_scene_kind(const std::string& name) {
  return find_task_kind(name).has_digits ? scene_kind_table().find(name) : nullptr;
}

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

bool has_clutter(const std::string& name) {
  const SceneKind* kind = find_scene_kind(name);
  return kind != nullptr && kind->clutter;
}

std::vector<std::string> scene_kinds() { return scene_kind_table().names(); }
std::vector<std::string> scene_labels() { return labellings().names(); }

SceneTraits scene_traits(const std::string& kind) {
  const SceneKind& found = scene_kind_table().at(kind);
  return {.sequence = found.question == Question::sequence,
          .tiled = found.layout == Layout::tiles,
          .counts_digits = found.question == Question::largest};
}

std::string scene_answer_name(const SceneConfig& config,
                              const std::vector<std::string>& digit_names, int label) {
  const Question question = scene_kind_table().at(config.kind).question;
  if (question == Question::sequence && label == static_cast<int>(digit_names.size()))
    return "<end>";
  if (question != Question::label || config.num_digits == 1) return digit_names[label];
  return labellings().at(config.label).name(digit_names, label);
}

std::int64_t distinct_scenes(const SceneConfig& config, int digits) {
  const Layout layout = scene_kind_table().at(config.kind).layout;
  const bool at_fixed_places = layout == Layout::side_by_side || layout == Layout::tiles;
  if (!at_fixed_places || has_clutter(config.kind) || config.min_digits > 0) return 0;
  return std::lcm(std::int64_t{digits}, std::int64_t{config.num_digits}) / config.num_digits;
}

}  // namespace saccade
