#include "experiments/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

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

  void add_look(int t, const SceneFacts& facts, const Gaze& gaze);
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

namespace {

// How much of a digit's box the finest patches of an episode have seen: a pixel that a look sees
// with weight w stays unseen with 1 - w.
class Coverage {
 public:
  Coverage(const Box& box, CanvasSize canvas)
      : box_(box), canvas_(canvas), unseen_(box.width * box.height, 1.0F) {}

  void add(const Gaze& gaze) {
    // Corners of the patches' overlaps with the box, whose running sums are the weights seen.
    std::vector<float> seen((box_.width + 1) * (box_.height + 1), 0.0F);
    const auto at = [&](int x, int y) -> float& { return seen[y * (box_.width + 1) + x]; };
    for (int k = 0; k < gaze.places.rows; ++k) {
      const auto [left, right] =
          overlap(gaze.places(k, 0), gaze.half_width, canvas_.cols, box_.x, box_.width);
      const auto [top, bottom] =
          overlap(gaze.places(k, 1), gaze.half_height, canvas_.rows, box_.y, box_.height);
      if (left >= right || top >= bottom) continue;
      const float weight = gaze.weights[k] * gaze.exposure;
      at(left, top) += weight;
      at(right, top) -= weight;
      at(left, bottom) -= weight;
      at(right, bottom) += weight;
    }
    for (int y = 0; y < box_.height; ++y)
      for (int x = 0; x < box_.width; ++x) {
        float& here = at(x, y);
        here += (x > 0 ? at(x - 1, y) : 0.0F) + (y > 0 ? at(x, y - 1) : 0.0F) -
                (x > 0 && y > 0 ? at(x - 1, y - 1) : 0.0F);
        unseen_[y * box_.width + x] *= 1.0F - std::clamp(here, 0.0F, 1.0F);
      }
  }

  double seen() const {
    double unseen = 0.0;
    for (const float share : unseen_) unseen += share;
    return 1.0 - unseen / static_cast<double>(unseen_.size());
  }

 private:
  // First and end, in pixels of the box, of a patch around a place.
  static std::pair<int, int> overlap(float place, float half_side, int canvas, int box, int side) {
    // As the retina rounds; half a patch is a multiple of 1/2, which the division by the canvas
    // must not blur.
    const double point = 0.5F * (place + 1.0F) * static_cast<float>(canvas);
    const double half = std::round(0.5 * half_side * canvas * 4096.0) / 4096.0;
    const auto pixel = [&](double edge) {  // windows may be anywhere, or not a number
      const double in_box = std::floor(edge + 0.5) - box;
      return static_cast<int>(std::min(std::max(0.0, in_box), static_cast<double>(side)));
    };
    return {pixel(point - half), pixel(point + half)};
  }

  Box box_;
  CanvasSize canvas_;
  std::vector<float> unseen_;  // (height, width)
};

double coverage(const SceneFacts& facts, Look& look, int steps, int b, CanvasSize canvas) {
  double sum = 0.0;
  for (int d = 0; d < facts.num_digits; ++d) {
    Coverage of_digit(facts.boxes[d], canvas);
    for (int t = 0; t < steps; ++t) of_digit.add(look.gaze(t, b));
    sum += of_digit.seen();
  }
  return sum / facts.num_digits;
}

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
    RolloutRequest rollout_request{.first_scene = static_cast<std::uint64_t>(first),
                                   .seed = seed_,
                                   .update = static_cast<std::uint32_t>(pass),
                                   .first_episode = static_cast<std::uint32_t>(first),
                                   .std = model_.location_std(request.progress, parameters),
                                   .temperature = model_.temperature(request.progress),
                                   .readout = request.readout,
                                   .policy = request.policy};
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
  for (int b = 0; b < count; ++b) {
    const float* p = &mean_probability(b, 0);
    const auto answer = std::max_element(p, p + model_.num_classes()) - p;
    tally.errors += answer != rollout.labels[b];
  }
}

}  // namespace saccade
