#include "experiments/comparison/tuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "experiments/comparison/statistics.h"
#include "experiments/config/setting_names.h"
#include "experiments/config/variants.h"

namespace saccade {
namespace {

using Keys = std::span<const std::string>;

[[noreturn]] void refuse(Keys keys, const std::string& why) {
  throw InputError(fmt::format("--tuned-by {}: {}", fmt::join(keys, ","), why));
}

std::vector<const Config*> configs_of(std::span<const Runs> configurations) {
  std::vector<const Config*> configs;
  for (const Runs& runs : configurations) configs.push_back(&runs[0].config);
  return configs;
}

std::vector<std::string> values_of(const Config& config, Keys keys) {
  std::vector<std::string> values;
  for (const std::string& key : keys) values.push_back(value_of(config, key));
  return values;
}

void check_differing(std::span<const Runs> configurations, Keys keys) {
  const std::vector<std::string> differing = differing_keys(configs_of(configurations));
  for (const std::string& key : keys)
    if (std::ranges::find(differing, key) == differing.end())
      refuse(keys, fmt::format("no two runs differ in {}; they differ in {}", key,
                               differing.empty() ? "nothing but the seed"
                                                 : fmt::format("{}", fmt::join(differing, ", "))));
}

using Tries = std::vector<Runs>;  // of one variant

std::vector<Tries> by_variant(std::vector<Runs> configurations, Keys keys) {
  std::vector<Tries> variants;
  for (Runs& runs : configurations) {
    const auto same = [&](const Tries& tries) {
      const Config* const both[] = {&tries[0][0].config, &runs[0].config};
      return differing_keys(both, keys).empty();
    };
    const auto found = std::ranges::find_if(variants, same);
    Tries& tries = found != variants.end() ? *found : variants.emplace_back();
    tries.push_back(std::move(runs));
  }
  return variants;
}

// "rnn 2 (0.01, 0.02), gru 1 (0.01); left out: runs/gru (not finished)"
std::string numbers_of_tries(std::span<const Tries> variants, Keys keys,
                             std::span<const std::string> labels,
                             std::span<const LeftOut> left_out) {
  std::vector<std::string> numbers;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    std::vector<std::string> values;
    for (const Runs& runs : variants[v])
      values.push_back(fmt::format("{}", fmt::join(values_of(runs[0].config, keys), " and ")));
    numbers.push_back(fmt::format("{} {} ({})", labels[v], values.size(), fmt::join(values, ", ")));
  }
  std::string text = fmt::format("{}", fmt::join(numbers, ", "));
  for (const LeftOut& out : left_out)
    text += fmt::format("; left out: {} ({})", out.folder.string(), out.reason);
  return text;
}

// Requires equal numbers of tries: with more tries, the best one is better by chance.
void check_numbers(std::span<const Tries> variants, Keys keys, std::span<const LeftOut> left_out) {
  std::vector<const Config*> configs;
  for (const Tries& tries : variants) configs.push_back(&tries[0][0].config);
  const std::vector<std::string> labels = variant_labels(configs, keys);
  const auto single = std::ranges::find(variants, std::size_t{1}, &Tries::size);
  if (single != variants.end())
    refuse(keys, fmt::format("{} was tried with one value alone; allowed: two and more, as many "
                             "for every variant: {}",
                             labels[single - variants.begin()],
                             numbers_of_tries(variants, keys, labels, left_out)));
  const auto other = [&](const Tries& tries) { return tries.size() != variants[0].size(); };
  if (std::ranges::any_of(variants, other))
    refuse(keys, fmt::format("unequal numbers of tries; allowed: as many for every variant: {}",
                             numbers_of_tries(variants, keys, labels, left_out)));
}

bool has_seed(const Runs& runs, std::uint64_t seed) {
  return std::ranges::any_of(runs, [&](const FinishedRun& r) { return r.config.seed == seed; });
}

std::vector<std::uint64_t> common_seeds(const Tries& tries) {
  std::vector<std::uint64_t> seeds;
  for (const FinishedRun& run : tries[0])
    if (std::ranges::all_of(tries,
                            [&](const Runs& runs) { return has_seed(runs, run.config.seed); }))
      seeds.push_back(run.config.seed);
  return seeds;
}

Try held_by(const Runs& runs, const std::vector<std::uint64_t>& seeds, Keys keys) {
  Try one{.values = values_of(runs[0].config, keys), .folders = {}, .valid_error = {}};
  std::vector<double> errors;
  for (const FinishedRun& run : runs) {
    one.folders.push_back(run.folder);
    if (std::ranges::find(seeds, run.config.seed) != seeds.end()) errors.push_back(run.valid_error);
  }
  one.valid_error = estimate_share(errors);
  return one;
}

Tuned choose(Tries tries, Keys keys) {
  Tuned variant{.runs = {}, .tries = {}, .seeds = common_seeds(tries)};
  if (variant.seeds.empty())
    refuse(keys, fmt::format("no seed is common to {} and the other tries of its variant",
                             tries[0][0].folder.string()));
  for (const Runs& runs : tries) variant.tries.push_back(held_by(runs, variant.seeds, keys));
  const auto best = std::ranges::min_element(variant.tries, {},
                                             [](const Try& one) { return one.valid_error.value; });
  best->chosen = true;
  variant.runs = std::move(tries[best - variant.tries.begin()]);
  return variant;
}

}  // namespace

const Try& chosen_try(const Variant& variant) {
  return *std::ranges::find_if(variant.tries, &Try::chosen);
}

void check_tuned_by(Keys keys) {
  const std::vector<std::string> known = setting_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (std::ranges::find(known, keys[i]) == known.end())
      refuse(keys, fmt::format("unknown key '{}'; did you mean '{}'?", keys[i],
                               nearest_key(keys[i], known)));
    if (std::ranges::find(keys.first(i), keys[i]) != keys.begin() + i)
      refuse(keys, fmt::format("{} is named twice", keys[i]));
    if (!makes_variants(keys[i]))
      refuse(keys,
             fmt::format("{} names a run or a place; allowed: what a run is made by", keys[i]));
  }
}

std::vector<Tuned> tune(std::vector<Runs> configurations, Keys keys,
                        std::span<const LeftOut> left_out) {
  std::vector<Tuned> tuned;
  if (keys.empty()) {
    for (Runs& runs : configurations) tuned.push_back({.runs = std::move(runs)});
    return tuned;
  }
  check_differing(configurations, keys);
  std::vector<Tries> variants = by_variant(std::move(configurations), keys);
  check_numbers(variants, keys, left_out);
  for (Tries& tries : variants) tuned.push_back(choose(std::move(tries), keys));
  return tuned;
}

}  // namespace saccade
