#include "env/task_kinds.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/name_table.h"
#include "env/catch.h"
#include "env/circle_square.h"
#include "env/glimpse_environment.h"
#include "env/own_world_environment.h"
#include "env/scene_kinds.h"
#include "env/search.h"
#include "env/source_environment.h"
#include "env/words.h"

namespace saccade {
namespace {

const Dataset& part_of(const Digits& digits, Split split) {
  return split == Split::train ? digits.train : split == Split::valid ? digits.valid : digits.test;
}

// Of scenes that show `digits` digits of this order each.
DigitOrder order_of(const EnvironmentRequest& r, int digits) {
  if (r.split == Split::train) return DigitOrder::shuffled;
  const std::int64_t shown = std::int64_t{r.scenes} * digits;
  const bool room_for_all = r.scenes == 0 || shown >= part_of(r.digits, r.split).size();
  return room_for_all ? DigitOrder::fixed : DigitOrder::shuffled;
}

AugmentationConfig augmentation_of(const EnvironmentRequest& r) {
  return r.split == Split::train ? r.augmentation : AugmentationConfig{};
}

std::unique_ptr<Environment> make_scenes(const EnvironmentRequest& r) {
  const SceneMaker scenes(r.scene, augmentation_of(r), part_of(r.digits, r.split),
                          order_of(r, r.scene.num_digits), r.seed);
  return std::make_unique<GlimpseEnvironment>(scenes, *r.retina, r.episodes, r.rollouts);
}

EnvironmentSizes scene_sizes(const SceneConfig& scene, const Dataset& digits) {
  const SceneMaker scenes(scene, {}, digits, DigitOrder::fixed, /*seed=*/0);
  return {scenes.num_classes(),
          {scenes.channels(), scenes.rows(), scenes.cols()},
          scenes.max_symbols()};
}

TaskKind scenes_of(const std::string& scene_kind) {
  const SceneTraits traits = scene_traits(scene_kind);
  return {.make = make_scenes,
          .sizes = scene_sizes,
          .answer_name = scene_answer_name,
          .distinct = distinct_scenes,
          .answer = traits.sequence ? AnswerKind::sequence : AnswerKind::one_class,
          .has_digits = true,
          .has_shades = true,
          .is_tiled = traits.tiled,
          .counts_digits = traits.counts_digits};
}

const TaskKind kCatch = {
    .make = [](const EnvironmentRequest& r) -> std::unique_ptr<Environment> {
      return std::make_unique<CatchEnvironment>(r.scene.canvas, *r.retina, r.split, r.seed,
                                                r.episodes, r.rollouts);
    },
    .sizes = [](const SceneConfig& scene, const Dataset&) { return catch_sizes(scene.canvas); },
    .answer_name = [](const SceneConfig&, const std::vector<std::string>&,
                      int label) { return catch_actions()[label]; },
    .answer = AnswerKind::actions,
    .first_event = [](const SceneConfig& scene) { return scene.canvas[0] - 1; },
    .event = "a ball of scene.kind: catch lands"};

const TaskKind kCircleSquare = {
    .make = [](const EnvironmentRequest& r) -> std::unique_ptr<Environment> {
      return std::make_unique<CircleSquareEnvironment>(r.scene.canvas, *r.retina, r.split, r.seed,
                                                       r.episodes, r.rollouts);
    },
    .sizes = [](const SceneConfig& scene,
                const Dataset&) { return circle_square_sizes(scene.canvas); },
    .answer_name = [](const SceneConfig&, const std::vector<std::string>&,
                      int label) { return circle_square_classes()[label]; },
    .has_shades = true};

const TaskKind kSearch = {.make = [](const EnvironmentRequest& r) -> std::unique_ptr<Environment> {
                            return std::make_unique<SearchEnvironment>(
                                r.scene, augmentation_of(r), part_of(r.digits, r.split),
                                order_of(r, /*digits=*/1), *r.retina, r.seed, r.episodes,
                                r.rollouts);
                          },
                          .sizes = search_sizes,
                          .answer_name = [](const SceneConfig&, const std::vector<std::string>&,
                                            int label) { return search_answers()[label]; },
                          .has_digits = true,
                          .has_shades = true,
                          .has_cue = true};

CanvasSize own_canvas(const SceneConfig& scene) {
  return {scene.channels, scene.canvas[0], scene.canvas[1]};
}

std::unique_ptr<Environment> make_own(const EnvironmentRequest& r) {
  if (r.source == nullptr)
    throw InputError(
        "scene.kind: own: its scenes come from a program, and none gives them here; allowed: "
        "where it does, as saccade.train(scenes=...) in Python");
  return std::make_unique<SourceEnvironment>(*r.source, own_canvas(r.scene),
                                             static_cast<int>(r.scene.classes.size()), *r.retina,
                                             r.episodes, r.rollouts);
}

const TaskKind kOwn = {.make = make_own,
                       .sizes = [](const SceneConfig& scene, const Dataset&) -> EnvironmentSizes {
                         return {.num_classes = static_cast<int>(scene.classes.size()),
                                 .canvas = own_canvas(scene)};
                       },
                       .answer_name = [](const SceneConfig& scene, const std::vector<std::string>&,
                                         int label) { return scene.classes[label]; },
                       .has_shades = true,
                       .is_own = true};

template <AnswerKind kAnswer>
std::unique_ptr<Environment> make_own_world(const EnvironmentRequest& r) {
  if (r.world == nullptr)
    throw InputError(
        "scene.kind: " + r.scene.kind +
        ": its glimpses come from a program, and none gives them here; allowed: where one does, as "
        "saccade.train(world=...) in Python");
  const OwnWorldSpec spec{.glimpse_size = r.scene.glimpse_size,
                          .num_classes = static_cast<int>(r.scene.classes.size()),
                          .answer = kAnswer,
                          .best_return = static_cast<float>(r.scene.best_return)};
  return std::make_unique<OwnWorldEnvironment>(*r.world, spec, r.split, r.episodes, r.rollouts);
}

template <AnswerKind kAnswer>
TaskKind own_world() {
  return {.make = make_own_world<kAnswer>,
          .sizes = [](const SceneConfig& scene, const Dataset&) -> EnvironmentSizes {
            return {.num_classes = static_cast<int>(scene.classes.size()),
                    .glimpse_size = scene.glimpse_size};
          },
          .answer_name = [](const SceneConfig& scene, const std::vector<std::string>&,
                            int label) { return scene.classes[label]; },
          .answer = kAnswer,
          .has_shades = true,
          .is_own = true,
          .gives_glimpses = true};
}

const TaskKind kDigitsToWords = {
    .make = [](const EnvironmentRequest& r) -> std::unique_ptr<Environment> {
      return std::make_unique<WordsEnvironment>(r.scene.max_number, r.split, r.seed, r.episodes,
                                                r.rollouts);
    },
    .sizes = [](const SceneConfig& scene, const Dataset&) { return word_sizes(scene.max_number); },
    .answer_name = [](const SceneConfig&, const std::vector<std::string>&,
                      int label) { return word_names()[label]; },
    .distinct = [](const SceneConfig& scene, int) -> std::int64_t {
      return held_out_numbers(scene.max_number);
    },
    .answer = AnswerKind::sequence,
    .is_text = true};

NameTable<TaskKind>& table() {
  static NameTable<TaskKind> table = [] {
    std::vector<std::pair<std::string, TaskKind>> kinds;
    for (const std::string& name : scene_kinds()) kinds.emplace_back(name, scenes_of(name));
    kinds.insert(kinds.end(), {{"search", kSearch},
                               {"catch", kCatch},
                               {"circle_square", kCircleSquare},
                               {"digits_to_words", kDigitsToWords},
                               {"own", kOwn},
                               {"own_world", own_world<AnswerKind::one_class>()},
                               {"own_game", own_world<AnswerKind::actions>()}});
    return NameTable<TaskKind>("scene.kind", std::move(kinds));
  }();
  return table;
}

}  // namespace

const TaskKind& find_task_kind(const std::string& name) { return table().at(name); }
std::vector<std::string> task_kinds() { return table().names(); }

void register_task_kind(const std::string& name, const TaskKind& kind,
                        const std::vector<OwnSetting>& settings) {
  if (kind.make == nullptr || kind.sizes == nullptr || kind.answer_name == nullptr ||
      (kind.first_event != nullptr && !kind.acts()))
    throw InputError(
        fmt::format("scene.kind: '{}' cannot be registered: needed: make, sizes, answer_name, and "
                    "no first_event unless the answers are actions",
                    name));
  table().add(name, kind);
  add_own_settings("scene", name, settings);
}

}  // namespace saccade
