#include "python/bindings/agent_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "python/bindings/arrays.h"
#include "python/bindings/calls.h"

namespace saccade::python {

namespace nb = nanobind;

namespace {

// Throws unless the rows are (count, width).
void require_shape(const char* name, const GivenRows& rows, int count, int width) {
  if (rows.shape(0) != static_cast<std::size_t>(count) ||
      rows.shape(1) != static_cast<std::size_t>(width))
    throw InputError(fmt::format("{}: shape ({}, {}); allowed: ({}, {})", name, rows.shape(0),
                                 rows.shape(1), count, width));
}

}  // namespace

AgentSteps::AgentSteps(const Model& model, Canvases canvases)
    : model_(model), canvases_(std::move(canvases)) {}

AgentSteps::AgentSteps(const Model& model, int episodes, int glimpse_size)
    : model_(model), glimpses_(zeros<2>(episodes, glimpse_size)) {}

void AgentSteps::start(std::span<const float> weights, const EnvironmentFactory& environments,
                       SteppedPlayRequest request, Workers& workers) {
  play_ = computed([&] {
    return std::make_unique<SteppedPlay>(model_, weights, environments, request, workers);
  });
}

void AgentSteps::rewind(int looks) {
  require_threads();
  compute([&] { play_->rewind(looks); });
}

void AgentSteps::take(const std::optional<GivenRows>& locations,
                      const std::optional<GivenRows>& glimpses) {
  const int scenes = play_->scenes();
  ConstMatrix places;
  if (locations) {
    require_shape("locations", *locations, scenes, play_->location_size());
    places = {locations->data(), scenes, play_->location_size(), play_->location_size()};
  }
  if (glimpses) {
    require_shape("glimpses", *glimpses, scenes, static_cast<int>(glimpses_.shape()[1]));
    std::copy_n(glimpses->data(), glimpses->size(), glimpses_.data());
  }
  require_threads();
  compute([&] { play_->step(places); });
}

nb::dict AgentSteps::look() const {
  const std::size_t scenes = play_->scenes();
  const int last = play_->looks() - 1;
  const auto places = [&](int t) {
    auto array = new_array<float, 2>({scenes, static_cast<std::size_t>(play_->location_size())});
    play_->locations(t, {array.data(), array.size()});
    return array;
  };
  nb::dict look;
  look["locations"] = places(last);
  if (last + 1 < model_.num_glimpses()) look["next_locations"] = places(last + 1);
  auto probabilities = new_array<float, 3>({scenes, static_cast<std::size_t>(play_->outputs()),
                                            static_cast<std::size_t>(play_->classes())});
  play_->probabilities({probabilities.data(), probabilities.size()});
  look["probabilities"] = probabilities;
  if (play_->picture_size() == 0) return look;
  auto pictures = new_array<float, 2>({scenes, static_cast<std::size_t>(play_->picture_size())});
  play_->pictures({pictures.data(), pictures.size()});
  look["glimpses"] = pictures;
  return look;
}

}  // namespace saccade::python
