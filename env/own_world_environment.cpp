#include "env/own_world_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "base/check.h"
#include "nn/layers.h"

namespace saccade {
namespace {

void require_finite(const char* name, ConstMatrix numbers) {
  for (int b = 0; b < numbers.rows; ++b)
    for (int i = 0; i < numbers.cols; ++i)
      if (!std::isfinite(numbers(b, i)))
        throw OwnPartError(
            fmt::format("{}: {} in row {}; allowed: finite numbers", name, numbers(b, i), b));
}

}  // namespace

OwnWorldEnvironment::OwnWorldEnvironment(const OwnWorldMaker& make, const OwnWorldSpec& spec,
                                         Split split, int episodes, int rollouts)
    : spec_(spec),
      first_of_split_(own_scene_number(split, 0)),
      rollouts_(rollouts),
      scenes_(episodes),
      labels_(episodes, -1),
      places_(zeros<2>(episodes, 2)),
      facts_(episodes) {
  SACCADE_CHECK(episodes % rollouts == 0);
  for (SceneFacts& facts : facts_) facts.num_digits = 0;
  try {
    world_ = make(episodes);
  } catch (const std::exception& error) {
    throw OwnPartError(fmt::format("a world of {} episodes: {}", episodes, error.what()));
  }
}

void OwnWorldEnvironment::begin(std::uint64_t first_scene) {
  for (int b = 0; b < episodes(); ++b)
    scenes_[b] = static_cast<std::int64_t>(first_of_split_ + first_scene + b / rollouts_);
  std::ranges::fill(labels_, -1);
  ask("reset()", [&] {
    world_->reset(scenes_, labels_);
    take_labels();
  });
}

void OwnWorldEnvironment::observe(ConstMatrix locations, Matrix glimpses) {
  copy_rows(matrix(places_), locations);
  ask("look()", [&] {
    world_->look(matrix(places_), glimpses, labels_);
    require_finite("glimpses", glimpses);
    for (const float at : flat(places_))
      if (!(std::abs(at) <= 1.0F))
        throw OwnPartError(fmt::format("locations: {}; allowed: -1 to 1", at));
    take_labels();
  });
}

void OwnWorldEnvironment::observe_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes) {
  observe(locations, glimpses);
  for (int b = 0; b < slopes.rows; ++b) std::fill_n(slopes.row(b), slopes.cols, 0.0F);
}

void OwnWorldEnvironment::find_places(Matrix locations) const {
  copy_rows(locations, matrix(places_));
}

void OwnWorldEnvironment::advance(std::span<const int> actions, std::span<float> rewards) {
  ask("act()", [&] {
    world_->act(actions, rewards);
    require_finite("rewards", {rewards.data(), episodes(), 1, 1});
  });
}

template <class Call>
void OwnWorldEnvironment::ask(const char* method, const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    throw OwnPartError(fmt::format("{} of scenes {} to {}: {}", method, scenes_.front(),
                                   scenes_.back(), error.what()));
  }
}

void OwnWorldEnvironment::take_labels() {
  if (spec_.answer == AnswerKind::actions) return;
  for (int b = 0; b < episodes(); ++b) {
    if (labels_[b] < -1 || labels_[b] >= spec_.num_classes)
      throw OwnPartError(fmt::format("label {} of scene {}; allowed: 0 to {}", labels_[b],
                                     scenes_[b], spec_.num_classes - 1));
    facts_[b].label = labels_[b];
  }
}

}  // namespace saccade
