#include "attention/gate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "tests/attention/naive_attend.h"
#include "tests/attention/parameter_gradients.h"
#include "tests/guarded_matrix.h"
#include "tests/support.h"

namespace saccade {
namespace {

struct GateSizes {
  int features, state, episodes, steps;
};

/// A gate on given inputs and states, all random.
struct GateSituation {
  GateSituation(const InputConfig& config_, const GateSizes& sizes_)
      : config(config_),
        sizes(sizes_),
        gate(config, "g", sizes.features, sizes.state, layout),
        memory(gate.make_memory(sizes.steps, sizes.episodes)),
        parameters(1, static_cast<int>(layout.size())),
        gradient(1, static_cast<int>(layout.size())),
        x(rows(), sizes.features),
        dx(rows(), sizes.features),
        y(rows(), sizes.features),
        dy(rows(), sizes.features),
        states(rows(), sizes.state),
        dstates(rows(), sizes.state) {
    RandomStream stream(1, Purpose::scene, 0, 0);
    for (GuardedMatrix* m : {&parameters, &x, &dy, &states, &dstates}) m->randomize(stream);
    for (int b = 0; b < sizes.episodes; ++b)
      for (int i = 0; i < sizes.state; ++i) states(b, i) = 0.0F;
  }

  int rows() const { return sizes.steps * sizes.episodes; }
  Matrix of_step(GuardedMatrix& m, int t) const {
    return m.view().row_range(t * sizes.episodes, sizes.episodes);
  }
  std::span<const float> block() { return parameters.first_row(); }

  void forward() {
    y.fill(kNan);
    for (int t = 0; t < sizes.steps; ++t)
      gate.forward(of_step(y, t), memory, t, of_step(x, t), t > 0 ? of_step(states, t) : Matrix{},
                   block());
  }
  void backward() {
    dx.fill(kNan);
    gradient.fill(kNan);
    for (int t = sizes.steps - 1; t >= 0; --t)
      gate.step_backward(of_step(dx, t), t > 0 ? of_step(dstates, t) : Matrix{}, memory, t,
                         of_step(dy, t), of_step(x, t), block());
    gate.finish(gradient.first_row(), memory, x.view(), states.view(), block());
  }

  InputConfig config;
  GateSizes sizes;
  ParameterLayout layout;
  InputGate gate;
  GateMemory memory;
  GuardedMatrix parameters, gradient, x, dx, y, dy, states, dstates;
};

/// The same in double precision.
struct NaiveGate {
  explicit NaiveGate(GateSituation& s)
      : config(s.config),
        x(s.x.view()),
        states(s.states.view()),
        parameters(naive_parameters(s.layout, s.block())) {}

  NaiveMatrix weights() const {
    NaiveMatrix all(x.rows, x.cols);
    const double alpha =
        config.learn_alpha ? std::exp(parameters.at("g.log_alpha")(0, 0)) : config.alpha;
    const NaiveMatrix from_state = product(states, parameters.at("g.state.weight"));
    const NaiveMatrix from_input = product(x, parameters.at("g.input.weight"));
    for (int r = 0; r < x.rows; ++r) {
      naive_attention::Row z;
      for (int i = 0; i < x.cols; ++i) {
        const double sum = from_state(r, i) + from_input(r, i) + parameters.at("g.bias")(0, i);
        z.push_back(alpha / (1.0 + std::exp(-sum)));
      }
      const std::vector<bool> everything(z.size(), true);
      const naive_attention::Row g = naive_attention::masked_softmax(z, everything);
      std::copy(g.begin(), g.end(), &all(r, 0));
    }
    return all;
  }
  NaiveMatrix outputs() const {
    NaiveMatrix all = weights();
    for (std::size_t i = 0; i < all.values.size(); ++i) all.values[i] *= config.gain * x.values[i];
    return all;
  }

