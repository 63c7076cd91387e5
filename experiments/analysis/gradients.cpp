#include "experiments/analysis/gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "agent/credit/advantage.h"
#include "agent/learning/credit_assignment.h"
#include "agent/model/rollout.h"
#include "attention/categorical.h"
#include "base/error.h"
#include "base/stop.h"

namespace saccade {
namespace {

// The batch of scenes of the report: plays it and differentiates the locator alone.
class LocatorGradient {
 public:
  LocatorGradient(const Task& task, std::span<const float> weights, const GradientsRequest& request)
      : model_(task.model),
        parameters_(weights),
        rollouts_(request.rollouts),
        seed_(task.config.evaluation.seed),
        rollout_(model_, task.environments(Split::test)(request.scenes * request.rollouts,
                                                        request.rollouts)),
        credit_(model_, rollout_.episodes()),
        gradient_(zeros<1>(model_.layout().size())) {}

  int steps() const { return model_.num_glimpses(); }
  Rollout& rollout() { return rollout_; }

  /// Draw number `draw` of the policy's noise; `replay` as in RolloutRequest.
  void play(int draw, const Tensor<3>* replay = nullptr, std::uint64_t first_scene = 0) {
    rollout_.run(parameters_, {.first_scene = first_scene,
                               .seed = seed_,
                               .update = static_cast<std::uint32_t>(draw),
                               .sampling = SamplingMode::training,
                               .replay = replay});
    credit_.observe(rollout_, parameters_, /*with_baselines=*/true);
  }

  /// (T): of what followed each step.
  std::vector<double> mean_returns() const {
    std::vector<double> means(steps(), 0.0);
    for (int t = 0; t < steps(); ++t)
      for (int b = 0; b < rollout_.episodes(); ++b)
        means[t] += credit_.returns(t, b) / static_cast<double>(rollout_.episodes());
    return means;
  }
  /// Of the episodes (B): what the last decision is credited with.
  std::span<const float> last_returns() const {
    return {&credit_.returns(steps() - 1, 0), credit_.returns.shape()[1]};
  }

  /// The locator's gradient of what was played, by an estimator; only glimpses from `first` on.
  std::vector<float> gradient(const std::string& estimator, std::span<const double> average_returns,
                              int first = 0) {
    credit_.estimate(find_advantage(estimator), rollouts_, average_returns);
    return gradient_of(credit_.advantages, first);
  }

  /// The same with advantages (T, B) of the caller.
  std::vector<float> gradient_of(Tensor<2>& advantages, int first = 0) {
    std::fill_n(advantages.data(), static_cast<std::size_t>(first) * rollout_.episodes(), 0.0F);
    rollout_.look->loss_backward(
        flat(gradient_),
        {.advantages = matrix(advantages), .scale = 1.0F / static_cast<float>(rollout_.episodes())},
        parameters_);
    std::vector<float> locator;
    for (const Parameter& p : model_.layout().parameters()) {
      if (!p.name.starts_with("locator.")) continue;
      const auto part = flat(gradient_).subspan(p.offset, p.size());
      locator.insert(locator.end(), part.begin(), part.end());
    }
    return locator;
  }

