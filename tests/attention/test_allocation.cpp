// Attention allocates nothing except its memory at construction.
#include <doctest/doctest.h>

#include <vector>

#include "attention/gate.h"
#include "attention/hidden.h"
#include "tests/attention/hidden_configs.h"
#include "tests/count_allocations.h"

namespace saccade {
namespace {

constexpr int kEpisodes = 3, kSteps = 5, kState = 6;

TEST_CASE("reading states allocates nothing after warm-up") {
  const std::vector<int> lengths = {5, 4, 2};
  const Tensor<2> values = zeros<2>(kSteps * kEpisodes, kState);
  for (const auto& [name, config] : every_hidden_config()) {
    CAPTURE(name);
    ParameterLayout layout;
    const auto hidden = make_hidden_attention(config, "h", kState, kSteps, layout);
    Tensor<1> parameters = zeros<1>(layout.size()), gradient = parameters;
    layout.initialize(flat(parameters), 1);
    HiddenMemory memory = hidden->make_memory(kSteps, kEpisodes);
    Tensor<2> output = zeros<2>(kEpisodes, hidden->output_size()), dvalues = values;
    const auto play = [&] {
      hidden->prepare(memory, matrix(values), lengths, flat(parameters));
      for (int t = 0; t < kSteps; ++t)
        hidden->forward(matrix(output), memory, t, matrix(values), flat(parameters));
      for (int t = kSteps - 1; t >= 0; --t)
        hidden->backward(matrix(dvalues), memory, t, matrix(output), matrix(values), 1.0F,
                         flat(parameters));
      hidden->finish(flat(gradient), matrix(dvalues), memory, 0, matrix(values), flat(parameters));
    };
    play();
    CHECK(count_allocations(play) == 0);
  }
}

TEST_CASE("an input gate allocates nothing after warm-up") {
  ParameterLayout layout;
  const InputGate gate({.kind = "gate", .learn_alpha = true}, "g", 4, kState, layout);
  Tensor<1> parameters = zeros<1>(layout.size()), gradient = parameters;
  layout.initialize(flat(parameters), 1);
  GateMemory memory = gate.make_memory(kSteps, kEpisodes);
  Tensor<3> x = zeros<3>(kSteps, kEpisodes, 4), y = x, dx = x;
  Tensor<3> states = zeros<3>(kSteps, kEpisodes, kState), dstates = states;
  const auto play = [&] {
    for (int t = 0; t < kSteps; ++t)
      gate.forward(step(y, t), memory, t, step(x, t), step(states, t), flat(parameters));
    for (int t = kSteps - 1; t >= 0; --t)
      gate.step_backward(step(dx, t), step(dstates, t), memory, t, step(y, t), step(x, t),
                         flat(parameters));
    gate.finish(flat(gradient), memory, matrix(x), matrix(states), flat(parameters));
  };
  play();
  CHECK(count_allocations(play) == 0);
}

}  // namespace
}  // namespace saccade
