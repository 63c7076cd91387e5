// The documented steps, settings and costs of a model (agent/model/model.h).
#include "agent/model/model.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "agent/looking/location_estimator.h"
#include "agent/model/rollout.h"
#include "tests/agent/support.h"

namespace saccade {
namespace {

TEST_CASE("the std of the policy follows its ramp, or its parameter if it is learned") {
  AgentConfig config = tiny_config();
  config.glimpse.std = {.from = 0.5, .to = 0.1, .over = 0.4};
  const Model ramp(config, kTinySpec);
  const Tensor<1> unused = zeros<1>(ramp.layout().size());
  const std::pair<double, double> expected[] = {{0.0, 0.5}, {0.1, 0.4}, {0.2, 0.3},
                                                {0.4, 0.1}, {0.7, 0.1}, {1.0, 0.1}};
  for (const auto& [progress, std] : expected) {
    CAPTURE(progress);
    CHECK(ramp.looking->exploration_at(progress, flat(unused)).std ==
          doctest::Approx(std).epsilon(1e-6));
  }

  config.glimpse.learn_std = true;
  const Model learned(config, kTinySpec);
  Tensor<1> parameters = zeros<1>(learned.layout().size());
  learned.layout().initialize(flat(parameters), 1);
  const auto std_at = [&](double progress) {
    return learned.looking->exploration_at(progress, flat(parameters)).std;
  };
  CHECK(std_at(1.0) == doctest::Approx(0.5));
  values_of(flat(parameters), find_parameter(learned.layout(), "locator.log_std"))[0] =
      std::log(0.2F);
  CHECK(std_at(0.0) == doctest::Approx(0.2));
}

TEST_CASE("the first glimpse that is an action") {
  for (const std::string& kind : glimpse_kinds()) {
    for (const std::string& first : first_glimpses()) {
      CAPTURE(kind);
      CAPTURE(first);
      AgentConfig config = tiny_config();
      config.glimpse.kind = kind;
      config.glimpse.first = first;
      const Model model(config, kTinySpec);
      const int steps = model.num_glimpses();
      if (model.look().looks) CHECK(steps == config.glimpse.num_glimpses);
      if (kind == "whole") CHECK(steps == 12);  // the rows of the canvas
      const int expected = !kind.starts_with("hard_") ? steps : first == "learned" ? 0 : 1;
      CHECK(model.look().first_action == expected);
    }
  }
}

TEST_CASE("with path gradients only, a Gaussian has no REINFORCE and no baseline") {
  for (const std::string& estimator : location_estimators()) {
    CAPTURE(estimator);
    AgentConfig config = tiny_config();
    config.reinforce.estimator = estimator;
    const Model model(config, kTinySpec);
    const bool scored = estimator != "pathwise";
    CHECK(model.look().first_action == (scored ? 1 : config.glimpse.num_glimpses));
    CHECK(model.baseline.has_value() == scored);
    CHECK(model.look().differentiable == (estimator != "score"));
    CHECK(model.look().smooth == (estimator != "score"));
    CHECK(model.look().samples);
  }
}

TEST_CASE("a learned first glimpse starts at the centre and stays on the canvas") {
  AgentConfig config = tiny_config();
  config.glimpse.first = "learned";
  const Model model(config, kTinySpec);
  Tensor<1> parameters = zeros<1>(model.layout().size());
  model.layout().initialize(flat(parameters), 1);
  Rollout rollout(model, tiny_environment(2, 1));
  const auto mean = [&](int b) {
    rollout.run(flat(parameters), {});
    return std::array{rollout.look->decisions(0, b, 0), rollout.look->decisions(0, b, 1)};
  };
  CHECK(mean(0) == std::array{0.0F, 0.0F});
  const std::span<float> first =
      values_of(flat(parameters), find_parameter(model.layout(), "locator.first"));
  first[0] = 0.5F;
  first[1] = -40.0F;
  CHECK(mean(0)[0] == doctest::Approx(std::tanh(0.5)));
  CHECK(mean(0)[1] == -1.0F);
  CHECK(mean(1) == mean(0));
}

TEST_CASE("the multiply-adds of an episode agree with a count by hand") {
  // D 18, what 7, where 4, F 8, H 5, locator 6, C 3, T 3.
  const auto work_of = [](const AgentConfig& config) { return Model(config, kTinySpec).work(); };
  // One glimpse: 18*7 + 2*4 + (7+4)*8 = 222 forward; backward 126 + 8 + 2*88 = 310, since the
  // glimpse and the location get no gradient.
  constexpr std::int64_t kGlimpses = 3 * 222, kGlimpsesBack = 3 * 310;
  // The rnn: products for three features and two states; backward twice as many.
  constexpr std::int64_t kRnn = 3 * 8 * 5 + 2 * 5 * 5;
  // Two glimpses are placed by a detached state: 5*6 + 6*2 forward, 5*6 + 2*6*2 backward.
  constexpr std::int64_t kLocator = 2 * 42, kLocatorBack = 2 * 54;
  constexpr std::int64_t kClassifier = 5 * 3, kBaseline = 2 * 5;

  const Work rnn = work_of(tiny_config("rnn"));
  CHECK(rnn.forward == kGlimpses + kRnn + kLocator + kClassifier + kBaseline);
  CHECK(rnn.backward == kGlimpsesBack + 2 * kRnn + kLocatorBack + 2 * kClassifier + kBaseline);
  CHECK(work_of(tiny_config("lstm")).forward - rnn.forward == 3 * kRnn);
  CHECK(work_of(tiny_config("lstm")).backward - rnn.backward == 6 * kRnn);
  CHECK(work_of(tiny_config("gru")).forward - rnn.forward == 2 * kRnn);

  AgentConfig config = tiny_config("rnn");
  config.glimpse.first = "learned";  // placed by a parameter: no products
  CHECK(work_of(config).forward == rnn.forward);
  config.training.step_loss = 0.5;  // classifies at two more steps
  CHECK(work_of(config).forward == rnn.forward + 2 * kClassifier);
  CHECK(work_of(config).backward == rnn.backward + 4 * kClassifier);
  config = tiny_config("rnn");
  config.reinforce.advantage = "none";
  CHECK(work_of(config).forward == rnn.forward - kBaseline);
  config.glimpse.kind = "random";
  CHECK(work_of(config).forward == rnn.forward - kBaseline - kLocator);
  CHECK(work_of(config).backward == rnn.backward - kBaseline - kLocatorBack);
  // Two more glimpses are differentiated, 18*7 + 2*4, each with two slopes for its location; and so
  // are two states, 5*6, unless they are detached.
  config.glimpse.kind = "soft_point";
  constexpr std::int64_t kTraced = 18 * 7 + 2 * 4 + 2 * 18;
  CHECK(work_of(config).forward == rnn.forward - kBaseline);
  CHECK(work_of(config).backward == rnn.backward - kBaseline + 2 * kTraced);
  config.glimpse.detach_state = false;
  CHECK(work_of(config).backward == rnn.backward - kBaseline + 2 * (kTraced + 5 * 6));
  config.glimpse.first = "learned";
  CHECK(work_of(config).backward == rnn.backward - kBaseline + 3 * kTraced + 2 * 5 * 6);
  const Work soft = work_of(config);
  config.glimpse.kind = "hard_gaussian";
  config.reinforce.estimator = "pathwise";
  CHECK(work_of(config).backward == soft.backward);
  config.reinforce.estimator = "both";
  config.reinforce.advantage = "none";
  CHECK(work_of(config).backward == soft.backward);
}

}  // namespace
}  // namespace saccade
