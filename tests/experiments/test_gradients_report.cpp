#include <doctest/doctest.h>

#include "agent/credit/advantage.h"
#include "experiments/analysis/gradients.h"
#include "experiments/runs/trained.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

GradientReport gradients_of(const fs::path& folder, const GradientsRequest& request,
                            int threads = 0) {
  const Trained trained(folder);
  Workers workers(threads);
  return gradients(trained.task, flat(trained.weights), request, workers);
}

nlohmann::json report(const fs::path& folder, const GradientsRequest& request, int threads = 0) {
  return to_json(gradients_of(folder, request, threads));
}

}  // namespace

TEST_CASE("the gradient report distinguishes the estimators, for any number of threads") {
  const TrainedTiny tiny({"reinforce.reward=probability"});
  const GradientsRequest request{.agent = "out", .scenes = 6, .samples = 40, .rollouts = 2};
  const nlohmann::json one = report(tiny.run, request, 1);
  CHECK(one["scenes"] == 6);
  CHECK(one["rollouts"] == 2);
  CHECK(one["samples"] == 40);
  CHECK(!one.contains("exact"));
  for (const std::string& name : advantage_estimators()) {
    CAPTURE(name);
    const nlohmann::json& row = one["estimators"][name];
    CHECK(row["mean_norm"].get<double>() > 0.0);
    const double signal = row["signal_to_noise"], low = row["signal_to_noise_low"];
    CHECK(low >= 0.0);
    CHECK(row["signal_to_noise_high"].get<double>() >= std::max(low, signal));
  }
  // A baseline near the mean reward removes most of the variance of having none.
  const double none = one["estimators"]["none"]["variance"];
  CHECK(one["estimators"]["ema"]["variance"].get<double>() < none);
  CHECK(one["estimators"]["leave_one_out"]["variance"].get<double>() < none);

  CHECK(report(tiny.run, request, 3) == one);
  CHECK(contains(to_table(gradients_of(tiny.run, request)), "leave_one_out"));
}

TEST_CASE("a signal indistinguishable from 0 has an upper bound instead of the value 0") {
  const TrainedTiny tiny({"reinforce.reward=probability"});
  GradientsRequest request{.agent = "out", .scenes = 6, .samples = 3, .rollouts = 2};
  const nlohmann::json few = report(tiny.run, request);
  const std::string table = to_table(gradients_of(tiny.run, request));
  CHECK_FALSE(contains(table, " 0.0000\n"));
  bool any = false;
  for (const std::string& name : advantage_estimators()) {
    CAPTURE(name);
    const nlohmann::json& row = few["estimators"][name];
    if (row["signal_to_noise_low"] != 0.0) continue;
    any = true;
    CHECK(contains(table, fmt::format("below {:.4f}", row["signal_to_noise_high"].get<double>())));
  }
  CHECK(any);

  // More draws give a narrower interval around about the same signal.
  request.samples = 300;
  const nlohmann::json many = report(tiny.run, request);
  request.samples = 1200;
  const nlohmann::json more = report(tiny.run, request);
  const auto width = [](const nlohmann::json& row) {
    return row["signal_to_noise_high"].get<double>() - row["signal_to_noise_low"].get<double>();
  };
  const nlohmann::json &wide = many["estimators"]["none"], &narrow = more["estimators"]["none"];
  CHECK(width(narrow) < width(wide));
  CHECK(narrow["signal_to_noise"].get<double>() < wide["signal_to_noise_high"].get<double>());
  CHECK(std::max(0.0, narrow["signal_to_noise"].get<double>()) >=
        wide["signal_to_noise_low"].get<double>());
}

TEST_CASE("every estimator's mean is the exact gradient within its noise") {
  const TinyExperiment tiny;
  for (const char* addressing : {"location", "content"}) {
    CAPTURE(addressing);
    const auto folder = tiny.train(
        addressing, {"attention.glimpse.kind=hard_categorical", "attention.glimpse.grid=[2, 3]",
                     "attention.glimpse.stride=4", "reinforce.reward=probability",
                     "reinforce.entropy=0.1",  // not part of the reported gradient
                     "attention.glimpse.addressing=" + std::string(addressing)});
    const nlohmann::json found =
        report(folder, {.agent = "out", .scenes = 4, .samples = 600, .rollouts = 2});
    REQUIRE(found.contains("exact"));
    CHECK(found["exact"]["norm"].get<double>() > 0.0);
    for (const std::string& name : advantage_estimators()) {
      CAPTURE(name);
      const nlohmann::json& row = found["exact"]["estimators"][name];
      const double distance = row["distance"], expected = row["expected_distance"];
      CHECK(distance < 2.0 * expected);
      CHECK(distance > 0.0);
    }
  }
}

TEST_CASE("a threshold, with which training does not stop, leaves the gradients as they are") {
  const TinyExperiment tiny;
  const auto of = [&](const std::string& stop) {
    return report(tiny.train(stop, {"attention.glimpse.stop=" + stop, "reinforce.reward=gain",
                                    "attention.glimpse.stop_threshold=0.01"}),
                  {.agent = "x", .scenes = 4, .samples = 5, .rollouts = 2});
  };
  CHECK(of("confidence") == of("none"));
}

TEST_CASE("the gradient report is refused for an agent without REINFORCE") {
  const TinyExperiment tiny;
  const auto soft = tiny.train("soft", {"attention.glimpse.kind=soft_gaussian"});
  const std::string message = message_of<InputError>([&] { gradients_of(soft, {.agent = "x"}); });
  CHECK(contains(
      message,
      "x: its locator does not learn by REINFORCE (attention.glimpse.kind: soft_gaussian"));
  const auto short_sighted = tiny.train("one", {"attention.glimpse.num_glimpses=1"});
  CHECK(contains(message_of<InputError>([&] { gradients_of(short_sighted, {.agent = "x"}); }),
                 "num_glimpses: 1, reinforce.estimator: score"));
}

}  // namespace saccade
