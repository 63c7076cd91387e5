#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/analysis/gradients.h"

namespace saccade {
namespace {

// If the signal cannot be distinguished from 0, only its upper bound is shown.
std::string signal_word(const GradientNoise& noise) {
  if (noise.low == 0.0) return fmt::format("below {:.4f}", noise.high);
  return fmt::format("{:.4f} [{:.4f}, {:.4f}]", noise.signal_to_noise, noise.low, noise.high);
}

}  // namespace

std::string to_table(const GradientReport& report) {
  std::string table = fmt::format(
      "  locator's gradient, {} scenes x {} rollouts, {} draws, reinforce.critic: {}\n  "
      "{:<16}{:>14}{:>14}   {}\n",
      report.scenes, report.rollouts, report.samples, report.critic, "advantage", "|mean|",
      "variance", "signal to noise, 95 % interval");
  for (const auto& [name, noise] : report.estimators)
    table += fmt::format("  {:<16}{:>14.3e}{:>14.3e}   {}\n", name, noise.mean_norm, noise.variance,
                         signal_word(noise));
  if (!report.exact) return table;
  table += fmt::format(
      "\n  last glimpse alone, against the exact gradient |g*| = {:.3e}\n"
      "  {:<16}{:>14}{:>14}{:>22}{:>20}\n",
      report.exact->norm, "advantage", "|mean|", "variance", "|mean - g*| / |g*|",
      "expected by noise");
  for (const LastGlimpseGradient::Line& row : report.exact->estimators)
    table += fmt::format("  {:<16}{:>14.3e}{:>14.3e}{:>22.4f}{:>20.4f}\n", row.estimator,
                         row.mean_norm, row.variance, row.distance, row.expected_distance);
  return table;
}

nlohmann::ordered_json to_json(const GradientReport& report) {
  nlohmann::ordered_json document{{"scenes", report.scenes},
                                  {"rollouts", report.rollouts},
                                  {"samples", report.samples},
                                  {"critic", report.critic},
                                  {"average_returns", report.average_returns}};
  for (const auto& [name, noise] : report.estimators)
    document["estimators"][name] = {{"mean_norm", noise.mean_norm},
                                    {"variance", noise.variance},
                                    {"signal_to_noise", noise.signal_to_noise},
                                    {"signal_to_noise_low", noise.low},
                                    {"signal_to_noise_high", noise.high}};
  if (!report.exact) return document;
  nlohmann::ordered_json& exact = document["exact"] = {{"norm", report.exact->norm}};
  for (const LastGlimpseGradient::Line& row : report.exact->estimators)
    exact["estimators"][row.estimator] = {{"mean_norm", row.mean_norm},
                                          {"variance", row.variance},
                                          {"distance", row.distance},
                                          {"expected_distance", row.expected_distance}};
  return document;
}

}  // namespace saccade
