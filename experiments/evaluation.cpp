#include "experiments/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace saccade {
namespace {

constexpr int kChunk = 100;  // scenes that one worker takes at a time
constexpr float kBorder = 0.98F;

}  // namespace

// Counts over the scenes of a chunk and all their passes.
struct Evaluator::Tally {
  int errors = 0;
  int border = 0;
  double distance = 0.0;
  std::vector<int> on_target;  // (T)

  void add_look(int t, const SceneFacts& facts, const float* location);
};

void Evaluator::Tally::add_look(int t, const SceneFacts& facts, const float* location) {
  const float x = location[0], y = location[1];
  float nearest = std::numeric_limits<float>::max();
  bool on_digit = false;
  for (int k = 0; k < facts.num_digits; ++k) {
    const Region& region = facts.regions[k];
    nearest = std::min(nearest, std::hypot(x - region.x, y - region.y));
    on_digit = on_digit || region.contains(x, y);
  }
  on_target[t] += on_digit;
  border += std::max(std::abs(x), std::abs(y)) >= kBorder;
  distance += nearest;
}

void wilson_interval(double share, int count, double& low, double& high) {
  constexpr double z = 1.959963985;
  const double n = count;
  const double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  // The ends are exact where rounding would leave a trace of the other terms.
  low = share > 0.0 ? centre - half : 0.0;
  high = share < 1.0 ? centre + half : 1.0;
}

Evaluator::Evaluator(const Model& model, const EnvironmentFactory& environments, int scenes,
                     std::uint64_t seed, Workers& workers)
    : model_(model), workers_(workers), scenes_(scenes), seed_(seed) {
  tallies_.resize((scenes + kChunk - 1) / kChunk);
  const int players = std::min<int>(workers.threads(), static_cast<int>(tallies_.size()));
  for (int i = 0; i < players; ++i)
    rollouts_.push_back(std::make_unique<Rollout>(model, environments(kChunk, 1)));
}

Evaluator::~Evaluator() = default;

Evaluation Evaluator::run(std::span<const float> parameters, const PassRequest& request) {
  const int players = static_cast<int>(rollouts_.size());
  const int chunks = static_cast<int>(tallies_.size());
  workers_.for_each(players, [&](int player) {
    for (int chunk = player; chunk < chunks; chunk += players)
      play(*rollouts_[player], chunk, parameters, request);
  });

  const int steps = model_.num_glimpses();
  const double scene_looks = static_cast<double>(scenes_) * request.passes;  // of one glimpse
  std::int64_t errors = 0, border = 0, on_target = 0;
  std::vector<std::int64_t> on_target_by_glimpse(steps);
  double distance = 0.0;
  for (const Tally& tally : tallies_) {
    errors += tally.errors;
    border += tally.border;
    distance += tally.distance;
    for (int t = 0; t < steps; ++t) {
      on_target += tally.on_target[t];
      on_target_by_glimpse[t] += tally.on_target[t];
    }
  }
  Evaluation result;
  result.scenes = scenes_;
  result.error = static_cast<double>(errors) / scenes_;
  result.border = static_cast<double>(border) / (scene_looks * steps);
  result.distance = distance / (scene_looks * steps);
  result.on_target = static_cast<double>(on_target) / (scene_looks * steps);
  for (const std::int64_t hits : on_target_by_glimpse)
    result.on_target_by_glimpse.push_back(static_cast<double>(hits) / scene_looks);
  wilson_interval(result.error, scenes_, result.error_low, result.error_high);
  return result;
}

void Evaluator::play(Rollout& rollout, int chunk, std::span<const float> parameters,
                     const PassRequest& request) {
  const int steps = model_.num_glimpses();
  const int first = chunk * kChunk;
  const int count = std::min(kChunk, scenes_ - first);
  Tally& tally = tallies_[chunk];
  tally = {};
  tally.on_target.assign(steps, 0);
  Tensor<2> mean_probability = zeros<2>(kChunk, model_.num_classes());

  for (int pass = 0; pass < request.passes; ++pass) {
    rollout.run(parameters, {.first_scene = static_cast<std::uint64_t>(first),
                             .seed = seed_,
                             .update = static_cast<std::uint32_t>(pass),
                             .first_episode = static_cast<std::uint32_t>(first),
                             .std = request.std,
                             .policy = request.policy});
    const ConstMatrix p = step(rollout.probabilities, steps - 1);
    for (int b = 0; b < count; ++b) {
      for (int c = 0; c < p.cols; ++c) mean_probability(b, c) += p(b, c);
      for (int t = 0; t < steps; ++t)
        tally.add_look(t, rollout.environment->facts()[b], &rollout.locations(t, b, 0));
    }
  }
  for (int b = 0; b < count; ++b) {
    const float* p = &mean_probability(b, 0);
    const auto answer = std::max_element(p, p + model_.num_classes()) - p;
    tally.errors += answer != rollout.labels[b];
  }
}

}  // namespace saccade
