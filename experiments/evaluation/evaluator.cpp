#include "experiments/evaluation/evaluator.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/stop.h"
#include "experiments/evaluation/coverage.h"
#include "experiments/evaluation/share_interval.h"
#include "experiments/evaluation/tally.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// For a moving ball: mean over the steps of the share seen by the look at that moment. A look at a
// cue does not count.
double coverage_of(const Rollout& rollout, int b) {
  const int steps = rollout.stopped_at(b);
  const CanvasSize canvas = rollout.environment->canvas();
  if (rollout.environment->answer_kind() != AnswerKind::actions) {
    const int first = rollout.environment->has_cue() ? 1 : 0;
    return coverage(rollout.environment->facts()[b], *rollout.look, first, steps - first, b,
                    canvas);
  }
  double sum = 0.0;
  for (int t = 0; t < steps; ++t)
    sum += coverage(rollout.facts(t, b), *rollout.look, t, 1, b, canvas);
  return sum / steps;
}

// (T, B, A) with each episode's actions shifted to the next episode.
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

Evaluator::Evaluator(const Model& model, const EnvironmentFactory& environments, int scenes,
                     std::uint64_t seed, Workers& workers, Ranks& ranks)
    : model_(model), workers_(workers), ranks_(ranks), scenes_(scenes), seed_(seed) {
  tallies_.resize((scenes + kScenesAtATime - 1) / kScenesAtATime);
  const Share chunks = ranks.share(static_cast<int>(tallies_.size()));
  const int players = std::min(workers.threads(), chunks.size());
  for (int i = 0; i < players; ++i)
    rollouts_.push_back(std::make_unique<Rollout>(model, environments(kScenesAtATime, 1)));
}

Evaluator::~Evaluator() = default;

Evaluation Evaluator::run(std::span<const float> parameters, const PassRequest& request) {
  const int players = static_cast<int>(rollouts_.size());
  const Share chunks = ranks_.share(static_cast<int>(tallies_.size()));
  ranks_.run_on_all([&] {
    workers_.for_each(players, [&](int player) {
      for (int chunk = chunks.begin + player; chunk < chunks.end; chunk += players)
        play(*rollouts_[player], chunk, parameters, request);
    });
  });
  if (!ranks_.alone()) gather_tallies();

  const int steps = model_.num_glimpses();
  Evaluation result;
  result.scenes = scenes_;
  result.on_target_by_glimpse.assign(steps, 0.0);
  result.zoom_by_glimpse.assign(steps, 0.0);
  std::vector<double> looks(steps, 0.0);
  double symbols = 0.0;
  std::vector<float> errors;
  std::vector<Shown> shown;
  for (const Tally& tally : tallies_) {
    errors.insert(errors.end(), tally.errors.begin(), tally.errors.end());
    shown.insert(shown.end(), tally.shown.begin(), tally.shown.end());
    result.symbol_error += tally.edits;
    symbols += tally.symbols;
    result.on_answer += tally.on_answer;
    result.border += tally.border;
    result.distance += tally.distance;
    result.coverage += tally.coverage;
    result.entropy += tally.entropy;
    for (int t = 0; t < steps; ++t) {
      looks[t] += tally.looks[t];
      result.on_target_by_glimpse[t] += tally.on_target[t];
      result.zoom_by_glimpse[t] += tally.zoom[t];
    }
  }
  const double episodes = static_cast<double>(scenes_) * request.passes;
  result.coverage /= episodes;
  result.on_answer /= episodes;
  if (symbols > 0.0) result.symbol_error /= symbols;
  const double all_looks = std::accumulate(looks.begin(), looks.end(), 0.0);
  result.looks = all_looks / episodes;
  for (double* mean : {&result.border, &result.distance, &result.entropy}) *mean /= all_looks;
  for (int t = 0; t < steps && looks[t] > 0.0; ++t) {
    double& share = result.on_target_by_glimpse[t];
    share /= looks[t];
    result.zoom += result.zoom_by_glimpse[t] / all_looks;
    result.zoom_by_glimpse[t] /= looks[t];
    result.on_target += share / (all_looks / looks[t]);
  }
  const ShareInterval error = share_interval(errors, shown);
  result.error = error.share;
  result.error_low = error.low;
  result.error_high = error.high;
  result.images = error.images;
  if (!request.details) return result;
  result.details = details(all_looks / request.passes);
  if (may_stop(model_)) result.details.outcomes.shown = std::move(shown);
  return result;
}

