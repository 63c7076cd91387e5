// The learner: the same bits for any number of threads, and behaviour on failure.
#include "agent/learning/learner.h"

#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <set>

#include "base/error.h"
#include "tests/agent/tasks.h"
#include "tests/support.h"
#include "tests/thread_ranks.h"

namespace saccade {
namespace {

// Everything a checkpoint keeps of a learner after some updates.
std::string train(const AgentConfig& config, std::uint64_t seed, int threads, int updates,
                  const ObservationSpec& spec = kTinySpec,
                  const EnvironmentFactory& environments = tiny_environment) {
  const Model model(config, spec);
  Workers workers(threads);
  Learner learner(model, environments, seed, workers);
  for (int n = 0; n < updates; ++n) learner.step();
  return state_of(learner);
}

// Returns the final state of each of `count` ranks.
Names train_on_ranks(const AgentConfig& config, int count, int updates) {
  Names ends(count);
  on_ranks(count, [&](Ranks& ranks) {
    const Model model(config, kTinySpec);
    Workers workers(1 + ranks.rank() % 2);
    Learner learner(model, tiny_environment, 4, workers, ranks);
    for (int n = 0; n < updates; ++n) learner.step();
    ends[ranks.rank()] = state_of(learner);
  });
  return ends;
}

// Uses every part of the learner.
AgentConfig learner_config(const std::string& core) {
  AgentConfig config = tiny_config(core);
  config.glimpse.first = "learned";
  config.glimpse.learn_std = true;
  config.reinforce.rollouts = 2;
  config.reinforce.entropy = 0.01;
  config.training.step_loss = 0.3;
  return config;
}

TEST_CASE("the same configuration and seed give the same bits for any number of threads") {
  for (const std::string& core : core_kinds()) {
    CAPTURE(core);
    const AgentConfig config = learner_config(core);
    const std::string one = train(config, 4, 1, 20);
    for (const int threads : {1, 2, 4}) {
      CAPTURE(threads);
      CHECK((train(config, 4, threads, 20) == one));
    }
    CHECK_FALSE((train(config, 5, 1, 20) == one));
    AgentConfig other = config;
    other.training.lane_size = 8;  // lanes determine the order of sums: they are part of the
                                   // configuration
    CHECK_FALSE((train(other, 4, 1, 20) == one));
  }
}

TEST_CASE("each of several ranks has the bits of a single process") {
  AgentConfig config = learner_config("gru");
  config.reinforce.advantage = "ema";
  config.reinforce.rollouts = 1;
  for (const int lanes : {5, 8}) {
    config.training.batch_size = lanes * config.training.lane_size;
    const std::string one = train(config, 4, 1, 6);
    for (const int count : {1, 2, 3, 5})
      for (const std::string& end : train_on_ranks(config, count, 6)) {
        CAPTURE(lanes);
        CAPTURE(count);
        CHECK((end == one));
      }
  }
}

TEST_CASE("more ranks than lanes are refused") {
  AgentConfig config = tiny_config();
  config.training.batch_size = 8;
  CHECK(message_of<InputError>([&] { train_on_ranks(config, 3, 1); }) ==
        "3 ranks; allowed: 1 to 2, the lanes of a batch: training.batch_size: 8 in lanes of "
        "training.lane_size: 4");
}

TEST_CASE(
    "the bits do not depend on threads or ranks at full size, where products use other kernels") {
  for (const std::string& core : core_kinds()) {
    CAPTURE(core);
    AgentConfig config = full_size_config(core);
    const std::string one = train(config, 4, 1, 3);
    CHECK((train(config, 4, 2, 3) == one));
    CHECK((train(config, 4, 4, 3) == one));
  }
}

TEST_CASE("the bits do not depend on threads or ranks for every way of looking") {
  for (const auto& [name, config] : every_agent(learner_config("rnn"))) {
    CAPTURE(name);
    const std::string one = train(config, 4, 1, 3);
    CHECK((train(config, 4, 2, 3) == one));
    CHECK((train(config, 4, 3, 3) == one));
    CHECK_FALSE((train(config, 5, 1, 3) == one));
  }
}

TEST_CASE(
    "the bits do not depend on threads or ranks with attention over inputs and states, in every "
    "task") {
  for (const auto& [name, config, task] : every_task_agent(learner_config("gru"))) {
    CAPTURE(name);
    const auto train_with = [&](std::uint64_t seed, int threads) {
      return train(config, seed, threads, 3, task.spec, task.environments);
    };
    const std::string one = train_with(4, 1);
    CHECK((train_with(4, 2) == one));
    CHECK((train_with(4, 3) == one));
    CHECK_FALSE((train_with(5, 1) == one));
  }
}

TEST_CASE("every advantage estimator is reproducible with every optimiser") {
  for (const std::string& estimator : advantage_estimators())
    for (const std::string& optimizer : optimizers()) {
      CAPTURE(estimator);
      CAPTURE(optimizer);
      AgentConfig config = learner_config("rnn");
      set_credit(config, estimator, "gain");
      config.training.optimizer.optimizer = optimizer;
      CHECK((train(config, 4, 2, 6) == train(config, 4, 1, 6)));
    }
}

TEST_CASE("a report describes the update") {
  AgentConfig config = tiny_config();
  config.reinforce.advantage = "ema";
  const Model model(config, kTinySpec);
  Workers workers(1);
  Learner learner(model, tiny_environment, 1, workers);
  CHECK(learner.total_updates() == 100);
  double average_reward = 0.0;
  for (int n = 0; n < 50; ++n) {
    CHECK(learner.progress() == doctest::Approx(n / 100.0));
    const UpdateReport report = learner.step();
    CHECK(report.sums.episodes == 32);
    CHECK(report.sums.errors + report.sums.reward == 32);  // the reward is 1 for the right class
    CHECK(report.gradient_norm > 0.0);
    const double reward = report.sums.reward / 32;
    average_reward = n == 0 ? reward : 0.9 * average_reward + 0.1 * reward;
    for (const double average : learner.average_returns)  // the final reward follows every step
      CHECK(average == doctest::Approx(average_reward));
    CHECK(report.location_std == doctest::Approx(0.3));
    CHECK(report.learning_rate == doctest::Approx(learner.optimizer.learning_rate(n / 100.0)));
  }
  CHECK(learner.updates() == 50);
  CHECK(learner.episodes() == 1600);
}

TEST_CASE("each step has its own average return") {
  AgentConfig config = tiny_config();
  config.reinforce.advantage = "ema";
  config.reinforce.reward = "gain";
  config.training.step_loss = 0.5;
  const Model model(config, kTinySpec);
  Workers workers(2);
  Learner learner(model, tiny_environment, 1, workers);
  for (int n = 0; n < 30; ++n) learner.step();
  REQUIRE(learner.average_returns.size() >= 2);
  // Returns of `gain` accumulate: less remains to be gained after the later looks.
  CHECK(learner.average_returns.front() > 2 * std::abs(learner.average_returns.back()));

  config.reinforce.advantage = "none";
  const Model other(config, kTinySpec);
  Learner averages_nothing(other, tiny_environment, 1, workers);
  averages_nothing.step();
  for (const double average : averages_nothing.average_returns) CHECK(average == 0.0);
}

TEST_CASE("a batch that cannot be divided into lanes is refused") {
  const auto refusal = [](int batch_size, int lane_size, int rollouts) {
    AgentConfig config = tiny_config();
    config.training.batch_size = batch_size;
    config.training.lane_size = lane_size;
    config.reinforce.rollouts = rollouts;
    const Model model(config, kTinySpec);
    Workers workers(1);
    return message_of<InputError>([&] { Learner(model, tiny_environment, 1, workers); });
  };
  CHECK(refusal(30, 4, 1) == "training.batch_size: 30 is not a multiple of training.lane_size: 4");
  CHECK(refusal(32, 4, 3) == "training.lane_size: 4 is not a multiple of reinforce.rollouts: 3");
  CHECK(refusal(32, 0, 1) == "training.batch_size: 32 is not a multiple of training.lane_size: 0");
  CHECK(refusal(32, 4, 0) == "reinforce.advantage: learned needs reinforce.rollouts > 0, not 0");
  CHECK(refusal(32, 4, 2) == "nothing thrown");
}

// Shows the same grey everywhere.
class GreyEnvironment : public Environment {
 public:
  explicit GreyEnvironment(int episodes) : facts_(episodes) {}

