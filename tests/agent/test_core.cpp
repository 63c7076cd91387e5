// The contract of agent/cores/core.h, checked for every core of the table.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "agent/cores/core.h"
#include "base/name_table.h"
#include "tests/agent/slopes.h"
#include "tests/agent/support.h"

namespace saccade {
namespace {

constexpr int kCoreSteps = 4, kCoreEpisodes = 3, kFeatures = 5, kHidden = 6;
constexpr CoreSizes kCoreSizes{.features = kFeatures, .hidden = kHidden, .heads = 3, .depth = 2};

std::vector<float> normals(std::size_t count, std::uint32_t seed) {
  RandomStream stream(seed, Purpose::initial_weights, 0, 0);
  std::vector<float> values(count);
  for (float& value : values) value = stream.normal();
  return values;
}

// A core with random weights that reads random features.
struct PlayedCore {
  explicit PlayedCore(const std::string& kind)
      : core(make_core(kind, "core", kCoreSizes, layout)),
        memory(core->make_memory(kCoreSteps, kCoreEpisodes)),
        parameters(zeros<1>(layout.size())),
        features(normals(kCoreSteps * kCoreEpisodes * kFeatures, 1)) {
    randomize(flat(parameters), layout, 0.5F, 3);
    forward();
  }

  void forward() {
    const Matrix target = memory.all_features();
    for (int r = 0; r < target.rows; ++r)
      std::copy_n(features.begin() + r * kFeatures, kFeatures, target.row(r));
    for (int t = 0; t < kCoreSteps; ++t) core->forward(memory, t, flat(parameters));
  }

  /// Takes the gradients of the states, `dstate` (T, B, H); returns dfeatures (T, B, F).
  void backward(const std::vector<float>& dstate, Tensor<1>& gradient, Tensor<2>& dfeatures) {
    std::ranges::copy(dstate, memory.dstate.begin());
    core->backward(flat(gradient), matrix(dfeatures), memory, flat(parameters));
  }

  /// h_1 .. h_T (T, B, H)
  std::vector<float> states() const {
    const ConstMatrix all = matrix(memory.input).columns(kFeatures, kHidden);
    return values_of(all.row_range(kCoreEpisodes, kCoreSteps * kCoreEpisodes));
  }