void Evaluator::gather_tallies() {
  const auto of = [&](int rank) {
    const Share share = ranks_.share_of(rank, static_cast<int>(tallies_.size()));
    return std::span(tallies_).subspan(share.begin, share.size());
  };
  const std::vector<std::string> all = ranks_.gather_texts(to_bytes(of(ranks_.rank())));
  for (int rank = 0; rank < ranks_.count(); ++rank) from_bytes(of(rank), all[rank]);
}

EvaluationDetails Evaluator::details(double looks) const {
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
  for (const Tally& tally : tallies_) {
    LookOutcomes& outcomes = details.outcomes;
    outcomes.sureness.insert(outcomes.sureness.end(), tally.sureness.begin(), tally.sureness.end());
    outcomes.right.insert(outcomes.right.end(), tally.right.begin(), tally.right.end());
    details.searched.insert(details.searched.end(), tally.searched.begin(), tally.searched.end());
  }
  details.outcomes.looks = model_.num_glimpses();
  for (double& share : details.error_by_glimpse) share /= scenes_;
  for (double& share : details.look_map) share /= looks;
  return details;
}

void Evaluator::play(Rollout& rollout, int chunk, std::span<const float> parameters,
                     const PassRequest& request) {
  const int steps = model_.num_glimpses();
  const int first = chunk * kScenesAtATime;
  const int count = std::min(kScenesAtATime, scenes_ - first);
  Tally& tally = tallies_[chunk];
  tally = Tally(steps);
  tally.errors.assign(count, 0.0F);
  const bool classes = model_.answer().classifies;
  Tensor<2> mean_probability = zeros<2>(kScenesAtATime, model_.num_classes());

  for (int pass = 0; pass < request.passes; ++pass) {
    stop_if_asked();
    RolloutRequest rollout_request = RolloutRequest::of_scenes(first, seed_, pass);
    rollout_request.progress = request.progress;
    rollout_request.sampling = request.sampling;
    rollout_request.policy = request.policy;
    rollout_request.classify_every_step = request.details;
    rollout_request.beam = request.beam;
    rollout.run(parameters, rollout_request);
    if (request.shuffled && rollout.look->actions.size() > 0) {
      const Tensor<3> others = given_to_the_next(rollout.look->actions);
      rollout_request.replay = &others;
      rollout.run(parameters, rollout_request);
    }
    if (request.played) request.played(request.shuffled ? 2 * count : count);
    for (int b = 0; b < count; ++b) {
      const int looks = rollout.stopped_at(b);
      if (classes)
        for (int c = 0; c < model_.num_classes(); ++c)
          mean_probability(b, c) += rollout.answer->probabilities(looks - 1, b, c);
      else
        tally.errors[b] += rollout.answer->error(b) / static_cast<float>(request.passes);
      tally.add_answer(model_, rollout, b);
      for (int t = 0; t < looks; ++t) {
        tally.add_look(t, rollout.facts(t, b), rollout.look->gaze(t, b));
        tally.entropy += rollout.look->entropy(t, b);
      }
      if (model_.look().looks) tally.coverage += coverage_of(rollout, b);
    }
  }
  if (request.details) tally.add_details(model_, rollout, count);
  for (int b = 0; request.attention != nullptr && b < count; ++b)
    request.attention->record(rollout, b, first + b);
  for (int b = 0; b < count; ++b) {
    const SceneFacts& facts = rollout.environment->facts()[b];
    for (const int image : std::span(facts.sources).first(facts.num_sources))
      tally.shown.push_back({first + b, image});
    if (classes)
      tally.errors[b] = most_probable(&mean_probability(b, 0), model_.num_classes()) !=
                        rollout.answer->labels(b)[0];
  }
}

}  // namespace saccade