  int episodes() const override { return static_cast<int>(facts_.size()); }
  int glimpse_size() const override { return kTinyGlimpse; }
  int num_classes() const override { return kTinyClasses; }
  std::span<const SceneFacts> facts() const override { return facts_; }

 protected:
  void observe(ConstMatrix, Matrix glimpses) override {
    for (int b = 0; b < glimpses.rows; ++b) std::fill_n(glimpses.row(b), glimpses.cols, 0.5F);
  }

 private:
  std::vector<SceneFacts> facts_;
};

// Records which scenes were started and where the agent looked.
class RecordingEnvironment final : public GreyEnvironment {
 public:
  struct Record {
    std::vector<std::uint64_t> first_scenes;
    std::vector<std::pair<float, float>> locations;
  };

  RecordingEnvironment(int episodes, Record& record) : GreyEnvironment(episodes), record_(record) {}

 private:
  void begin(std::uint64_t first_scene) override { record_.first_scenes.push_back(first_scene); }
  void observe(ConstMatrix locations, Matrix glimpses) override {
    GreyEnvironment::observe(locations, glimpses);
    for (int b = 0; b < locations.rows; ++b)
      record_.locations.emplace_back(locations(b, 0), locations(b, 1));
  }

  Record& record_;
};

TEST_CASE("episodes never share noise, and every scene is used once, by all its rollouts") {
  for (const int rollouts : {1, 2}) {
    CAPTURE(rollouts);
    AgentConfig config = tiny_config();
    config.reinforce.rollouts = rollouts;
    const Model model(config, kTinySpec);
    Workers workers(1);  // all write into one record
    RecordingEnvironment::Record record;
    Learner learner(
        model,
        [&](int episodes, int) { return std::make_unique<RecordingEnvironment>(episodes, record); },
        1, workers);
    constexpr int kUpdates = 5;
    for (int n = 0; n < kUpdates; ++n) learner.step();

    std::ranges::sort(record.first_scenes);
    REQUIRE(record.first_scenes.size() == kUpdates * 8);  // lanes of 4
    for (int lane = 0; lane < kUpdates * 8; ++lane)
      CHECK(record.first_scenes[lane] == static_cast<std::uint64_t>(lane * 4 / rollouts));
    const std::set unique(record.locations.begin(), record.locations.end());
    CHECK(record.locations.size() == kUpdates * 32 * 3);
    CHECK(unique.size() == record.locations.size());
  }
}

// Throws during the looks at one scene while it is armed.
class BrokenEnvironment final : public GreyEnvironment {
 public:
  BrokenEnvironment(int episodes, std::uint64_t broken_scene, const std::atomic<bool>& armed)
      : GreyEnvironment(episodes), broken_scene_(broken_scene), armed_(armed) {}

