#include "agent/looking/glimpse_rules.h"

#include <fmt/format.h>

#include <utility>

#include "agent/looking/looking.h"
#include "base/error.h"

namespace saccade {
namespace {

using Learning = GlimpseKind::Learning;

// What some kinds have no use for.

void refuse_learned_first(const GlimpseConfig& config) {
  if (config.first == "learned")
    throw InputError(fmt::format(
        "attention.glimpse.first: learned is never learned with attention.glimpse.kind: {}",
        config.kind));
}

void refuse_std(const GlimpseConfig& config) {
  if (config.learn_std)
    throw InputError(fmt::format(
        "attention.glimpse.learn_std has no effect with attention.glimpse.kind: {}", config.kind));
  if (config.spread != 0.0)
    throw InputError(
        fmt::format("attention.glimpse.spread: {} has no effect with attention.glimpse.kind: {}",
                    config.spread, config.kind));
}

void refuse_grid(const GlimpseConfig& config) {
  if (config.addressing != "none")
    throw InputError(
        fmt::format("attention.glimpse.addressing: {} has no effect with attention.glimpse.kind: "
                    "{}, which has no grid; allowed: none",
                    config.addressing, config.kind));
}

void refuse_expectation(const GlimpseConfig& config) {
  if (config.expect != "none")
    throw InputError(
        fmt::format("attention.glimpse.expect: {} has no effect with attention.glimpse.kind: {}, "
                    "which takes no expectation; allowed: none",
                    config.expect, config.kind));
  const std::pair<const char*, double> weights[] = {
      {"attention.glimpse.entropy", config.entropy},
      {"attention.glimpse.coverage", config.coverage},
      {"attention.glimpse.row_penalty", config.row_penalty}};
  for (const auto& [key, weight] : weights)
    if (weight != 0.0)
      throw InputError(
          fmt::format("{}: {} has no effect with attention.glimpse.kind: {}; it is a setting of "
                      "soft_grid",
                      key, weight, config.kind));
}

}  // namespace

void check(const GlimpseConfig& config) {
  const GlimpseKind& kind = find_glimpse_kind(config.kind);
  if (kind.learning == Learning::none) refuse_learned_first(config);
  if (!kind.has_std) refuse_std(config);
  if (config.learn_std && config.std.from != config.std.to)
    throw InputError(
        fmt::format("attention.glimpse.learn_std needs one number to begin with as "
                    "attention.glimpse.std, not a ramp from {} to {}",
                    config.std.from, config.std.to));
  if (!kind.has_candidates) refuse_grid(config);
  if (!kind.has_candidates || kind.learning != Learning::backpropagation)
    refuse_expectation(config);
}

}  // namespace saccade
