#include "experiments/task/world.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "agent/looking/looking.h"
#include "base/error.h"

namespace saccade {
namespace {

std::shared_ptr<const Digits> digits_of(const Config& config, SharedDatasets* shared) {
  if (!find_task_kind(config.scene.kind).has_digits) return std::make_shared<const Digits>();
  if (shared != nullptr) return shared->load(config.data);
  return std::make_shared<const Digits>(load_digits(config.data));
}

std::optional<Retina> retina_of(const TaskKind& kind, const Config& config, const Digits& digits) {
  if (kind.is_text || kind.gives_glimpses) return {};
  const int channels = kind.has_digits ? digits.train.channels()
                       : kind.is_own   ? config.scene.channels
                                       : 1;
  return Retina(config.retina, config.scene.canvas[0], config.scene.canvas[1], channels,
                zoom_of(config.agent));
}

ObservationSpec spec_of(const TaskKind& kind, const Config& config, const Digits& digits,
                        const std::optional<Retina>& retina) {
  const EnvironmentSizes sizes = kind.sizes(config.scene, digits.test);
  if (static_cast<std::size_t>(sizes.num_classes) > kMaxClasses)
    throw InputError(fmt::format("{} classes (data.source: {}, scene.label: {}); allowed: up to {}",
                                 sizes.num_classes, config.data.source, config.scene.label,
                                 kMaxClasses));
  return {
      .glimpse_size = retina ? retina->glimpse_size() : sizes.glimpse_size,
      .num_classes = sizes.num_classes,
      .canvas = sizes.canvas,
      .pixels = kind.has_shades ? PixelScale(config.pixels, sizes.canvas.channels) : PixelScale(),
      .patch_size = kind.gives_glimpses ? 0 : config.retina.patch_size,
      .answer = kind.answer,
      .max_symbols = sizes.max_symbols,
      .widest_patch = kind.gives_glimpses
                          ? 0.0
                          : config.retina.patch_size *
                                std::pow(config.retina.scale_factor, config.retina.scales - 1) *
                                zoom_of(config.agent).to};
}

}  // namespace

World::World(const Config& config_) : World(config_, digits_of(config_, nullptr)) {}

World::World(const Config& config_, SharedDatasets* shared, const SceneSources& sources)
    : World(config_, digits_of(config_, shared), sources) {}

World::World(const Config& config_, std::shared_ptr<const Digits> digits_,
             const SceneSources& sources)
    : config(config_),
      kind(find_task_kind(config.scene.kind)),
      shared_digits_(std::move(digits_)),
      sources_(sources),
      digits(*shared_digits_),
      retina(retina_of(kind, config, digits)),
      spec(spec_of(kind, config, digits, retina)) {}

std::string World::class_name(int label) const {
  return kind.answer_name(config.scene, digits.class_names, label);
}

std::vector<std::string> World::class_names() const {
  std::vector<std::string> names;
  for (int label = 0; label < spec.num_classes; ++label) names.push_back(class_name(label));
  return names;
}

std::string World::spoken(std::span<const int> labels) const {
  std::vector<std::string> names;
  for (const int label : labels) names.push_back(class_name(label));
  const bool letters =
      std::ranges::all_of(names, [](const auto& name) { return name.size() == 1; });
  return fmt::format("{}", fmt::join(names, letters ? "" : " "));
}

EnvironmentFactory World::environments(Split split) const {
  if (split == Split::train) return factory(split, config.seed, /*scenes=*/0);
  return environments(split, config.evaluation);
}

int World::test_scenes(const EvaluationConfig& evaluation) const {
  const std::int64_t drawn = std::int64_t{evaluation.scenes} * evaluation.draws;
  if (drawn > std::numeric_limits<int>::max())
    throw InputError(
        fmt::format("evaluation.draws: {} of evaluation.scenes: {} are {} scenes; "
                    "allowed: {}",
                    evaluation.draws, evaluation.scenes, drawn, std::numeric_limits<int>::max()));
  const std::int64_t distinct =
      kind.distinct != nullptr
          ? kind.distinct(config.scene, kind.has_digits ? digits.test.size() : 0)
          : 0;
  return static_cast<int>(distinct > 0 ? std::min(drawn, distinct) : drawn);
}

EnvironmentFactory World::environments(Split split, const EvaluationConfig& evaluation) const {
  return factory(split, evaluation.seed, evaluation.scenes);
}

EnvironmentFactory World::factory(Split split, std::uint64_t seed, int scenes) const {
  return [this, split, seed, scenes](int episodes, int rollouts) {
    return kind.make({.scene = config.scene,
                      .augmentation = config.augmentation,
                      .digits = digits,
                      .retina = retina ? &*retina : nullptr,
                      .split = split,
                      .seed = seed,
                      .episodes = episodes,
                      .rollouts = rollouts,
                      .scenes = scenes,
                      .source = split == Split::train   ? sources_.train
                                : split == Split::valid ? sources_.valid
                                                        : sources_.test,
                      .world = sources_.world});
  };
}

}  // namespace saccade
