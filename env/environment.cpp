#include "env/environment.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace saccade {

void Environment::reset(std::uint64_t first_scene) {
  begin(first_scene);
  running_ = true;
}

void Environment::look(ConstMatrix locations, Matrix glimpses) {
  if (!running_) throw std::logic_error("Environment::look needs a reset() first");
  SACCADE_CHECK(locations.rows == episodes() && locations.cols == 2);
  SACCADE_CHECK(glimpses.rows == episodes() && glimpses.cols == glimpse_size());
  for (int b = 0; b < locations.rows; ++b)
    for (int axis = 0; axis < 2; ++axis)
      if (!(std::abs(locations(b, axis)) <= 1.0F))
        throw std::out_of_range(
            fmt::format("Environment::look: location {} of episode {}; allowed: "
                        "-1 to 1",
                        locations(b, axis), b));
  observe(locations, glimpses);
}

void Environment::answer(std::span<const int> classes, std::span<float> rewards) {
  if (!running_) throw std::logic_error("Environment::answer needs a reset() first");
  const std::span<const SceneFacts> truth = facts();
  SACCADE_CHECK(classes.size() == truth.size() && rewards.size() == truth.size());
  for (std::size_t b = 0; b < truth.size(); ++b)
    rewards[b] = classes[b] == truth[b].label ? 1.0F : 0.0F;
  running_ = false;
}

GlimpseEnvironment::GlimpseEnvironment(const SceneMaker& scenes, const Retina& retina, int episodes,
                                       int rollouts)
    : scenes_(scenes),
      retina_(retina),
      rollouts_(rollouts),
      buffer_(scenes.make_buffer()),
      facts_(episodes),
      prepared_(retina.prepared_size() * (episodes / rollouts)) {
  SACCADE_CHECK(episodes % rollouts == 0);
}

void GlimpseEnvironment::begin(std::uint64_t first_scene) {
  const int scenes = episodes() / rollouts_;
  for (int s = 0; s < scenes; ++s) {
    const SceneFacts facts = scenes_.make(first_scene + s, buffer_);
    std::fill_n(facts_.begin() + static_cast<std::ptrdiff_t>(s) * rollouts_, rollouts_, facts);
    const std::span prepared(prepared_);
    retina_.prepare(buffer_.canvas,
                    prepared.subspan(s * retina_.prepared_size(), retina_.prepared_size()));
  }
}

void GlimpseEnvironment::observe(ConstMatrix locations, Matrix glimpses) {
  const std::span<const std::byte> prepared(prepared_);
  for (int b = 0; b < locations.rows; ++b) {
    const std::size_t scene = b / rollouts_;
    retina_.look(prepared.subspan(scene * retina_.prepared_size(), retina_.prepared_size()),
                 locations(b, 0), locations(b, 1), glimpses.row(b));
  }
}

}  // namespace saccade
