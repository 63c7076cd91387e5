#include "experiments/evaluation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "experiments/coverage.h"
#include "nn/layers.h"

namespace saccade {
namespace {

constexpr int kChunk = 100;  // scenes that one worker takes at a time
constexpr float kBorder = 0.98F;

}  // namespace

// Sums over the scenes of a chunk and all their passes.
struct Evaluator::Tally {
  int errors = 0;
  double border = 0.0;
  double distance = 0.0;
  double coverage = 0.0;
  double entropy = 0.0;
  std::vector<double> on_target;  // (T)

  // Where details are asked for
  std::vector<int> errors_by_glimpse;  // (T)
  std::vector<int> confusion;          // (C, C)
  std::vector<float> look_map;         // (rows, cols)

  void add_look(int t, const SceneFacts& facts, const Gaze& gaze);
  void add_details(const Model& model, const Rollout& rollout, int count);
};

void Evaluator::Tally::add_look(int t, const SceneFacts& facts, const Gaze& gaze) {
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
    distance += weight * nearest;
  }
}

// Of the first `count` episodes of a rollout that classified at every step.
void Evaluator::Tally::add_details(const Model& model, const Rollout& rollout, int count) {
  const int steps = model.num_glimpses(), classes = model.num_classes();
  errors_by_glimpse.assign(steps, 0);
  confusion.assign(classes * classes, 0);
  const MapSize size = map_size(model.canvas());
  PatchSum map({0, 0, size.cols, size.rows}, size.rows, size.cols);
  for (int b = 0; b < count; ++b) {
    const int label = rollout.labels[b];
    for (int t = 0; t < steps; ++t) {
      const float* p = &rollout.probabilities(t, b, 0);
      errors_by_glimpse[t] += std::max_element(p, p + classes) - p != label;
      map.add(rollout.look->gaze(t, b));
    }
    ++confusion[label * classes + rollout.classes[b]];
  }
  look_map = map.total();
}

namespace {

// (T, B, A) with each episode's actions given to the one after it.
Tensor<3> given_to_the_next(const Tensor<3>& actions) {
  Tensor<3> shifted = actions;
  const int steps = static_cast<int>(actions.shape()[0]);
  const int batch = static_cast<int>(actions.shape()[1]);
  for (int t = 0; t < steps; ++t)
    for (int b = 0; b < batch; ++b)
      copy_rows(step(shifted, t).row_range((b + 1) % batch, 1), step(actions, t).row_range(b, 1));
  return shifted;
}

}  // namespace

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
  Evaluation result;
  result.scenes = scenes_;
  result.on_target_by_glimpse.assign(steps, 0.0);
  for (const Tally& tally : tallies_) {
    result.error += tally.errors;
    result.border += tally.border;
    result.distance += tally.distance;
    result.coverage += tally.coverage;
    result.entropy += tally.entropy;
    for (int t = 0; t < steps; ++t) result.on_target_by_glimpse[t] += tally.on_target[t];
  }
  const double episodes = static_cast<double>(scenes_) * request.passes;
  result.error /= scenes_;
  result.coverage /= episodes;
  for (double* mean : {&result.border, &result.distance, &result.entropy})
    *mean /= episodes * steps;
  for (double& share : result.on_target_by_glimpse) {
    share /= episodes;
    result.on_target += share / steps;
  }
  wilson_interval(result.error, scenes_, result.error_low, result.error_high);
  if (request.details) result.details = details();
  return result;
}

EvaluationDetails Evaluator::details() const {
  const auto sum = [&](auto member) {
    std::vector<double> total((tallies_[0].*member).size(), 0.0);
    for (const Tally& tally : tallies_)
      std::ranges::transform(total, tally.*member, total.begin(), std::plus());
    return total;
  };
  EvaluationDetails details{.error_by_glimpse = sum(&Tally::errors_by_glimpse),
                            .confusion = sum(&Tally::confusion),
                            .map = map_size(model_.canvas()),
                            .look_map = sum(&Tally::look_map)};
  for (double& share : details.error_by_glimpse) share /= scenes_;
  for (double& share : details.look_map)
    share /= static_cast<double>(scenes_) * model_.num_glimpses();
  return details;
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
    RolloutRequest rollout_request{.first_scene = static_cast<std::uint64_t>(first),
                                   .seed = seed_,
                                   .update = static_cast<std::uint32_t>(pass),
                                   .first_episode = static_cast<std::uint32_t>(first),
                                   .std = model_.location_std(request.progress, parameters),
                                   .temperature = model_.temperature(request.progress),
                                   .readout = request.readout,
                                   .policy = request.policy,
                                   .classify_every_step = request.details};
    rollout.run(parameters, rollout_request);
    if (request.shuffled && rollout.look->actions.size() > 0) {
      const Tensor<3> others = given_to_the_next(rollout.look->actions);
      rollout_request.replay = &others;
      rollout.run(parameters, rollout_request);
    }
    const ConstMatrix p = step(rollout.probabilities, steps - 1);
    for (int b = 0; b < count; ++b) {
      const SceneFacts& facts = rollout.environment->facts()[b];
      for (int c = 0; c < p.cols; ++c) mean_probability(b, c) += p(b, c);
      for (int t = 0; t < steps; ++t) {
        tally.add_look(t, facts, rollout.look->gaze(t, b));
        tally.entropy += rollout.look->entropy(t, b, rollout_request);
      }
      tally.coverage += coverage(facts, *rollout.look, steps, b, model_.canvas());
    }
  }
  if (request.details) tally.add_details(model_, rollout, count);
  for (int b = 0; b < count; ++b) {
    const float* p = &mean_probability(b, 0);
    const auto answer = std::max_element(p, p + model_.num_classes()) - p;
    tally.errors += answer != rollout.labels[b];
  }
}

}  // namespace saccade
