#include "nn/layers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include "nn/random.h"
#include "tests/guarded_matrix.h"

namespace saccade {
namespace {

struct Activation {
  const char* name;
  void (*fast)(float*, int);
  double (*naive)(double);
  float below, above;  // limits at -inf and inf
};

const std::vector<Activation> kActivations = {
    {"sigmoid", sigmoid, [](double z) { return 1.0 / (1.0 + std::exp(-z)); }, 0.0F, 1.0F},
    {"tanh", saccade::tanh, [](double z) { return std::tanh(z); }, -1.0F, 1.0F}};

TEST_CASE("sigmoid and tanh are accurate") {
  for (const Activation& activation : kActivations) {
    CAPTURE(activation.name);
    std::vector<float> inputs;
    for (int i = -300000; i <= 300000; ++i) inputs.push_back(1e-4F * static_cast<float>(i));
    std::vector<float> outputs = inputs;
    activation.fast(outputs.data(), static_cast<int>(outputs.size()));
    double largest = 0.0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const double error = std::abs(outputs[i] - activation.naive(inputs[i]));
      largest = std::isnan(error) ? INFINITY : std::max(largest, error);
    }
    CHECK(largest < 2e-7);

    std::vector<float> tails = {-50.0F, -88.0F, -90.0F, -104.0F, -1000.0F, -FLT_MAX, -kInf};
    const std::size_t count = tails.size();
    for (std::size_t i = 0; i < count; ++i) tails.push_back(-tails[i]);
    activation.fast(tails.data(), static_cast<int>(tails.size()));
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(tails[i] == doctest::Approx(activation.below).epsilon(1e-20));
      CHECK(tails[count + i] == activation.above);
    }
  }
}

TEST_CASE("exp is accurate") {
  std::vector<float> inputs;
  for (int i = -870000; i <= 870000; ++i) inputs.push_back(1e-4F * static_cast<float>(i));
  std::vector<float> outputs = inputs;
  saccade::exp(outputs.data(), static_cast<int>(outputs.size()));
  double largest = 0.0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double error = std::abs(outputs[i] / std::exp(static_cast<double>(inputs[i])) - 1.0);
    largest = std::isnan(error) ? INFINITY : std::max(largest, error);
  }
  CHECK(largest < 3e-7);

  std::vector<float> tails = {-88.0F, -104.0F, -FLT_MAX, -kInf, 100.0F, kInf, kNan};
  saccade::exp(tails.data(), static_cast<int>(tails.size()));
  for (int i = 0; i < 4; ++i) CHECK(tails[i] == doctest::Approx(0.0).epsilon(1e-30));
  for (int i = 4; i < 6; ++i) CHECK(tails[i] == kInf);
  CHECK(std::isnan(tails[6]));
}

TEST_CASE("sigmoid and tanh give the same result at every position and length, and pass on NaN") {
  RandomStream stream(2, Purpose::scene, 0, 0);
  for (const Activation& activation : kActivations)
    for (int n = 0; n <= 70; ++n) {
      CAPTURE(activation.name);
      CAPTURE(n);
      GuardedMatrix x(1, n);
      const GuardedMatrix inputs = x.randomize(stream);
      activation.fast(x.view().row(0), n);
      for (int i = 0; i < n; ++i) {
        float alone = inputs(0, i);
        activation.fast(&alone, 1);
        REQUIRE(x(0, i) == alone);
        REQUIRE(alone == doctest::Approx(activation.naive(inputs(0, i))).epsilon(1e-6));
      }
      for (int i = 0; i < n; ++i) {
        GuardedMatrix broken = inputs;
        broken(0, i) = kNan;
        activation.fast(broken.view().row(0), n);
        REQUIRE(std::isnan(broken(0, i)));
      }
    }
}

}  // namespace
}  // namespace saccade
