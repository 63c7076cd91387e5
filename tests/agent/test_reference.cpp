// Compares the C++ code with an independent implementation: fixtures written by
// tests/reference/make.py with PyTorch.
#include <doctest/doctest.h>

#include "agent/learning/learner.h"
#include "agent/looking/glimpse_network.h"
#include "agent/looking/locator.h"
#include "nn/layers.h"
#include "tests/agent/fixture.h"

namespace saccade {
namespace {

TEST_CASE("the glimpse network agrees with PyTorch") {
  const Fixture fixture("glimpse_network");
  const GlimpseNetwork::Sizes sizes{.glimpse = fixture.size("glimpse", 1),
                                    .what = fixture.size("parameter.glimpse.what.bias", 1),
                                    .where = fixture.size("parameter.glimpse.where.bias", 1),
                                    .features = fixture.size("feature", 1)};
  const int rows = fixture.size("glimpse", 0);
  ParameterLayout layout;
  const GlimpseNetwork network(sizes, layout);
  const Tensor<1> parameters = fixture.parameters(layout);
  Tensor<2> feature = zeros<2>(rows, sizes.features);
  Tensor<2> joint = zeros<2>(rows, network.joint_size());
  network.forward(matrix(feature), matrix(joint), fixture.matrix("glimpse"),
                  fixture.matrix("location"), flat(parameters));
  CHECK(relative_error(flat(feature), fixture["feature"]) < kTolerance);

  Tensor<1> gradient = zeros<1>(layout.size());
  Tensor<2> djoint = zeros<2>(rows, network.joint_size());
  Tensor<2> dfeature = zeros<2>(rows, sizes.features);
  copy(matrix(dfeature), fixture.matrix("dfeature"));
  network.activation_backward(matrix(djoint), matrix(dfeature), matrix(feature), matrix(joint),
                              flat(parameters));
  network.weight_backward(flat(gradient), matrix(djoint), matrix(dfeature), matrix(joint),
                          fixture.matrix("glimpse"), fixture.matrix("location"));
  fixture.check_gradients(gradient, layout);
}

TEST_CASE("the cores agree with PyTorch") {
  for (const std::string& kind : core_kinds()) {
    CAPTURE(kind);
    const Fixture fixture("core_" + kind);
    const int steps = fixture.size("feature", 0), batch = fixture.size("feature", 1);
    ParameterLayout layout;
    const std::unique_ptr<Core> core =
        make_core(kind, "core",
                  {.features = fixture.size("feature", 2),
                   .hidden = fixture.size("state", 2),
                   .heads = static_cast<int>(fixture.number("heads")),
                   .depth = static_cast<int>(fixture.number("depth"))},
                  layout);
    const Tensor<1> parameters = fixture.parameters(layout);
    CoreMemory memory = core->make_memory(steps, batch);
    copy(memory.all_features(), fixture.matrix("feature"));
    for (int t = 0; t < steps; ++t) {
      core->forward(memory, t, flat(parameters));
      CHECK(relative_error(values_of(memory.state(t + 1)),
                           values_of(fixture.matrix("state").row_range(t * batch, batch))) <
            kTolerance);
    }

    copy(matrix(memory.dstate), fixture.matrix("dstate"));
    Tensor<1> gradient = zeros<1>(layout.size());
    Tensor<3> dfeature = zeros<3>(steps, batch, memory.features);
    core->backward(flat(gradient), matrix(dfeature), memory, flat(parameters));
    CHECK(relative_error(flat(dfeature), fixture["dfeature"]) < kTolerance);
    fixture.check_gradients(gradient, layout);
  }
}

TEST_CASE("the losses agree with PyTorch") {
  const Fixture fixture("losses");
  const int rows = fixture.size("logits", 0);

  SUBCASE("cross-entropy") {
    const std::vector<int> labels = fixture.integers("label");
    Tensor<2> p = zeros<2>(rows, fixture.size("logits", 1));
    std::vector<float> loss(rows);
    cross_entropy_forward(matrix(p), loss, fixture.matrix("logits"), labels);
    CHECK(relative_error(flat(p), fixture["probability"]) < kTolerance);
    CHECK(relative_error(loss, fixture["loss"]) < kTolerance);
    Tensor<2> dlogits = p;
    cross_entropy_backward(matrix(dlogits), matrix(p), labels,
                           static_cast<float>(fixture.number("scale")));
    CHECK(relative_error(flat(dlogits), fixture["dlogits"]) < kTolerance);
  }

  SUBCASE("REINFORCE through the locator") {
    ParameterLayout layout;
    const int width = fixture.size("parameter.locator.hidden.bias", 1);
    const Locator locator(fixture.size("state", 1), width, "mean", {0.0F, 0.0F}, layout);
    const Tensor<1> parameters = fixture.parameters(layout);
    const float std = std::exp(fixture["parameter.log_std"][0]);
    Tensor<2> mean = zeros<2>(rows, 2), dmean = zeros<2>(rows, 2);
    Tensor<2> hidden = zeros<2>(rows, width), dhidden = zeros<2>(rows, width);
    locator.forward(matrix(mean), matrix(hidden), fixture.matrix("state"), flat(parameters));
    squash_forward(matrix(mean));
    CHECK(relative_error(flat(mean), fixture["mean"]) < kTolerance);

    std::vector<float> log_probability(rows), dlog_std(1);
    for (int r = 0; r < rows; ++r) {
      const float* sample = fixture.matrix("sample").row(r);
      log_probability[r] = gaussian_log_probability_forward(sample, &mean(r, 0), std);
      dlog_std[0] += gaussian_log_probability_backward(&dmean(r, 0), sample, &mean(r, 0), std,
                                                       -fixture["advantage"][r]);
    }
    CHECK(relative_error(log_probability, fixture["log_probability"]) < kTolerance);
    CHECK(relative_error(dlog_std, fixture.gradient("log_std")) < kTolerance);
    CHECK(gaussian_entropy(std) == doctest::Approx(fixture["entropy"][0]).epsilon(kTolerance));
    Tensor<1> gradient = zeros<1>(layout.size());
    squash_backward(matrix(dmean), matrix(mean));
    locator.activation_backward(matrix(dhidden), matrix(dmean), matrix(hidden), flat(parameters));
    locator.weight_backward(flat(gradient), matrix(dhidden), matrix(dmean), matrix(hidden),
                            fixture.matrix("state"));
    fixture.check_gradients(gradient, layout);
  }

  SUBCASE("baseline regression") {
    ParameterLayout layout;
    const LinearHead head("baseline", fixture.size("state", 1), 1, constant(0), layout);
    const Tensor<1> parameters = fixture.parameters(layout);
    Tensor<2> b = zeros<2>(rows, 1), db = zeros<2>(rows, 1);
    head.forward(matrix(b), fixture.matrix("state"), flat(parameters));
    CHECK(relative_error(flat(b), fixture["baseline"]) < kTolerance);
    for (int r = 0; r < rows; ++r)
      db(r, 0) = 2.0F * (b(r, 0) - fixture["reward"][r]) / static_cast<float>(rows);
    Tensor<1> gradient = zeros<1>(layout.size());
    head.backward(flat(gradient), matrix(db), fixture.matrix("state"));
    fixture.check_gradients(gradient, layout);
  }
}

TEST_CASE(
    "every optimiser agrees with PyTorch over twenty steps, with clipping by the global norm") {
  const Fixture fixture("optimizer");
  const int steps = fixture.size("gradient", 0), lanes = fixture.size("gradient", 1);
  const int count = fixture.size("gradient", 2);
  for (const std::string& name : optimizers()) {
    CAPTURE(name);
    Workers workers(1);
    Optimizer optimizer({.optimizer = name,
                         .learning_rate = 0.05,
                         .schedule = "constant",
                         .warmup = 0.0,
                         .weight_decay = fixture[name + ".weight_decay"][0]},
                        count);
    std::vector<float> weights(fixture["start"].begin(), fixture["start"].end());
    std::ranges::copy(weights, optimizer.averaged.begin());
    for (int n = 0; n < steps; ++n) {
      CAPTURE(n);
      std::vector<Tensor<1>> gradients(lanes, zeros<1>(count));
      std::vector<Tensor<1>*> blocks;
      for (int lane = 0; lane < lanes; ++lane) {
        std::copy_n(fixture.matrix("gradient").row(n * lanes + lane), count,
                    gradients[lane].begin());
        blocks.push_back(&gradients[lane]);
      }
      const double norm = optimizer.step(workers, weights, blocks, 0.5);
      CHECK(norm == doctest::Approx(fixture["norm"][n]).epsilon(kTolerance));
      const auto row = [&](const std::string& tensor) {
        return values_of(fixture.matrix(name + tensor).row_range(n, 1));
      };
      CHECK(relative_error(weights, row(".weight")) < kTolerance);
      CHECK(relative_error(flat(optimizer.averaged), row(".average")) < kTolerance);
    }
    CHECK(relative_error(flat(optimizer.first), fixture[name + ".first"]) < kTolerance);
    if (optimizer.second.size() > 0)
      CHECK(relative_error(flat(optimizer.second), fixture[name + ".second"]) < kTolerance);
  }
}

}  // namespace
}  // namespace saccade
