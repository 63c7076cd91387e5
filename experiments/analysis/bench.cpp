#include "experiments/analysis/bench.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/median.h"
#include "experiments/evaluation/evaluator.h"
#include "experiments/task/task.h"
#include "nn/gemm.h"
#include "nn/peak.h"
#include "nn/profile.h"

namespace saccade {
namespace {

constexpr int kTurns = 7;
constexpr int kPeakSize = 1024;      // matrix side in the peak measurement
constexpr double kTrainShare = 0.6;  // of a turn; the rest is for the other measurements
constexpr double kPeakShare = 0.15;
constexpr double kCeilingShare = 0.05;
constexpr double kLookShare = 0.2;

// Calls `work`, which returns the amount done, repeatedly for `seconds`; returns the amount per
// second.
template <class Work>
double rate(double seconds, Work&& work) {
  const Clock::time_point start = Clock::now();
  double done = 0.0;
  double passed = 0.0;
  while (passed < seconds) {
    done += work();
    passed = seconds_since(start);
  }
  return done / passed;
}

// A large f32 product on every thread; measured in GFLOP.
class PeakProduct {
 public:
  explicit PeakProduct(Workers& workers)
      : workers_(workers), matrices_(workers.threads(), zeros<3>(3, kPeakSize, kPeakSize)) {
    for (Tensor<3>& m : matrices_) m.fill(0.5F);
  }

  double operator()() {
    workers_.for_each(workers_.threads(), [&](int i) {
      Tensor<3>& m = matrices_[i];
      multiply(step(m, 0), step(m, 1), step(m, 2));
    });
    return workers_.threads() * 2e-9 * kPeakSize * kPeakSize * kPeakSize;
  }

 private:
  Workers& workers_;
  std::vector<Tensor<3>> matrices_;
};

// Fresh scenes with T random looks each, on every thread; measured in glimpses.
class RandomLooks {
 public:
  RandomLooks(const Task& task, Workers& workers)
      : workers_(workers), steps_(task.model.num_glimpses()) {
    const int episodes = task.config.agent.training.lane_size;
    const EnvironmentFactory make = task.environments(Split::train);
    for (int i = 0; i < workers.threads(); ++i) {
      lookers_.push_back({.environment = make(episodes, 1),
                          .locations = zeros<2>(episodes, task.retina->location_size()),
                          .glimpses = zeros<2>(episodes, task.retina->glimpse_size()),
                          .stream = RandomStream(0, Purpose::policy_noise, 0, i)});
    }
  }

  double operator()() {
    workers_.for_each(workers_.threads(), [&](int i) {
      Looker& looker = lookers_[i];
      looker.environment->reset((next_scene_ + i) * looker.environment->episodes());
      for (int t = 0; t < steps_; ++t) {
        for (float& l : looker.locations) l = looker.stream.uniform(-1.0F, 1.0F);
        looker.environment->look(matrix(looker.locations), matrix(looker.glimpses));
      }
    });
    next_scene_ += lookers_.size();
    return static_cast<double>(lookers_.size()) * lookers_[0].environment->episodes() * steps_;
  }