 private:
  void begin(std::uint64_t first_scene) override { first_scene_ = first_scene; }
  void observe(ConstMatrix locations, Matrix glimpses) override {
    if (armed_ && first_scene_ == broken_scene_) throw std::runtime_error("the camera broke");
    GreyEnvironment::observe(locations, glimpses);
  }

  std::uint64_t broken_scene_, first_scene_ = 0;
  const std::atomic<bool>& armed_;
};

TEST_CASE("an exception from an environment inside a lane reaches the caller, who may continue") {
  const AgentConfig config = tiny_config();
  const Model model(config, kTinySpec);
  for (const int threads : {1, 2, 4}) {
    CAPTURE(threads);
    std::atomic<bool> armed = false;
    Workers workers(threads);
    Learner learner(
        model,
        [&](int episodes, int) {
          return std::make_unique<BrokenEnvironment>(episodes, 32 + 5 * 4, armed);  // lane 5
        },
        1, workers);
    learner.step();
    const std::string before = state_of(learner);
    armed = true;
    CHECK_THROWS_WITH_AS(learner.step(), "the camera broke", std::runtime_error);
    CHECK((state_of(learner) == before));
    armed = false;
    learner.step();
    CHECK(learner.updates() == 2);
  }
}

TEST_CASE("a non-finite loss stops learning and leaves the weights unchanged") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  struct Poison {
    const char* parameter;
    float value;
    const char* term;
  };
  const Poison poisons[] = {{"glimpse.what.bias", kNan, "classifier loss"},
                            {"glimpse.joint.weight", kInfinity, "classifier loss"},
                            {"classifier.weight", kNan, "classifier loss"},
                            {"classifier.bias", kInfinity, "classifier loss"},
                            {"classifier.bias", -kInfinity, "classifier loss"},  // finite gradient
                            {"locator.hidden.bias", kNan, "reinforce loss"},
                            {"locator.mean.bias", kNan, "reinforce loss"},
                            {"locator.first", kNan, "reinforce loss"},
                            {"locator.log_std", kNan, "reinforce loss"},
                            {"locator.log_std", kInfinity, "reinforce loss"},
                            {"baseline.bias", kNan, "reinforce loss"},  // through the advantage
                            {"baseline.weight", kInfinity, "reinforce loss"}};
  for (const std::string& core : core_kinds())
    for (const Poison& poison : poisons) {
      CAPTURE(core);
      CAPTURE(poison.parameter);
      CAPTURE(poison.value);
      const Model model(learner_config(core), kTinySpec);
      Workers workers(2);
      Learner learner(model, tiny_environment, 1, workers);
      for (int n = 0; n < 3; ++n) learner.step();
      values_of(flat(learner.parameters), find_parameter(model.layout(), poison.parameter))[0] =
          poison.value;
      const std::string before = state_of(learner);
      const std::string message = message_of<NonFiniteError>([&] { learner.step(); });
      CHECK(message.starts_with(std::string("update 3: the ") + poison.term + " is "));
      CHECK((state_of(learner) == before));
    }
}

TEST_CASE("a gradient that overflows although the losses do not stops learning, too") {
  const Model model(learner_config("rnn"), kTinySpec);
  Workers workers(1);
  Learner learner(model, tiny_environment, 1, workers);
  const auto fill = [&](const char* name, float value) {
    std::ranges::fill(values_of(flat(learner.parameters), find_parameter(model.layout(), name)),
                      value);
  };
  // Samples about 1e-39 from exactly 0: their log-probability is moderate, but its slope is not.
  fill("locator.mean.weight", 0.0F);
  fill("locator.mean.bias", 0.0F);
  fill("locator.first", 0.0F);
  fill("locator.log_std", -90.0F);
  const std::string before = state_of(learner);
  CHECK(message_of<NonFiniteError>([&] {
          learner.step();
        }).starts_with("update 0: the gradient norm is "));
  CHECK((state_of(learner) == before));
}

}  // namespace
}  // namespace saccade