  InputConfig config;
  NaiveMatrix x, states;
  NaiveParameters parameters;
};

template <class Check>
void for_every_gate(const Check& check) {
  for (const InputConfig& config :
       {InputConfig{.kind = "gate"}, InputConfig{.kind = "gate", .alpha = 3.0, .gain = 2.5},
        InputConfig{.kind = "gate", .alpha = 2.0, .learn_alpha = true, .gain = 4.0}})
    for (const GateSizes& sizes : {GateSizes{1, 1, 1, 1}, GateSizes{5, 3, 2, 1},
                                   GateSizes{4, 6, 3, 4}, GateSizes{37, 18, 2, 3}}) {
      CAPTURE(config.alpha);
      CAPTURE(config.learn_alpha);
      CAPTURE(sizes.features);
      CAPTURE(sizes.steps);
      GateSituation situation(config, sizes);
      check(situation);
    }
}

TEST_CASE("an input gate agrees with naive loops") {
  for_every_gate([](GateSituation& s) {
    s.forward();
    const NaiveGate naive(s);
    CHECK(largest_error(matrix(s.memory.weights), naive.weights()) < 1e-6);
    CHECK(largest_error(s.y.view(), naive.outputs()) < 1e-5);
  });
}

TEST_CASE("an input gate's gradients agree with finite differences") {
  for_every_gate([](GateSituation& s) {
    NaiveGate naive(s);
    const NaiveMatrix dy(s.dy.view());
    const auto loss = [&] { return dot(dy, naive.outputs()); };
    NaiveMatrix dstates(s.dstates.view());  // accumulated
    s.forward();
    s.backward();
    CHECK(largest_error(s.dx.view(), finite_differences(naive.x, loss)) < 1e-5);
    const NaiveMatrix differences = finite_differences(naive.states, loss);
    for (int r = s.sizes.episodes; r < dstates.rows; ++r)  // h_0 gets none
      for (int i = 0; i < dstates.cols; ++i) dstates(r, i) += differences(r, i);
    CHECK(largest_error(s.dstates.view(), dstates) < 1e-5);
    check_parameter_gradients(s.layout, s.gradient, naive.parameters, loss, 1e-5);
  });
}

TEST_CASE(
    "a gate with zero weights is uniform, and passes everything with gain equal to its width") {
  GateSituation s({.kind = "gate", .alpha = 5.0, .gain = 8.0}, {8, 3, 2, 2});
  s.parameters.fill(0.0F);
  s.forward();
  for (int r = 0; r < s.rows(); ++r)
    for (int i = 0; i < 8; ++i) {
      CHECK(matrix(s.memory.weights)(r, i) == doctest::Approx(0.125));
      CHECK(s.y(r, i) == doctest::Approx(s.x(r, i)));
    }
}

TEST_CASE("alpha starts at its configured value, learned or not, and sharpens the gate") {
  const auto largest_gate = [](double alpha, bool learned) {
    GateSituation s({.kind = "gate", .alpha = alpha, .learn_alpha = learned}, {6, 3, 1, 1});
    s.layout.initialize({s.parameters.view().data, s.layout.size()}, 1);
    CHECK(s.gate.alpha(s.block()) == doctest::Approx(alpha));
    s.x.fill(0.0F);
    s.parameters(0, static_cast<int>(s.layout[2].offset)) = 3.0F;  // a bias
    s.forward();
    return *std::max_element(s.memory.weights.begin(), s.memory.weights.end());
  };
  CHECK(largest_gate(4.0, true) == doctest::Approx(largest_gate(4.0, false)));
  CHECK(largest_gate(40.0, false) > 2.0F * largest_gate(0.1, false));
}

TEST_CASE("a gate's alpha and gain must lie in the ranges of their settings") {
  const auto message = [](const InputConfig& config) {
    ParameterLayout layout;
    return message_of<InputError>([&] { InputGate(config, "g", 3, 2, layout); });
  };
  CHECK(message({.alpha = 0.0}) == "attention.input.alpha: 0; allowed: 0.0001 to 1000");
  CHECK(message({.alpha = -1.0}) == "attention.input.alpha: -1; allowed: 0.0001 to 1000");
  CHECK(message({.alpha = NAN}) == "attention.input.alpha: nan; allowed: 0.0001 to 1000");
  CHECK(message({.gain = INFINITY}) == "attention.input.gain: inf; allowed: 0.0001 to 8192");
  CHECK(message({.gain = 8193.0}) == "attention.input.gain: 8193; allowed: 0.0001 to 8192");
  CHECK(message({.alpha = 1000.0, .gain = 8192.0}) == "nothing thrown");
  CHECK(message({}) == "nothing thrown");
}

TEST_CASE("the settings of a gate have an effect with every kind that has one") {
  InputConfig config;
  for (const std::string& kind : input_kinds()) {
    config.kind = kind;
    const Settings all = describe(config);
    for (std::size_t i = 1; i < all.size(); ++i) {  // after the kind
      REQUIRE(all[i].needs.all.size() == 1);
      const Condition& gated = all[i].needs.all[0];
      CHECK(gated.values == "gate");
      CHECK(gated.holds(gated.field) == input_has_gate(kind));
    }
  }
  CHECK_THROWS_AS(input_has_gate("gat"), InputError);
}

TEST_CASE("a gate's work is computed from the shapes") {
  ParameterLayout layout;
  const Work work = InputGate({}, "g", 5, 3, layout).work(4);
  CHECK(work.forward == 4 * 5 * 5 + 3 * 3 * 5);
  CHECK(work.backward == 2 * work.forward);
}

}  // namespace
}  // namespace saccade
