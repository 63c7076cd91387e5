#include "attention/glimpse_rules.h"

#include <fmt/format.h>

#include <utility>

#include "nn/error.h"

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

void refuse_learned_std(const GlimpseConfig& config) {
  if (config.learn_std)
    throw InputError(fmt::format(
        "attention.glimpse.learn_std has no effect with attention.glimpse.kind: {}", config.kind));
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

// The families.

void check_point(const GlimpseConfig& config, Learning learning) {
  if (learning == Learning::none) {
    refuse_learned_first(config);
    refuse_learned_std(config);
  }
  if (config.learn_std && config.std.from != config.std.to)
    throw InputError(
        fmt::format("attention.glimpse.learn_std needs one number to begin with as "
                    "attention.glimpse.std, not a ramp from {} to {}",
                    config.std.from, config.std.to));
  refuse_grid(config);
  refuse_expectation(config);
}

void check_grid(const GlimpseConfig& config, Learning learning) {
  refuse_learned_std(config);
  if (learning != Learning::backpropagation) refuse_expectation(config);
}

void check_window(const GlimpseConfig& config) {
  refuse_learned_std(config);
  refuse_grid(config);
  refuse_expectation(config);
}

void check_whole(const GlimpseConfig& config) {
  refuse_learned_first(config);
  refuse_learned_std(config);
  refuse_grid(config);
  refuse_expectation(config);
}

}  // namespace

void check(const GlimpseConfig& config) {
  const auto [family, learning] = find_glimpse_kind(config.kind);
  switch (family) {
    case GlimpseKind::Family::point:
      return check_point(config, learning);
    case GlimpseKind::Family::grid:
      return check_grid(config, learning);
    case GlimpseKind::Family::window:
      return check_window(config);
    case GlimpseKind::Family::whole:
      return check_whole(config);
  }
}

}  // namespace saccade