 private:
  struct Looker {
    std::unique_ptr<Environment> environment;
    Tensor<2> locations;  // (B, L)
    Tensor<2> glimpses;   // (B, D)
    RandomStream stream;
  };
  Workers& workers_;
  int steps_;
  std::uint64_t next_scene_ = 0;
  std::vector<Looker> lookers_;
};

// The processor's arithmetic ceiling over all threads, in GFLOP.
double ceiling(Workers& workers) {
  std::atomic<double> gflop = 0.0;
  workers.for_each(workers.threads(), [&](int) { gflop += multiply_add_on_registers(); });
  return gflop;
}

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

// Measures where the time goes during `seconds` of training.
nlohmann::ordered_json profile_training(Learner& learner, double seconds, int threads) {
  const Clock::time_point start = Clock::now();
  const Profiler profiler;
  double updates = 0.0;
  while (seconds_since(start) < seconds) {
    learner.step();
    ++updates;
  }
  const std::vector<Profiler::Row> rows = profiler.rows(threads);
  const double wall = seconds_since(start);
  nlohmann::ordered_json profile{{"updates", updates}, {"seconds", wall}};
  for (const Profiler::Row& row : rows) {
    nlohmann::ordered_json line{{"stage", stage_names()[static_cast<std::size_t>(row.stage)]},
                                {"ms_per_update", 1e3 * row.seconds / updates},
                                {"share", row.seconds / (threads * wall)}};
    if (row.gflop > 0.0) line["gflops"] = row.gflop / row.seconds;
    profile["stages"].push_back(std::move(line));
  }
  return profile;
}

std::string profile_table(const nlohmann::ordered_json& profile) {
  std::string text = fmt::format("\n{:<24}{:>14}{:>9}{:>20}\n", "of all threads", "ms an update",
                                 "share", "GFLOP/s a thread");
  double ms = 0.0, share = 0.0;
  for (const auto& row : profile.at("stages")) {
    ms += row.at("ms_per_update").get<double>();
    share += row.at("share").get<double>();
    text += fmt::format("{:<24}{:>14.3f}{:>7.1f} %", row.at("stage").get<std::string>(),
                        row.at("ms_per_update").get<double>(), 100 * row.at("share").get<double>());
    if (row.contains("gflops")) text += fmt::format("{:>20.1f}", row.at("gflops").get<double>());
    text += "\n";
  }
  return text + fmt::format("{:<24}{:>14.3f}{:>7.1f} %\n", "together", ms, 100 * share);
}

}  // namespace

nlohmann::ordered_json bench(const BenchRequest& request, const ProgressCallback& on_progress) {
  if (!(request.seconds > 0.0 && request.seconds <= 3600.0))
    throw InputError(fmt::format("--seconds {}: allowed: above 0, at most 3600", request.seconds));
  const Task task(read_config(request.config, request.overrides));
  Workers workers(request.threads);
  Learner learner(task.model, task.environments(Split::train), task.config.seed, workers);
  // A training has the memory for its evaluations from the start, and frees all before its test.
  const Evaluator validator(task.model, task.environments(Split::valid),
                            task.config.evaluation.scenes, task.config.evaluation.seed, workers);
  for (int i = 0; i < 2; ++i) learner.step();
  const double memory = peak_memory_mb();
  PeakProduct peak_product(workers);
  std::optional<RandomLooks> random_looks;
  if (task.retina) random_looks.emplace(task, workers);
  for (int i = 0; i < 3; ++i) {  // warm-up
    learner.step();
    peak_product();
    if (random_looks) (*random_looks)();
  }

  std::vector<double> trained, peak, ceilings, looked;
  const double now = request.seconds / kTurns;
  for (int i = 0; i < kTurns; ++i) {
    if (on_progress) on_progress(i, kTurns);
    peak.push_back(rate(kPeakShare * now, peak_product));
    ceilings.push_back(rate(kCeilingShare * now, [&] { return ceiling(workers); }));
    trained.push_back(rate(kTrainShare * now, [&] { return learner.step().sums.episodes; }));
    if (random_looks) looked.push_back(rate(kLookShare * now, *random_looks));
  }
  const double gflop = task.model.gflop_per_episode();
  const double gflops = median(trained) * gflop;
  nlohmann::ordered_json figures{{"episodes_per_second", median(trained)},
                                 {"gflop_per_episode", gflop},
                                 {"gflops", gflops},
                                 {"peak_gflops", median(peak)},
                                 {"fraction_of_peak", gflops / median(peak)},
                                 {"ceiling_gflops", median(ceilings)},
                                 {"threads", workers.threads()},
                                 {"batch_size", task.config.agent.training.batch_size},
                                 {"parameters", task.model.layout().count()}};
  if (random_looks) figures["environment_glimpses_per_second"] = median(looked);
  figures["peak_memory_mb"] = memory;

  if (request.profile)
    figures["profile"] =
        profile_training(learner, kTrainShare * request.seconds, workers.threads());
  return figures;
}

std::string bench_table(const nlohmann::ordered_json& figures) {
  std::string text;
  for (const auto& [name, value] : figures.items())
    text += value.is_number() ? fmt::format("{:<34}{:>14.6g}\n", name, value.get<double>())
                              : profile_table(value);
  return text;
}

}  // namespace saccade