  ParameterLayout layout;
  std::unique_ptr<Core> core;
  CoreMemory memory;
  Tensor<1> parameters;
  std::vector<float> features;
};

TEST_CASE("a core's gradient is the slope of its states in a random direction") {
  for (const std::string& kind : core_kinds()) {
    CAPTURE(kind);
    PlayedCore played(kind);
    const std::vector<float> dstate = normals(kCoreSteps * kCoreEpisodes * kHidden, 2);
    Tensor<1> gradient = zeros<1>(played.layout.size());
    Tensor<2> dfeatures = zeros<2>(kCoreSteps * kCoreEpisodes, kFeatures);
    played.backward(dstate, gradient, dfeatures);

    const auto check_slope = [&](std::span<float> numbers, std::span<const float> slope) {
      const double difference = check_random_slope(numbers, slope, [&] {
        played.forward();
        const std::vector<float> states = played.states();
        return std::inner_product(states.begin(), states.end(), dstate.begin(), 0.0, std::plus(),
                                  [](double a, double b) { return a * b; });
      });
      CHECK(std::abs(difference) > 0.01);
    };
    for (const Parameter& p : played.layout.parameters()) {
      CAPTURE(p.name);
      check_slope(values_of(flat(played.parameters), p),
                  values_of(flat(std::as_const(gradient)), p));
    }
    check_slope(played.features, flat(std::as_const(dfeatures)));
  }
}

TEST_CASE("a core remembers what its table says, and never sees the future or other episodes") {
  for (const std::string& kind : core_kinds()) {
    CAPTURE(kind);
    PlayedCore played(kind);
    const std::vector<float> before = played.states();
    constexpr int kStep = 1, kEpisode = 2;
    for (int j = 0; j < kFeatures; ++j)
      played.features[(kStep * kCoreEpisodes + kEpisode) * kFeatures + j] += 1.0F;
    played.forward();
    const std::vector<float> after = played.states();
    for (int t = 0; t < kCoreSteps; ++t)
      for (int b = 0; b < kCoreEpisodes; ++b) {
        CAPTURE(t);
        CAPTURE(b);
        const auto begin = (t * kCoreEpisodes + b) * kHidden;
        const bool same = std::equal(&before[begin], &before[begin] + kHidden, &after[begin]);
        const bool forgets = core_remembers(kind) == Remembers::nothing;
        const bool knows = forgets ? t == kStep : t >= kStep;
        CHECK(same == !(knows && b == kEpisode));
      }
  }
}

TEST_CASE("a core has no hidden state: repeated passes give the same bits") {
  for (const std::string& kind : core_kinds()) {
    CAPTURE(kind);
    PlayedCore played(kind);
    const std::vector<float> states = played.states();
    const std::vector<float> dstate = normals(kCoreSteps * kCoreEpisodes * kHidden, 2);
    Tensor<1> gradient = zeros<1>(played.layout.size()), again = gradient;
    Tensor<2> dfeatures = zeros<2>(kCoreSteps * kCoreEpisodes, kFeatures),
              dfeatures_again = dfeatures;
    played.backward(dstate, gradient, dfeatures);
    again.fill(7.0F);  // reveals elements that are not written
    played.forward();
    played.backward(dstate, again, dfeatures_again);
    CHECK(played.states() == states);
    CHECK(dfeatures_again == dfeatures);
    for (const Parameter& p : played.layout.parameters())
      CHECK(std::ranges::equal(values_of(flat(again), p), values_of(flat(gradient), p)));
  }
}

TEST_CASE("the identity core passes on its input and its gradient") {
  const auto core = make_identity_core(kFeatures);
  for (const int steps : {1, kCoreSteps}) {
    CAPTURE(steps);
    CoreMemory memory = core->make_memory(steps, kCoreEpisodes);
    CHECK(memory.features == kFeatures);
    CHECK(memory.hidden == kFeatures);
    const std::vector<float> features = normals(memory.rows() * kFeatures, 1);
    const std::vector<float> dstate = normals(memory.rows() * kFeatures, 2);
    for (int r = 0; r < memory.rows(); ++r)
      std::copy_n(features.begin() + r * kFeatures, kFeatures, memory.all_features().row(r));
    for (int t = 0; t < steps; ++t) core->forward(memory, t, {});
    for (int t = 0; t < steps; ++t)
      CHECK(values_of(memory.state(t + 1)) == values_of(memory.feature(t)));
    CHECK(values_of(memory.all_features()) == features);
    CHECK(values_of(memory.state(0)) == std::vector<float>(kCoreEpisodes * kFeatures, 0.0F));

    std::ranges::copy(dstate, memory.dstate.begin());
    Tensor<2> dfeatures = zeros<2>(memory.rows(), kFeatures);
    dfeatures.fill(7.0F);
    core->backward({}, matrix(dfeatures), memory, {});
    CHECK(std::ranges::equal(dfeatures, dstate));
    CHECK(core->work(steps).forward == 0);
    CHECK(core->work(steps).backward == 0);
  }
  // Only the middle steps.
  CoreMemory memory = core->make_memory(kCoreSteps, kCoreEpisodes);
  std::ranges::copy(normals(memory.rows() * kFeatures, 2), memory.dstate.begin());
  Tensor<2> dfeatures = zeros<2>(2 * kCoreEpisodes, kFeatures);
  core->feature_backward(matrix(dfeatures), memory, 1, 2, {});
  CHECK(values_of(matrix(dfeatures)) == values_of(memory.steps_of(memory.dstate, 1, 2)));
}

TEST_CASE("the attention core reports the weights of every step") {
  PlayedCore played("attention");
  for (int t = 0; t < kCoreSteps; ++t)
    for (int b = 0; b < kCoreEpisodes; ++b) {
      const ConstMatrix weights = played.core->attention(played.memory, t, b);
      CHECK(weights.rows == kCoreSizes.depth * kCoreSizes.heads);
      CHECK(weights.cols == t + 1);
      for (int row = 0; row < weights.rows; ++row) {
        const std::span<const float> a(weights.row(row), weights.cols);
        CHECK(std::ranges::min(a) > 0.0F);
        CHECK(std::accumulate(a.begin(), a.end(), 0.0) == doctest::Approx(1.0).epsilon(1e-6));
      }
    }
  // Heads and episodes have different weights.
  const auto last = [&](int b) { return played.core->attention(played.memory, kCoreSteps - 1, b); };
  for (int row = 1; row < last(0).rows; ++row)
    CHECK(values_of(last(0).row_range(row, 1)) != values_of(last(0).row_range(row - 1, 1)));
  CHECK(values_of(last(0)) != values_of(last(1)));
  CHECK(PlayedCore("gru").core->attention(played.memory, 0, 0).data == nullptr);
}

TEST_CASE("the attention core distinguishes the order of its inputs") {
  PlayedCore played("attention");
  const std::vector<float> before = played.states();
  // Swaps the first two features: without position encodings the last state would not change.
  constexpr int kStep = kCoreEpisodes * kFeatures;
  std::swap_ranges(played.features.begin(), played.features.begin() + kStep,
                   played.features.begin() + kStep);
  played.forward();
  const std::vector<float> after = played.states();
  constexpr int kLast = (kCoreSteps - 1) * kCoreEpisodes * kHidden;
  for (int i = kLast; i < kCoreSteps * kCoreEpisodes * kHidden; ++i)
    CHECK(std::abs(after[i] - before[i]) > 1e-4F);
}

TEST_CASE("the work of the attention core counts every product once") {
  ParameterLayout layout;
  const auto core = make_core("attention", "core", kCoreSizes, layout);
  const int per_row = kFeatures * kHidden + kCoreSizes.depth * (3 + 1 + 2 + 2) * kHidden * kHidden;
  const int keys_and_values = kCoreSizes.depth * 2 * (1 + 2 + 3) * kHidden;
  CHECK(core->work(3).forward == 3 * per_row + keys_and_values);
  CHECK(core->work(3).backward == 2 * core->work(3).forward);
}

TEST_CASE(
    "the attention core refuses a number of heads that does not divide its width, and zero "
    "layers") {
  ParameterLayout layout;
  const auto make = [&](int heads, int depth) {
    return make_core("attention", "core",
                     {.features = 2, .hidden = 6, .heads = heads, .depth = depth}, layout);
  };
  for (const int heads : {4, 7, 0})
    CHECK_THROWS_WITH_AS(make(heads, 1),
                         ("model.heads: " + std::to_string(heads) +
                          " does not divide model.hidden_size: 6; allowed: 1, 2, 3, 6")
                             .c_str(),
                         InputError);
  CHECK_THROWS_WITH_AS(make(2, 0), "model.depth: 0; allowed: 1 and more", InputError);
  CHECK(layout.size() == 0);
}

TEST_CASE("an unknown core lists the valid ones") {
  ParameterLayout layout;
  CHECK_THROWS_WITH_AS(make_core("nonesuch", "core", {2, 2}, layout),
                       ("unknown model.core 'nonesuch'; allowed: " + join(core_kinds())).c_str(),
                       InputError);
}

}  // namespace
}  // namespace saccade