 private:
  const Model& model_;
  std::span<const float> parameters_;
  int rollouts_;
  std::uint64_t seed_;
  Rollout rollout_;
  CreditAssignment credit_;
  Tensor<1> gradient_;
};

using Samples = std::vector<std::vector<std::vector<float>>>;  // (estimator, draw, number)

// Returns the gradients of all estimators for the same draws, which the workers share. Plays each
// draw by `play`, then calls `drawn`.
template <class Play>
Samples sample(std::vector<std::unique_ptr<LocatorGradient>>& locators, Workers& workers, int draws,
               std::span<const double> average_returns, int first,
               const std::function<void()>& drawn, const Play& play) {
  const std::vector<std::string> estimators = advantage_estimators();
  Samples samples(estimators.size(), std::vector<std::vector<float>>(draws));
  const int count = static_cast<int>(locators.size());
  workers.for_each(count, [&](int p) {
    for (int draw = p; draw < draws; draw += count) {
      stop_if_asked();
      play(*locators[p], draw);
      for (std::size_t e = 0; e < estimators.size(); ++e)
        samples[e][draw] = locators[p]->gradient(estimators[e], average_returns, first);
      drawn();
    }
  });
  return samples;
}

// `prefix` with other last actions: choice(b) of G candidates.
template <class Choice>
Tensor<3> with_last(const Tensor<3>& prefix, const Choice& choice) {
  Tensor<3> actions = prefix;
  const Matrix last = step(actions, static_cast<int>(actions.shape()[0]) - 1);
  for (int b = 0; b < last.rows; ++b) {
    const int k = choice(b);
    std::fill_n(last.row(b), last.cols, 0.0F);
    last(b, k) = 1.0F;
  }
  return actions;
}

// The exact gradient of the last glimpse after a prefix: sum_k p_k R_k grad log p_k.
std::vector<double> enumerate(LocatorGradient& locator, int candidates, const Tensor<3>& prefix) {
  const int last = locator.steps() - 1;
  std::vector<double> exact;
  for (int k = 0; k < candidates; ++k) {
    stop_if_asked();
    const Tensor<3> actions = with_last(prefix, [k](int) { return k; });
    locator.play(0, &actions);
    const int batch = locator.rollout().episodes();
    Tensor<2> advantages = zeros<2>(locator.steps(), batch);
    for (int b = 0; b < batch; ++b)
      advantages(last, b) =
          locator.rollout().look->decisions(last, b, k) * locator.last_returns()[b];
    const std::vector<float> term = locator.gradient_of(advantages);
    exact.resize(term.size(), 0.0);
    for (std::size_t i = 0; i < term.size(); ++i) exact[i] += term[i];
  }
  return exact;
}

// The last glimpse alone, all earlier ones fixed: each estimator against the exact gradient.
LastGlimpseGradient against_exact(const Task& task, int draws,
                                  std::vector<std::unique_ptr<LocatorGradient>>& locators,
                                  Workers& workers, std::span<const double> average_returns,
                                  const std::function<void()>& drawn) {
  const int candidates = task.model.look().num_candidates;
  LocatorGradient& locator = *locators.front();
  const int last = locator.steps() - 1;
  locator.play(draws);  // a draw of its own for the glimpses before the last
  const Tensor<3> prefix = locator.rollout().look->actions;
  const std::vector<double> exact = enumerate(locator, candidates, prefix);
  const Tensor<3> decisions = locator.rollout().look->decisions;
  const auto play_last = [&](LocatorGradient& one, int number) {
    const Tensor<3> actions = with_last(prefix, [&](int b) {
      RandomStream stream(task.config.evaluation.seed, Purpose::policy_noise, number, b);
      return draw(&decisions(last, b, 0), candidates, stream);
    });
    one.play(number, &actions);
  };
  const Samples samples = sample(locators, workers, draws, average_returns, last, drawn, play_last);

  LastGlimpseGradient report{.norm = norm(exact), .estimators = {}};
  const std::vector<std::string> estimators = advantage_estimators();
  for (std::size_t e = 0; e < estimators.size(); ++e) {
    const GradientNoise noise = measure_noise(samples[e]);
    report.estimators.push_back(
        {.estimator = estimators[e],
         .mean_norm = noise.mean_norm,
         .variance = noise.variance,
         .distance = distance(noise.mean, exact) / report.norm,
         .expected_distance = std::sqrt(noise.variance / draws) / report.norm});
  }
  return report;
}

}  // namespace

GradientReport gradients(const Task& task, std::span<const float> weights,
                         const GradientsRequest& request, Workers& workers,
                         const ProgressCallback& on_progress) {
  const Model& model = task.model;
  if (model.look().first_action == model.num_glimpses())
    throw InputError(fmt::format(
        "{}: its locator does not learn by REINFORCE (attention.glimpse.kind: {}, num_glimpses: "
        "{}, reinforce.estimator: {}); allowed: hard kinds with a learned glimpse",
        request.agent, model.config().glimpse.kind, model.num_glimpses(),
        model.config().reinforce.estimator));

  std::vector<std::unique_ptr<LocatorGradient>> locators;
  for (int i = 0; i < std::min(workers.threads(), request.samples); ++i)
    locators.push_back(std::make_unique<LocatorGradient>(task, weights, request));
  // `ema` is what the agent earned before: on other scenes, so that it knows nothing of these
  // draws.
  locators.front()->play(0, nullptr, request.scenes);
  GradientReport report{.scenes = request.scenes,
                        .rollouts = request.rollouts,
                        .samples = request.samples,
                        .critic = model.config().reinforce.critic,
                        .average_returns = locators.front()->mean_returns(),
                        .estimators = {},
                        .exact = {}};
  const bool exact = model.look().num_candidates > 0;
  const std::int64_t total = std::int64_t{request.samples} * (exact ? 2 : 1);
  std::atomic<std::int64_t> done = 0;
  const auto drawn = [&] {
    if (on_progress) on_progress(++done, total);
  };
  if (on_progress) on_progress(0, total);
  const Samples all = sample(locators, workers, request.samples, report.average_returns, 0, drawn,
                             [](LocatorGradient& locator, int draw) { locator.play(draw); });
  const std::vector<std::string> estimators = advantage_estimators();
  for (std::size_t e = 0; e < estimators.size(); ++e)
    report.estimators.push_back({estimators[e], measure_noise(all[e])});
  if (exact)
    report.exact =
        against_exact(task, request.samples, locators, workers, report.average_returns, drawn);
  return report;
}

}  // namespace saccade
