#include "experiments/comparison/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/median.h"
#include "experiments/runs/other_scenes.h"

namespace saccade {
namespace {

constexpr double kFailing = 2.0;         // times the median
constexpr std::size_t kSeedsToFail = 3;  // of two, none is above twice their median

/// The error of a variant minus that of the first one.
struct Difference {
  Estimate estimate;  // known
  std::string over;   // "4 seeds", "scenes"
  bool one_seed = false;
};

std::size_t common_seeds(const Variant& a, const Variant& b) {
  return std::ranges::count_if(a.seeds, [&](std::uint64_t seed) {
    return std::ranges::find(b.seeds, seed) != b.seeds.end();
  });
}

// Returns nothing if no interval is known.
std::optional<Difference> difference_to(const Variant& first, const Variant& variant) {
  if (variant.difference && variant.difference->known) {
    const std::size_t common = common_seeds(variant, first);
    return Difference{*variant.difference,
                      common > 1 ? fmt::format("{} seeds", common)
                                 : fmt::format("{} seeds and {} others", variant.seeds.size(),
                                               first.seeds.size())};
  }
  if (variant.difference_over_scenes)
    return Difference{*variant.difference_over_scenes, "scenes", /*one_seed=*/true};
  return std::nullopt;
}

// Formats in percentage points of error.
std::string interval(const Estimate& e) {
  return fmt::format("{:.2f} to {:.2f}", 100 * e.low, 100 * e.high);
}

// Flips the sign: how much lower the better error is.
Estimate turned(const Estimate& e) { return {-e.value, -e.high, -e.low, e.known}; }

constexpr const char* kTrySeeds = "another seed may differ: try seeds=5";

std::string of_two(const Variant& first, const Variant& second, int scenes) {
  const std::optional<Difference> found = difference_to(first, second);
  if (!found)
    return fmt::format(
        "Whether {} or {} is better is not known: there is no interval of the "
        "difference.",
        first.label, second.label);
  const bool second_is_better = found->estimate.value < 0.0;
  const Variant &better = second_is_better ? second : first,
                &other = second_is_better ? first : second;
  const Estimate by = second_is_better ? turned(found->estimate) : found->estimate;
  const std::string how = fmt::format(
      "{:.2f} points on the same {} scenes (95 % interval {} over {}{})", 100 * by.value, scenes,
      interval(by), found->over,
      found->one_seed ? fmt::format("; one seed each, and {}", kTrySeeds) : std::string());
  return by.low > 0.0 ? fmt::format("{} is better than {} by {}.", better.label, other.label, how)
                      : fmt::format("{} and {} are not told apart: their errors differ by {}.",
                                    first.label, second.label, how);
}

// "; better: soft by 1.00 points (0.70 to 1.30 over 4 seeds), ..."; empty if there are no variants.
std::string listed(const char* outcome, const std::vector<std::string>& variants) {
  return variants.empty() ? "" : fmt::format("; {}: {}", outcome, fmt::join(variants, ", "));
}

std::vector<std::string> of_many(const Comparison& comparison) {
  const Variant& first = comparison.variants[0];
  std::vector<std::string> better, worse, alike, unknown;
  bool one_seed = false;
  for (const Variant& variant : comparison.variants) {
    if (&variant == &first) continue;
    const std::optional<Difference> found = difference_to(first, variant);
    if (!found) {
      unknown.push_back(variant.label);
      continue;
    }
    one_seed = one_seed || found->one_seed;
    const Estimate& e = found->estimate;
    if (e.low <= 0.0 && e.high >= 0.0) {
      alike.push_back(fmt::format("{} ({} over {})", variant.label, interval(e), found->over));
      continue;
    }
    const Estimate by = e.value < 0.0 ? turned(e) : e;
    (e.value < 0.0 ? better : worse)
        .push_back(fmt::format("{} by {:.2f} points ({} over {})", variant.label, 100 * by.value,
                               interval(by), found->over));
  }
  std::vector<std::string> sentences = {fmt::format(
      "Against {} ({:.2f} %) on the same {} scenes, 95 % intervals of each difference by itself"
      "{}{}{}{}.",
      first.label, 100 * first.mean.value, comparison.scenes, listed("better", better),
      listed("worse", worse), listed("not told apart", alike),
      listed("not known, there is no interval", unknown))};
  if (one_seed) sentences.push_back(fmt::format("Over scenes is of one seed, and {}.", kTrySeeds));
  return sentences;
}

}  // namespace

std::optional<Estimate> error_over_scenes(const Variant& variant) {
  if (variant.errors_over_scenes.size() != 1 || !variant.errors_over_scenes[0].known)
    return std::nullopt;
  return variant.errors_over_scenes[0];
}

bool any_over_scenes(const Comparison& comparison) {
  return std::ranges::any_of(comparison.variants, [](const Variant& variant) {
    return error_over_scenes(variant) || variant.difference_over_scenes;
  });
}

std::vector<std::uint64_t> failing_seeds(const Variant& variant) {
  if (variant.errors.size() < kSeedsToFail) return {};
  const double limit = kFailing * median(variant.errors);
  std::vector<std::uint64_t> failing;
  for (std::size_t i = 0; i < variant.errors.size(); ++i)
    if (variant.errors[i] > limit) failing.push_back(variant.seeds[i]);
  return failing;
}

bool may_fail(const Comparison& comparison) {
  return std::ranges::any_of(comparison.variants, [](const Variant& variant) {
    return variant.errors.size() >= kSeedsToFail;
  });
}

std::string failing_remark(const Comparison& comparison) {
  std::vector<std::string> failing;
  for (const Variant& variant : comparison.variants)
    if (const std::vector<std::uint64_t> seeds = failing_seeds(variant); !seeds.empty())
      failing.push_back(fmt::format("{}: seed{} {}", variant.label, seeds.size() > 1 ? "s" : "",
                                    fmt::join(seeds, ", ")));
  return fmt::format(
      "A seed fails if its error is above twice the median of its variant's seeds; the mean and "
      "its interval then say little about the others ({}).",
      failing.empty() ? "none does" : fmt::format("{}", fmt::join(failing, "; ")));
}

std::vector<std::string> tested_elsewhere(const Comparison& comparison) {
  std::vector<std::pair<std::string, std::vector<std::string>>> labels;  // by what differs
  for (const Variant& variant : comparison.variants) {
    if (variant.from_training.empty()) continue;
    const std::string differs = to_text(variant.from_training);
    const auto same = std::ranges::find_if(labels, [&](auto& one) { return one.first == differs; });
    (same != labels.end() ? *same : labels.emplace_back(differs, std::vector<std::string>{}))
        .second.push_back(variant.label);
  }
  std::vector<std::string> sentences;
  for (const auto& [differs, variants] : labels)
    sentences.push_back(fmt::format("Tested on other scenes than trained on: {}: {}.",
                                    fmt::join(variants, ", "), differs));
  return sentences;
}

std::vector<std::string> verdict(const Comparison& comparison) {
  const auto& variants = comparison.variants;
  if (variants.size() < 2) return {};
  if (variants.size() > 2) return of_many(comparison);
  return {of_two(variants[0], variants[1], comparison.scenes)};
}

}  // namespace saccade
