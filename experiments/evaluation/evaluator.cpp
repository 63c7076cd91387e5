#include "experiments/evaluation/evaluator.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "experiments/evaluation/coverage.h"
#include "nn/layers.h"

namespace saccade {
namespace {

constexpr int kChunk = 100;  // scenes that one worker takes at a time
constexpr float kBorder = 0.98F;

int most_probable(const float* p, int classes) {
  return static_cast<int>(std::max_element(p, p + classes) - p);
}

// Insertions, deletions and changes that make `truth` of `said`.
int edit_distance(std::span<const int> said, std::span<const int> truth) {
  std::vector<int> row(truth.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < said.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < truth.size(); ++j) {
      const int change = diagonal + (said[i] != truth[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// The weight of a look that lies in the box of a digit.
float weight_in(const Gaze& gaze, const Region& region) {
  float weight = 0.0F;
  for (int k = 0; k < gaze.places.rows; ++k)
    if (region.contains(gaze.places(k, 0), gaze.places(k, 1))) weight += gaze.weights[k];
  return weight;
}

// The weight that hidden-state attention gave to the states after looks at the digit that was asked
// for: of the last read, those that decide the class; of each read of a sequence, its own.
double weight_on_answer(const Rollout& rollout, int b) {
  const auto [weights, hops] = rollout.answer->state_weights();
  if (weights == nullptr) return 0.0;
  const SceneFacts& facts = rollout.environment->facts()[b];
  const int steps = rollout.core.steps, reads = static_cast<int>(weights->shape()[0]);
  const bool sequence = rollout.environment->answer_kind() == AnswerKind::sequence;
  const int first = sequence ? 0 : reads - 1;
  const int end = sequence ? facts.num_symbols - 1 : reads;
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

// Of what moves, the mean over the steps of what the look at that moment saw of it.
double coverage_of(const Rollout& rollout, int b) {
  const int steps = rollout.core.steps;
  const CanvasSize canvas = rollout.environment->canvas();
  if (!rollout.environment->moves())
    return coverage(rollout.facts(0, b), *rollout.look, 0, steps, b, canvas);
  double sum = 0.0;
  for (int t = 0; t < steps; ++t)
    sum += coverage(rollout.facts(t, b), *rollout.look, t, 1, b, canvas);
  return sum / steps;
}

}  // namespace

// Sums over the scenes of a chunk and all their passes.
struct Evaluator::Tally {
  double errors = 0;
  double edits = 0.0, symbols = 0.0;
  double on_answer = 0.0;
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
  void add_said(const Model& model, const Rollout& rollout, int b);
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

// What was said in an episode, and which looks it rests on.
void Evaluator::Tally::add_said(const Model& model, const Rollout& rollout, int b) {
  const Answer& answer = *rollout.answer;
  if (model.answer_kind() == AnswerKind::sequence) {
    edits += edit_distance(answer.said(b), answer.truth(b));
    symbols += static_cast<double>(answer.truth(b).size());
  }
  if (!model.sees_canvas()) on_answer += weight_on_answer(rollout, b);
}

// Of the first `count` episodes of a rollout that classified at every step.
void Evaluator::Tally::add_details(const Model& model, const Rollout& rollout, int count) {
  const int steps = model.num_glimpses(), classes = model.num_classes();
  const bool has_classes = model.answer_kind() == AnswerKind::one_class;
  errors_by_glimpse.assign(has_classes ? steps : 0, 0);
  confusion.assign(has_classes ? classes * classes : 0, 0);
  const MapSize size = map_size(model.canvas());
  PatchSum map({0, 0, size.cols, size.rows}, size.rows, size.cols);
  for (int b = 0; b < count; ++b) {
    for (int t = 0; t < steps; ++t) map.add(rollout.look->gaze(t, b));
    if (model.answer_kind() != AnswerKind::one_class) continue;
    const int label = rollout.answer->truth(b)[0];
    for (int t = 0; t < steps; ++t)
      errors_by_glimpse[t] +=
          most_probable(&rollout.answer->probabilities(t, b, 0), classes) != label;
    ++confusion[label * classes + rollout.answer->said(b)[0]];
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
  double symbols = 0.0;
  for (const Tally& tally : tallies_) {
    result.error += tally.errors;
    result.symbol_error += tally.edits;
    symbols += tally.symbols;
    result.on_answer += tally.on_answer;
    result.border += tally.border;
    result.distance += tally.distance;
    result.coverage += tally.coverage;
    result.entropy += tally.entropy;
    for (int t = 0; t < steps; ++t) result.on_target_by_glimpse[t] += tally.on_target[t];
  }
  const double episodes = static_cast<double>(scenes_) * request.passes;
  result.error /= scenes_;
  result.coverage /= episodes;
  result.on_answer /= episodes;
  if (symbols > 0.0) result.symbol_error /= symbols;
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
  const bool classes = model_.answer_kind() == AnswerKind::one_class;
  const int reads = static_cast<int>(rollout.answer->probabilities.shape()[0]);
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
                                   .classify_every_step = request.details,
                                   .beam = request.beam};
    rollout.run(parameters, rollout_request);
    if (request.shuffled && rollout.look->actions.size() > 0) {
      const Tensor<3> others = given_to_the_next(rollout.look->actions);
      rollout_request.replay = &others;
      rollout.run(parameters, rollout_request);
    }
    const ConstMatrix p = step(rollout.answer->probabilities, reads - 1);
    for (int b = 0; b < count; ++b) {
      if (classes)
        for (int c = 0; c < p.cols; ++c) mean_probability(b, c) += p(b, c);
      else
        tally.errors += static_cast<double>(rollout.answer->error(b)) / request.passes;
      tally.add_said(model_, rollout, b);
      for (int t = 0; t < steps; ++t) {
        tally.add_look(t, rollout.facts(t, b), rollout.look->gaze(t, b));
        tally.entropy += rollout.look->entropy(t, b, rollout_request);
      }
      if (!model_.sees_canvas()) tally.coverage += coverage_of(rollout, b);
    }
  }
  if (request.details) tally.add_details(model_, rollout, count);
  for (int b = 0; request.attention != nullptr && b < count; ++b)
    request.attention->record(rollout, b, first + b);
  if (!classes) return;
  for (int b = 0; b < count; ++b)
    tally.errors +=
        most_probable(&mean_probability(b, 0), model_.num_classes()) != rollout.answer->truth(b)[0];
}

}  // namespace saccade
