#include "experiments/evaluation/stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace saccade {
namespace {

OverScenes over_scenes(const ShareInterval& interval) {
  return {interval.share, interval.low, interval.high};
}

}  // namespace

bool may_stop(const Model& model) {
  return (model.answer().classifies || model.answer().stops) && model.num_glimpses() > 1;
}

void require_may_stop(const Model& model, const std::string& given) {
  if (may_stop(model)) return;
  throw InputError(fmt::format(
      "{}: the agent {}; allowed: for agents that answer one class after several looks, or a "
      "sequence with attention.glimpse.stop",
      given,
      !model.answer().classifies ? "does not answer a class"
                                 : "looks once (attention.glimpse.num_glimpses: 1)"));
}

void check_threshold(double threshold, const std::string& option) {
  if (!(threshold > 0.0 && threshold < 1.0))
    throw InputError(fmt::format("{} {}: allowed: above 0 and below 1", option, threshold));
}

void check_target(const StopTarget& target, int looks) {
  if (target.error && target.looks)
    throw InputError(fmt::format("--stop-error {} and --stop-looks {}: allowed: one of them",
                                 *target.error, *target.looks));
  if (target.error && !(*target.error >= 0.0 && *target.error <= 1.0))
    throw InputError(
        fmt::format("--stop-error {}: allowed: 0 to 1, a share of the scenes", *target.error));
  if (target.looks && !(*target.looks >= 1.0 && *target.looks <= looks))
    throw InputError(
        fmt::format("--stop-looks {}: allowed: 1 to {}, mean looks", *target.looks, looks));
}

std::vector<double> stop_thresholds() {
  std::vector<double> thresholds = {0.0};
  const auto add = [&](int first, int last, int step, double parts) {
    for (int i = first; i <= last; i += step) thresholds.push_back(i / parts);
  };
  add(10, 50, 10, 100.0);
  add(55, 90, 5, 100.0);
  add(91, 99, 1, 100.0);
  add(991, 999, 1, 1000.0);
  add(9991, 9999, 1, 10000.0);
  thresholds.push_back(1.0);
  return thresholds;
}

int looks_until_sure(std::span<const float> sureness, double threshold) {
  std::size_t looks = 1;
  while (looks < sureness.size() && !(sureness[looks - 1] > threshold)) ++looks;
  return static_cast<int>(looks);
}

std::vector<int> looks_until_sure(const LookOutcomes& outcomes, double threshold) {
  std::vector<int> looks(outcomes.scenes());
  const auto steps = static_cast<std::size_t>(outcomes.looks);
  for (std::size_t n = 0; n < looks.size(); ++n)
    looks[n] = looks_until_sure(std::span(outcomes.sureness).subspan(n * steps, steps), threshold);
  return looks;
}

std::vector<int> looks_until_right(const LookOutcomes& outcomes) {
  std::vector<int> looks(outcomes.scenes());
  for (int n = 0; n < outcomes.scenes(); ++n) {
    const std::uint8_t* right = &outcomes.right[std::size_t(n) * outcomes.looks];
    const auto first = std::find(right, right + outcomes.looks, 1) - right;
    looks[n] = std::min(static_cast<int>(first) + 1, outcomes.looks);
  }
  return looks;
}

StopMeasure::StopMeasure(const LookOutcomes& outcomes)
    : outcomes_(outcomes), groups_(outcomes.scenes(), outcomes.shown) {}

StopPoint StopMeasure::at(std::span<const int> looks) const {
  const std::size_t scenes = looks.size();
  std::vector<float> errors(scenes), taken(scenes);
  for (std::size_t n = 0; n < scenes; ++n) {
    errors[n] = outcomes_.right[n * outcomes_.looks + looks[n] - 1] != 0 ? 0.0F : 1.0F;
    taken[n] = static_cast<float>(looks[n]);
  }
  const MeanInterval mean = groups_.mean(taken);
  const double most = outcomes_.looks;
  return {over_scenes(groups_.share(errors)),
          {mean.mean, std::max(1.0, mean.low), std::min(most, mean.high)}};
}

std::vector<StopPoint> StopMeasure::at_thresholds(std::span<const double> thresholds) const {
  std::vector<StopPoint> points;
  for (const double threshold : thresholds)
    points.push_back(at(looks_until_sure(outcomes_, threshold)));
  return points;
}

std::vector<StopPoint> StopMeasure::always() const {
  std::vector<StopPoint> points;
  for (int looks = 1; looks <= outcomes_.looks; ++looks)
    points.push_back(at(std::vector(outcomes_.scenes(), looks)));
  return points;
}

StopCurves stop_curves(const LookOutcomes& valid) {
  StopCurves curves;
  curves.thresholds = stop_thresholds();
  curves.valid = StopMeasure(valid).at_thresholds(curves.thresholds);
  return curves;
}

void add_test(StopCurves& curves, const LookOutcomes& test) {
  const StopMeasure measure(test);
  curves.test = measure.at_thresholds(curves.thresholds);
  curves.always = measure.always();
  curves.oracle = measure.at(looks_until_right(test));
}

std::size_t chosen_threshold(const StopCurves& curves, const StopTarget& target) {
  const std::vector<StopPoint>& valid = curves.valid;
  const auto error = [&](std::size_t k) { return valid[k].error.value; };
  const auto looks = [&](std::size_t k) { return valid[k].looks.value; };
  std::vector<std::size_t> places(valid.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (target.looks) {
    const std::size_t fewest = *std::ranges::min_element(places, {}, looks);
    std::erase_if(places, [&](std::size_t k) { return looks(k) > *target.looks; });
    if (places.empty())
      throw InputError(fmt::format(
          "--stop-looks {}: no threshold has so few looks on the validation scenes; allowed: from "
          "{:.4g} (threshold {})",
          *target.looks, looks(fewest), curves.thresholds[fewest]));
    return *std::ranges::min_element(places, {}, error);
  }
  const double most = target.error.value_or(valid.back().error.value);
  const std::size_t best = *std::ranges::min_element(places, {}, error);
  std::erase_if(places, [&](std::size_t k) { return error(k) > most; });
  if (places.empty())
    throw InputError(fmt::format(
        "--stop-error {}: no threshold has so little error on the validation scenes; allowed: from "
        "{:.4g}, that of {:.2f} looks (threshold {})",
        most, error(best), looks(best), curves.thresholds[best]));
  return *std::ranges::min_element(places, {}, looks);
}

EpisodeCost cost_of(const Model& model, double looks) {
  const int steps = model.num_glimpses();
  const auto of = [](const Model& one) {
    return EpisodeCost{2e-9 * static_cast<double>(one.play_work()), one.look().canvas_pixels};
  };
  const EpisodeCost all = of(model);
  AgentConfig shorter = model.config();
  shorter.glimpse.num_glimpses = steps - 1;
  shorter.hidden.mask.clear();  // has a digit for each look
  const Model one_less(shorter, model.spec());
  EpisodeCost look{all.gflop / steps, all.canvas_pixels / steps};
  if (one_less.num_glimpses() < steps) {
    const EpisodeCost less = of(one_less);
    look = {all.gflop - less.gflop, all.canvas_pixels - less.canvas_pixels};
  }
  const double left_out = steps - looks;
  return {all.gflop - left_out * look.gflop, all.canvas_pixels - left_out * look.canvas_pixels};
}

}  // namespace saccade
