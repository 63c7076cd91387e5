#include "experiments/evaluation/tally.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "experiments/evaluation/coverage.h"
#include "experiments/evaluation/edit_distance.h"
#include "experiments/evaluation/stopping.h"

namespace saccade {
namespace {

constexpr float kBorder = 0.98F;

// Returns the weight of a look inside the box of a digit.
float weight_in(const Gaze& gaze, const Region& region) {
  float weight = 0.0F;
  for (int k = 0; k < gaze.places.rows; ++k)
    if (region.contains(gaze.places(k, 0), gaze.places(k, 1))) weight += gaze.weights[k];
  return weight;
}

// Returns the weight that hidden-state attention gave to the states after looks at the requested
// digit: for the class, in the last read; for each symbol of a sequence, in its own read.
double weight_on_answer(const Model& model, const Rollout& rollout, int b) {
  const auto [weights, hops] = rollout.answer->state_weights();
  if (weights == nullptr) return 0.0;
  const SceneFacts& facts = rollout.environment->facts()[b];
  const int steps = rollout.core.steps;
  const bool sequence = model.answer().spells;
  const int first = sequence ? 0 : rollout.stopped_at(b) - 1;
  const int end = sequence ? facts.num_symbols - 1 : first + 1;
  double sum = 0.0;
  for (int s = first; s < end; ++s)
    for (int t = 0; t < steps; ++t) {
      float seen = 0.0F;
      for (int d = 0; d < facts.num_digits; ++d)
        if (sequence ? d == s : facts.is_answer[d])
          seen = std::max(seen, weight_in(rollout.look->gaze(t, b), facts.regions[d]));
      for (int hop = 0; hop < hops; ++hop)
        sum += (*weights)(s, b, hop * steps + t) * seen / static_cast<float>(hops);
    }
  return end > first ? sum / (end - first) : 0.0;
}

}  // namespace

int most_probable(const float* p, int classes) {
  return static_cast<int>(std::max_element(p, p + classes) - p);
}

void Tally::add_look(int t, const SceneFacts& facts, const Gaze& gaze) {
  ++looks[t];
  zoom[t] += gaze.zoom;
  for (int k = 0; k < gaze.places.rows; ++k) {
    const float weight = gaze.weights[k];
    if (weight == 0.0F) continue;
    const float x = gaze.places(k, 0), y = gaze.places(k, 1);
    float nearest = std::numeric_limits<float>::max();
    bool on_digit = false;
    for (int d = 0; d < facts.num_digits; ++d) {
      const Region& region = facts.regions[d];
      nearest = std::min(nearest, std::hypot(x - region.x, y - region.y));
      on_digit = on_digit || region.contains(x, y);
    }
    on_target[t] += on_digit ? weight : 0.0F;
    border += std::max(std::abs(x), std::abs(y)) >= kBorder ? weight : 0.0F;
    if (facts.num_digits > 0) distance += weight * nearest;
  }
}

void Tally::add_answer(const Model& model, const Rollout& rollout, int b) {
  const Answer& answer = *rollout.answer;
  if (model.answer().spells) {
    edits += edit_distance(answer.predictions(b), answer.labels(b));
    symbols += static_cast<double>(answer.labels(b).size());
  }
  if (model.look().looks) on_answer += weight_on_answer(model, rollout, b);
}

void Tally::add_details(const Model& model, const Rollout& rollout, int count) {
  const int steps = model.num_glimpses(), classes = model.num_classes();
  const bool has_classes = model.answer().classifies, stops = may_stop(model);
  sureness.clear();
  right.clear();
  searched.clear();
  errors_by_glimpse.assign(has_classes ? steps : 0, 0);
  confusion.assign(has_classes ? classes * classes : 0, 0);
  const MapSize size = map_size(model.canvas());
  PatchSum map({0, 0, size.cols, size.rows}, size.rows, size.cols);
  for (int b = 0; b < count; ++b) {
    for (int t = 0; t < rollout.stopped_at(b); ++t) map.add(rollout.look->gaze(t, b));
    if (rollout.environment->has_cue()) {
      const SceneFacts& facts = rollout.environment->facts()[b];
      searched.push_back({facts.num_digits, facts.label});
    }
    const Answer& answer = *rollout.answer;
    for (int t = 0; stops && t < steps; ++t) {
      sureness.push_back(answer.sureness(t, b));
      right.push_back(answer.right(t, b));
    }
    if (!has_classes) continue;
    for (int t = 0; t < steps; ++t) errors_by_glimpse[t] += !answer.right(t, b);
    ++confusion[answer.labels(b)[0] * classes + answer.predictions(b)[0]];
  }
  look_map = map.total();
}

namespace {

// For a Tally or a const Tally.
template <class AnyTally, class Visit>
void visit_members(AnyTally& tally, const Visit& visit) {
  visit(tally.errors);
  visit(tally.shown);
  for (auto* sum : {&tally.edits, &tally.symbols, &tally.on_answer, &tally.border, &tally.distance,
                    &tally.coverage, &tally.entropy})
    visit(std::span(sum, 1));
  visit(tally.looks);
  visit(tally.on_target);
  visit(tally.zoom);
  visit(tally.errors_by_glimpse);
  visit(tally.confusion);
  visit(tally.look_map);
  visit(tally.sureness);
  visit(tally.right);
  visit(tally.searched);
}

}  // namespace

std::string to_bytes(std::span<const Tally> tallies) {
  std::string bytes;
  const auto append = [&](const auto& values) {
    const std::uint64_t size = values.size();
    const std::size_t here = bytes.size(), length = size * sizeof values[0];
    bytes.resize(here + sizeof size + length);
    std::memcpy(bytes.data() + here, &size, sizeof size);
    if (size > 0) std::memcpy(bytes.data() + here + sizeof size, values.data(), length);
  };
  for (const Tally& tally : tallies) visit_members(tally, append);
  return bytes;
}

void from_bytes(std::span<Tally> tallies, std::string_view bytes) {
  const auto take = [&](void* to, std::size_t length) {
    if (length > 0) bytes.copy(static_cast<char*>(to), length);
    bytes.remove_prefix(length);
  };
  const auto read = [&](auto&& values) {
    std::uint64_t size = 0;
    take(&size, sizeof size);
    if constexpr (requires { values.resize(size); }) values.resize(size);
    take(values.data(), size * sizeof values[0]);
  };
  for (Tally& tally : tallies) visit_members(tally, read);
}

}  // namespace saccade
