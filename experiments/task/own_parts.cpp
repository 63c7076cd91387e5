#include "experiments/task/own_parts.h"

#include <fmt/format.h>

#include "base/error.h"
#include "env/task_kinds.h"

namespace saccade {

OwnSources::OwnSources(const OwnParts& parts, const Config& config) : world_(parts.world) {
  const TaskKind& kind = find_task_kind(config.scene.kind);
  const auto require = [&](bool given, bool allowed, const char* what, const char* kinds) {
    if (given && !allowed)
      throw InputError(fmt::format("{} given, and scene.kind is {}; allowed: {}", what,
                                   config.scene.kind, kinds));
  };
  require(parts.scenes != nullptr, kind.is_own && !kind.gives_glimpses, "scenes are", "own");
  require(parts.world != nullptr, kind.gives_glimpses, "a world is", "own_world, own_game");
  if (parts.scenes != nullptr) readers_.emplace(*parts.scenes, config);
}

SceneSources OwnSources::sources() {
  SceneSources sources = readers_ ? readers_->sources() : SceneSources();
  sources.world = world_;
  return sources;
}

std::optional<double> OwnSources::seconds_waited() const {
  if (!readers_) return std::nullopt;
  return readers_->seconds_waited();
}

}  // namespace saccade
