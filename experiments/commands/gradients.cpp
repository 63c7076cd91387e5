#include "experiments/commands/gradients.h"
#include "experiments/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "agent/credit/advantage.h"
#include "agent/credit/reward.h"
#include "agent/learning/credit_assignment.h"
#include "agent/model/rollout.h"
#include "attention/categorical.h"
#include "base/error.h"
#include "base/stop.h"
#include "experiments/files/json_text.h"
#include "experiments/runs/trained.h"

namespace saccade {
namespace {

// Over the draws of the policy's noise.
struct Noise {
  double mean_norm = 0.0;  // |mean g|
  double variance = 0.0;   // tr Cov(g)
  // |E g|^2 / tr Cov(g), both unbiased, so that the estimate of a small one may be negative, and
  // its 95 % interval
  double signal_to_noise = 0.0, low = 0.0, high = 0.0;
  std::vector<double> mean;
};

// Of n draws with |mean g|^2 and the sum of |g|^2.
double variance_of(double mean_square, double squares, double n) {
  return (squares - n * mean_square) / (n - 1.0);
}
double signal_to_noise_of(double mean_square, double squares, double n) {
  const double variance = variance_of(mean_square, squares, n);
  return variance > 0.0 ? mean_square / variance - 1.0 / n : 0.0;
}

double product(std::span<const float> g, const std::vector<double>& mean) {
  double sum = 0.0;
  for (std::size_t i = 0; i < g.size(); ++i) sum += g[i] * mean[i];
  return sum;
}

// The standard error of signal_to_noise_of by the jackknife: each draw is left out in turn.
double standard_error(const std::vector<std::vector<float>>& gradients, const Noise& noise,
                      const std::vector<double>& squares, double sum_of_squares) {
  const auto n = static_cast<double>(gradients.size());
  std::vector<double> without;
  for (std::size_t draw = 0; draw < gradients.size(); ++draw) {
    const double mean_square = (n * n * noise.mean_norm * noise.mean_norm -
                                2.0 * n * product(gradients[draw], noise.mean) + squares[draw]) /
                               ((n - 1.0) * (n - 1.0));
    without.push_back(signal_to_noise_of(mean_square, sum_of_squares - squares[draw], n - 1.0));
  }
  const double mean = std::accumulate(without.begin(), without.end(), 0.0) / n;
  double sum = 0.0;
  for (const double one : without) sum += (one - mean) * (one - mean);
  return std::sqrt(sum * (n - 1.0) / n);
}

Noise measure(const std::vector<std::vector<float>>& gradients) {
  constexpr double kDeviations = 1.96;  // of a normal distribution, to either side of 95 %
  const auto count = static_cast<double>(gradients.size());
  Noise noise;
  noise.mean.assign(gradients.front().size(), 0.0);
  std::vector<double> squares;  // of each draw
  for (const std::vector<float>& g : gradients) {
    squares.push_back(0.0);
    for (std::size_t i = 0; i < g.size(); ++i) {
      noise.mean[i] += g[i] / count;
      squares.back() += static_cast<double>(g[i]) * g[i];
    }
  }
  const double sum_of_squares = std::accumulate(squares.begin(), squares.end(), 0.0);
  double mean_square = 0.0;
  for (const double m : noise.mean) mean_square += m * m;
  noise.mean_norm = std::sqrt(mean_square);
  noise.variance = variance_of(mean_square, sum_of_squares, count);
  noise.signal_to_noise = signal_to_noise_of(mean_square, sum_of_squares, count);
  const double reach = kDeviations * standard_error(gradients, noise, squares, sum_of_squares);
  noise.low = std::max(0.0, noise.signal_to_noise - reach);
  noise.high = std::max(0.0, noise.signal_to_noise + reach);
  return noise;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double norm(const std::vector<double>& a) { return distance(a, std::vector(a.size(), 0.0)); }

// The batch of scenes of the report: plays it and differentiates the locator alone.
class LocatorGradient {
 public:
  LocatorGradient(const Trained& trained, const GradientsOptions& options)
      : model_(trained.task.model),
        parameters_(flat(trained.weights)),
        rollouts_(options.rollouts),
        seed_(trained.task.config.evaluation.seed),
        rollout_(model_, trained.task.environments(Split::test)(options.scenes * options.rollouts,
                                                                options.rollouts)),
        credit_(model_, rollout_.episodes()),
        by_step_(find_reward(model_.config().reinforce.reward).by_step),
        gradient_(zeros<1>(model_.layout().size())) {}

  int steps() const { return model_.num_glimpses(); }
  Rollout& rollout() { return rollout_; }

  /// Draw number `draw` of the policy's noise; `replay` as in RolloutRequest.
  void play(int draw, const Tensor<3>* replay = nullptr, std::uint64_t first_scene = 0) {
    rollout_.run(parameters_, {.first_scene = first_scene,
                               .seed = seed_,
                               .update = static_cast<std::uint32_t>(draw),
                               .sampling = SamplingMode::sample,
                               .replay = replay,
                               .classify_every_step = by_step_});
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
  bool by_step_;
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
nlohmann::ordered_json against_exact(const Trained& trained, const GradientsOptions& options,
                                     std::vector<std::unique_ptr<LocatorGradient>>& locators,
                                     Workers& workers, std::span<const double> average_returns,
                                     const std::function<void()>& drawn) {
  const int candidates = trained.task.model.look().num_candidates;
  LocatorGradient& locator = *locators.front();
  const int last = locator.steps() - 1;
  locator.play(options.samples);  // a draw of its own for the glimpses before the last
  const Tensor<3> prefix = locator.rollout().look->actions;
  const std::vector<double> exact = enumerate(locator, candidates, prefix);
  const Tensor<3> decisions = locator.rollout().look->decisions;
  const auto play_last = [&](LocatorGradient& one, int number) {
    const Tensor<3> actions = with_last(prefix, [&](int b) {
      RandomStream stream(trained.task.config.evaluation.seed, Purpose::policy_noise, number, b);
      return draw(&decisions(last, b, 0), candidates, stream);
    });
    one.play(number, &actions);
  };
  const Samples samples =
      sample(locators, workers, options.samples, average_returns, last, drawn, play_last);

  nlohmann::ordered_json report{{"norm", norm(exact)}};
  const std::vector<std::string> estimators = advantage_estimators();
  for (std::size_t e = 0; e < estimators.size(); ++e) {
    const Noise noise = measure(samples[e]);
    report["estimators"][estimators[e]] = {
        {"mean_norm", noise.mean_norm},
        {"variance", noise.variance},
        {"distance", distance(noise.mean, exact) / norm(exact)},
        {"expected_distance", std::sqrt(noise.variance / options.samples) / norm(exact)}};
  }
  return report;
}

// If the signal cannot be distinguished from 0, only its upper bound is shown.
std::string signal_word(const nlohmann::ordered_json& row) {
  const double low = row["signal_to_noise_low"], high = row["signal_to_noise_high"];
  if (low == 0.0) return fmt::format("below {:.4f}", high);
  return fmt::format("{:.4f} [{:.4f}, {:.4f}]", row["signal_to_noise"].get<double>(), low, high);
}

std::string to_table(const nlohmann::ordered_json& document) {
  std::string table = fmt::format(
      "  locator's gradient, {} scenes x {} rollouts, {} draws, reinforce.critic: {}\n  "
      "{:<16}{:>14}{:>14}   {}\n",
      document["scenes"].get<int>(), document["rollouts"].get<int>(),
      document["samples"].get<int>(), document["critic"].get<std::string>(), "advantage", "|mean|",
      "variance", "signal to noise, 95 % interval");
  for (const auto& [name, row] : document["estimators"].items())
    table += fmt::format("  {:<16}{:>14.3e}{:>14.3e}   {}\n", name, row["mean_norm"].get<double>(),
                         row["variance"].get<double>(), signal_word(row));
  if (!document.contains("exact")) return table;
  table += fmt::format(
      "\n  last glimpse alone, against the exact gradient |g*| = {:.3e}\n"
      "  {:<16}{:>14}{:>14}{:>22}{:>20}\n",
      document["exact"]["norm"].get<double>(), "advantage", "|mean|", "variance",
      "|mean - g*| / |g*|", "expected by noise");
  for (const auto& [name, row] : document["exact"]["estimators"].items())
    table += fmt::format("  {:<16}{:>14.3e}{:>14.3e}{:>22.4f}{:>20.4f}\n", name,
                         row["mean_norm"].get<double>(), row["variance"].get<double>(),
                         row["distance"].get<double>(), row["expected_distance"].get<double>());
  return table;
}

}  // namespace

std::string gradients(const GradientsOptions& options, const ProgressCallback& on_progress) {
  const Trained trained(options.run_folder, options.data);
  const Model& model = trained.task.model;
  if (model.look().first_action == model.num_glimpses())
    throw InputError(fmt::format(
        "{}: its locator does not learn by REINFORCE (attention.glimpse.kind: {}, num_glimpses: "
        "{}, reinforce.estimator: {}); allowed: hard kinds with a learned glimpse",
        options.run_folder.string(), model.config().glimpse.kind, model.num_glimpses(),
        model.config().reinforce.estimator));

  Workers workers(options.threads);
  std::vector<std::unique_ptr<LocatorGradient>> locators;
  for (int i = 0; i < std::min(workers.threads(), options.samples); ++i)
    locators.push_back(std::make_unique<LocatorGradient>(trained, options));
  // `ema` is what the agent earned before: on other scenes, so that it knows nothing of these
  // draws.
  locators.front()->play(0, nullptr, options.scenes);
  const std::vector<double> average_returns = locators.front()->mean_returns();

  nlohmann::ordered_json document{{"scenes", options.scenes},
                                  {"rollouts", options.rollouts},
                                  {"samples", options.samples},
                                  {"critic", model.config().reinforce.critic},
                                  {"average_returns", average_returns}};
  const std::vector<std::string> estimators = advantage_estimators();
  const bool exact = model.look().num_candidates > 0;
  const std::int64_t total = std::int64_t{options.samples} * (exact ? 2 : 1);
  std::atomic<std::int64_t> done = 0;
  const auto drawn = [&] {
    if (on_progress) on_progress(++done, total);
  };
  if (on_progress) on_progress(0, total);
  const Samples all = sample(locators, workers, options.samples, average_returns, 0, drawn,
                             [](LocatorGradient& locator, int draw) { locator.play(draw); });
  for (std::size_t e = 0; e < estimators.size(); ++e) {
    const Noise noise = measure(all[e]);
    document["estimators"][estimators[e]] = {{"mean_norm", noise.mean_norm},
                                             {"variance", noise.variance},
                                             {"signal_to_noise", noise.signal_to_noise},
                                             {"signal_to_noise_low", noise.low},
                                             {"signal_to_noise_high", noise.high}};
  }
  if (exact)
    document["exact"] = against_exact(trained, options, locators, workers, average_returns, drawn);
  return options.json ? json_text(document, 2) + "\n" : to_table(document);
}

Command gradients_command() {
  const auto options = std::make_shared<GradientsOptions>();
  return {.name = "gradients",
          .group = "Look at agents",
          .about = "Compare advantage estimators by the locator's gradient",
          .options = {run_folder_option(&options->run_folder),
                      data_option(&options->data),
                      {"--scenes", &options->scenes, "Test scenes (default 64)", Range{1, 4096}},
                      {"--rollouts", &options->rollouts, "A scene (default 4)", Range{2, 256}},
                      {"--samples", &options->samples, "Draws of the policy (default 128)",
                       Range{3, 100'000}},
                      json_option(&options->json),
                      threads_option(&options->threads)},
          .call =
              [options](const Call& call) {
                return say_unless_stopped(call, "draws", [&](const ProgressCallback& on_progress) {
                  return gradients(*options, on_progress);
                });
              },
          .examples = {"saccade gradients runs/quickstart/base/seed-1 --scenes 32 --samples 64",
                       "saccade gradients cluttered60 --json"}};
}

}  // namespace saccade
