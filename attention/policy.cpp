#include "attention/policy.h"

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/name_table.h"

namespace saccade {
namespace {

void gaussian(Matrix samples, const LookRequest& request) {
  for (int b = 0; b < samples.rows; ++b)
    for (int axis = 0; axis < samples.cols; ++axis) {
      const float std = axis < 2 ? request.std : request.zoom_std;
      const float noise = std > 0.0F ? std * request.streams[b].normal() : 0.0F;
      samples(b, axis) = request.mean(b, axis) + noise;
    }
}

void uniform(Matrix samples, const LookRequest& request) {
  for (int b = 0; b < samples.rows; ++b)
    for (int axis = 0; axis < samples.cols; ++axis)
      samples(b, axis) = request.streams[b].uniform(-1.0F, 1.0F);
}

// Gives every look the same zoom, if there is one.
void set_zoom(Matrix samples, float zoom) {
  for (int b = 0; samples.cols > 2 && b < samples.rows; ++b) samples(b, 2) = zoom;
}

// The widest look first, then the closest.
void approach(Matrix samples, const LookRequest& request) {
  set_zoom(samples, request.t == 0 ? 1.0F : -1.0F);
}

// Turns the places that a control looks at into its actions.
void look_at_places(Matrix places, const LookRequest& request) {
  if (request.moves != nullptr) lead_to(places, request.from, *request.moves);
}

void center(Matrix samples, const LookRequest& request) {
  for (int b = 0; b < samples.rows; ++b) samples(b, 0) = samples(b, 1) = 0.0F;
  approach(samples, request);
  look_at_places(samples, request);
}

// Cell t of a grid with about as many rows as columns, counted from the upper left.
void scan(Matrix samples, const LookRequest& request) {
  const int rows = static_cast<int>(std::sqrt(static_cast<float>(request.num_glimpses)));
  const int cols = (request.num_glimpses + rows - 1) / rows;
  const auto cell_centre = [](int cell, int cells) {
    return (2.0F * static_cast<float>(cell) + 1.0F) / static_cast<float>(cells) - 1.0F;
  };
  for (int b = 0; b < samples.rows; ++b) {
    samples(b, 0) = cell_centre(request.t % cols, cols);
    samples(b, 1) = cell_centre(request.t / cols, rows);
  }
  set_zoom(samples, 1.0F);
  look_at_places(samples, request);
}

void oracle(Matrix samples, const LookRequest& request) {
  for (int b = 0; b < samples.rows; ++b)
    for (int axis = 0; axis < 2; ++axis) samples(b, axis) = request.target(b, axis);
  approach(samples, request);
  look_at_places(samples, request);
}

struct PolicyKind {
  Policy policy;
  bool has_fixed_places = false;
  bool visits_all_parts = false;
};

NameTable<PolicyKind>& policy_table() {
  static NameTable<PolicyKind> table{
      "policy",
      {{"hard_gaussian", {gaussian}},
       {"random", {uniform}},
       {"center", {.policy = center, .has_fixed_places = true}},
       {"scan", {.policy = scan, .has_fixed_places = true, .visits_all_parts = true}},
       {"oracle", {oracle}}}};
  return table;
}

struct FirstGlimpse {
  Policy policy;
  bool is_learned = false;
  bool is_drawn = false;
};

const NameTable<FirstGlimpse>& firsts() {
  static const NameTable<FirstGlimpse> table{
      "attention.glimpse.first",
      {{"random", {.policy = uniform, .is_drawn = true}},
       {"center", {center}},
       {"learned", {.policy = gaussian, .is_learned = true}}}};
  return table;
}

}  // namespace

Policy find_policy(const std::string& kind) { return policy_table().at(kind).policy; }
std::vector<std::string> policies() { return policy_table().names(); }
bool has_fixed_places(const std::string& kind) {
  const PolicyKind* found = policy_table().find(kind);
  return found != nullptr && found->has_fixed_places;
}
bool visits_all_parts(const std::string& kind) {
  const PolicyKind* found = policy_table().find(kind);
  return found != nullptr && found->visits_all_parts;
}
void register_policy(const std::string& name, Policy policy) {
  if (policy == nullptr)
    throw InputError("policy: '" + name + "' cannot be registered: needed: a function");
  policy_table().add(name, {policy});
}
Policy find_first_glimpse(const std::string& first) { return firsts().at(first).policy; }
std::vector<std::string> first_glimpses() { return firsts().names(); }
bool first_is_learned(const std::string& first) { return firsts().at(first).is_learned; }
bool first_is_drawn(const std::string& first) { return firsts().at(first).is_drawn; }

std::array<float, 2> spread_offset(int t, int num_glimpses) {
  if (t == 0) return {0.0F, 0.0F};
  static const double golden_angle = std::numbers::pi * (3.0 - std::sqrt(5.0));
  const auto information = [&](int look) { return -std::log1p(-1.0 * look / num_glimpses); };
  double mean = 0.0;
  for (int look = 0; look < num_glimpses; ++look) mean += information(look) / num_glimpses;
  const double radius = std::sqrt(2.0 * information(t) / mean);
  return {static_cast<float>(radius * std::cos(golden_angle * t)),
          static_cast<float>(radius * std::sin(golden_angle * t))};
}

float spread_quantile(int t) {
  const double turns = t * std::numbers::phi;
  return static_cast<float>(turns - std::floor(turns));
}

void clamp_to_canvas(Matrix locations, ConstMatrix samples) {
  for (int b = 0; b < samples.rows; ++b)
    for (int axis = 0; axis < samples.cols; ++axis) {
      const float l = samples(b, axis);
      locations(b, axis) = l >= 1.0F ? 1.0F : l > -1.0F ? l : -1.0F;
    }
}

void clamp_backward(Matrix dlocations, ConstMatrix samples) {
  for (int b = 0; b < samples.rows; ++b)
    for (int axis = 0; axis < samples.cols; ++axis)
      if (std::abs(samples(b, axis)) > 1.0F) dlocations(b, axis) = 0.0F;
}

void squash_forward(Matrix mean) {
  for (int r = 0; r < mean.rows; ++r)
    for (int axis = 0; axis < mean.cols; ++axis) mean(r, axis) = std::tanh(mean(r, axis));
}

void squash_backward(Matrix dmean, ConstMatrix mean) {
  for (int r = 0; r < mean.rows; ++r)
    for (int axis = 0; axis < mean.cols; ++axis)
      dmean(r, axis) *= 1.0F - mean(r, axis) * mean(r, axis);
}

float gaussian_log_probability_forward(const float* sample, const float* mean, float std) {
  const float dx = (sample[0] - mean[0]) / std;
  const float dy = (sample[1] - mean[1]) / std;
  return -0.5F * (dx * dx + dy * dy) - 2.0F * std::log(std) -
         std::log(2.0F * std::numbers::pi_v<float>);
}

float gaussian_log_probability_backward(float* dmean, const float* sample, const float* mean,
                                        float std, float scale) {
  const float dx = (sample[0] - mean[0]) / std;
  const float dy = (sample[1] - mean[1]) / std;
  dmean[0] += scale * dx / std;
  dmean[1] += scale * dy / std;
  return scale * (dx * dx + dy * dy - 2.0F);
}

float gaussian_entropy(float std) {
  return 1.0F + std::log(2.0F * std::numbers::pi_v<float>) + 2.0F * std::log(std);
}

float zoom_log_probability_forward(float sample, float mean, float std) {
  const float d = (sample - mean) / std;
  return -0.5F * (d * d + std::log(2.0F * std::numbers::pi_v<float>)) - std::log(std);
}

float zoom_log_probability_backward(float sample, float mean, float std, float scale) {
  return scale * (sample - mean) / (std * std);
}

float zoom_entropy(float std) { return 0.5F * gaussian_entropy(std); }

}  // namespace saccade
