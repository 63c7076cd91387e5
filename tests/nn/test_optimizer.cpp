#include "nn/optimizer.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/name_table.h"
#include "nn/random.h"
#include "tests/support.h"

namespace saccade {
namespace {

using Lanes = std::vector<Tensor<1>>;

Tensor<1> random_block(std::size_t size, RandomStream& stream) {
  Tensor<1> block = zeros<1>(size);
  for (float& x : flat(block)) x = stream.normal();
  return block;
}

Lanes random_lanes(std::size_t lanes, std::size_t size, RandomStream& stream) {
  Lanes blocks;
  for (std::size_t i = 0; i < lanes; ++i) blocks.push_back(random_block(size, stream));
  return blocks;
}

double step_lanes(Optimizer& optimizer, Workers& workers, Tensor<1>& parameters, Lanes& lanes,
                  double progress) {
  std::vector<Tensor<1>*> pointers;
  for (Tensor<1>& lane : lanes) pointers.push_back(&lane);
  return optimizer.step(workers, flat(parameters), pointers, progress);
}

double largest_difference(const std::vector<double>& naive, const Tensor<1>& fast) {
  double largest = 0.0;
  for (std::size_t i = 0; i < naive.size(); ++i)
    largest = std::max(largest, std::abs(naive[i] - fast(i)));
  return largest;
}

// The update rules as given in their papers, in double precision.
struct NaiveOptimizer {
  OptimizerConfig config;
  std::vector<double> parameters, averaged, first, second;
  int updates = 0;

  double step(std::vector<double> gradient, double rate) {
    double norm = 0.0;
    for (const double g : gradient) norm += g * g;
    norm = std::sqrt(norm);
    if (config.max_grad_norm > 0.0 && norm > config.max_grad_norm)
      for (double& g : gradient) g *= config.max_grad_norm / norm;
    ++updates;
    const double decay = std::min(config.ema, (1.0 + updates) / (10.0 + updates));
    const auto rule = rules().find(config.optimizer);
    REQUIRE_MESSAGE(rule != rules().end(), config.optimizer << " has no naive rule");
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      (this->*rule->second)(i, gradient[i], rate);
      averaged[i] = decay * averaged[i] + (1.0 - decay) * parameters[i];
    }
    return norm;
  }

  using Rule = void (NaiveOptimizer::*)(std::size_t i, double gradient, double rate);
  static const std::map<std::string, Rule>& rules() {
    static const std::map<std::string, Rule> table = {{"adam", &NaiveOptimizer::adam},
                                                      {"adamw", &NaiveOptimizer::adamw},
                                                      {"sgd", &NaiveOptimizer::sgd}};
    return table;
  }
  void adam(std::size_t i, double gradient, double rate) {
    const double g = gradient + config.weight_decay * parameters[i];
    first[i] = config.beta1 * first[i] + (1.0 - config.beta1) * g;
    second[i] = config.beta2 * second[i] + (1.0 - config.beta2) * g * g;
    const double m = first[i] / (1.0 - std::pow(config.beta1, updates));
    const double v = second[i] / (1.0 - std::pow(config.beta2, updates));
    parameters[i] -= rate * m / (std::sqrt(v) + config.epsilon);
  }
  void adamw(std::size_t i, double gradient, double rate) {
    const double decay = rate * config.weight_decay * parameters[i];
    const double weight_decay = std::exchange(config.weight_decay, 0.0);
    adam(i, gradient, rate);
    config.weight_decay = weight_decay;
    parameters[i] -= decay;
  }
  void sgd(std::size_t i, double gradient, double rate) {
    first[i] = config.momentum * first[i] + gradient + config.weight_decay * parameters[i];
    parameters[i] -= rate * first[i];
  }
};

// Compares several steps with the naive optimiser. Gradients shrink, so that clipping stops along
// the way.
void check_against_naive(const OptimizerConfig& config, std::size_t size, std::size_t num_lanes) {
  CAPTURE(config.optimizer);
  CAPTURE(size);
  constexpr int kSteps = 30;
  RandomStream stream(1, Purpose::scene, 0, 0);
  Workers workers(2);
  Optimizer optimizer(config, size);
  Tensor<1> parameters = 0.1F * random_block(size, stream);
  optimizer.averaged = parameters;
  const std::vector<double> start(parameters.begin(), parameters.end());
  const std::vector<double> none(size);
  NaiveOptimizer naive{config, start, start, none, none};
  for (int s = 0; s < kSteps; ++s) {
    Lanes lanes = random_lanes(num_lanes, size, stream);
    for (Tensor<1>& lane : lanes) lane *= 3.0F / static_cast<float>(1 + s);
    const double progress = static_cast<double>(s) / kSteps;
    const double norm = step_lanes(optimizer, workers, parameters, lanes, progress);
    // Uses the lanes' sum as rounded to float: the first step of adam depends only on its sign.
    const std::vector<double> gradient(lanes[0].begin(), lanes[0].end());
    REQUIRE(norm ==
            doctest::Approx(naive.step(gradient, optimizer.learning_rate(progress))).epsilon(1e-6));
    REQUIRE(largest_difference(naive.parameters, parameters) < 1e-6);
    REQUIRE(largest_difference(naive.averaged, optimizer.averaged) < 1e-6);
  }
  CHECK(optimizer.updates == kSteps);
  CHECK(largest_difference(naive.first, optimizer.first) < 1e-5);
  if (optimizer.second.size() > 0) CHECK(largest_difference(naive.second, optimizer.second) < 1e-5);
}

TEST_CASE("parameters with their own learning rate learn as if all used it") {
  constexpr std::size_t kSize = 20000;  // spans several chunks
  const std::vector<RateRange> ranges = {
      {0, 5, 3.0}, {5, 8200, 1.0}, {8200, 8300, 1.0}, {8300, kSize, 0.25}};
  Workers workers(2);
  for (const std::string& name : optimizers()) {
    CAPTURE(name);
    const auto train = [&](const std::vector<RateRange>& rates) {
      RandomStream stream(2, Purpose::scene, 0, 0);
      Optimizer optimizer({.optimizer = name, .weight_decay = 0.1}, kSize, rates);
      Tensor<1> parameters = random_block(kSize, stream);
      for (int s = 0; s < 3; ++s) {
        Lanes lanes = random_lanes(2, kSize, stream);
        step_lanes(optimizer, workers, parameters, lanes, 0.5);
      }
      return parameters;
    };
    const Tensor<1> mixed = train(ranges);
    for (const RateRange& range : ranges) {
      const Tensor<1> alike = train({{0, kSize, range.factor}});
      CHECK(std::equal(mixed.begin() + range.begin, mixed.begin() + range.end,
                       alike.begin() + range.begin));
    }
    CHECK(train({}) == train({{0, kSize, 1.0}}));
  }
}

TEST_CASE("every optimiser descends a bowl") {
  constexpr std::size_t kSize = 50;
  for (const std::string& name : optimizers()) {
    CAPTURE(name);
    RandomStream stream(3, Purpose::scene, 0, 0);
    Workers workers(1);
    Optimizer optimizer({.optimizer = name, .learning_rate = 0.02, .warmup = 0.0}, kSize);
    Tensor<1> parameters = random_block(kSize, stream);
    // Loss: half the sum of c_i w_i^2, with curvatures c_i from 0.1 to 1.
    const auto curvature = [](std::size_t i) {
      return 0.1F + 0.9F * static_cast<float>(i) / static_cast<float>(kSize - 1);
    };
    const auto loss = [&] {
      double sum = 0.0;
      for (std::size_t i = 0; i < kSize; ++i)
        sum += 0.5 * curvature(i) * parameters(i) * parameters(i);
      return sum;
    };
    const double first = loss();
    for (int s = 0; s < 200; ++s) {
      Lanes lanes(1, zeros<1>(kSize));
      for (std::size_t i = 0; i < kSize; ++i) lanes[0](i) = curvature(i) * parameters(i);
      step_lanes(optimizer, workers, parameters, lanes, s / 200.0);
    }
    CHECK(loss() < 0.2 * first);
  }
}

TEST_CASE("every optimiser against naive loops") {
  // The parallel loop uses chunks of 8192: sizes below, around and above.
  for (const std::size_t size : {1, 37, 8192, 8193, 20000}) {
    const double max_norm = 4.0 * std::sqrt(static_cast<double>(size));
    check_against_naive({.max_grad_norm = max_norm}, size, 3);
    for (const std::string& name : optimizers())
      check_against_naive({.optimizer = name, .weight_decay = 0.05, .max_grad_norm = max_norm},
                          size, 2);
    check_against_naive({.epsilon = 0.5, .max_grad_norm = 0.0, .ema = 0.0}, size, 1);
    check_against_naive({.optimizer = "adamw", .weight_decay = 0.3, .max_grad_norm = 0.0}, size, 2);
    check_against_naive({.optimizer = "sgd",
                         .learning_rate = 0.01,
                         .schedule = "linear",
                         .weight_decay = 0.1,
                         .momentum = 0.8,
                         .max_grad_norm = max_norm,
                         .ema = 0.5},
                        size, 4);
  }
}

TEST_CASE("the first step of adam equals the learning rate, regardless of the gradient's size") {
  for (const float scale : {1e-3F, 1.0F, 1e3F}) {
    Workers workers(1);
    Optimizer optimizer({.warmup = 0.0, .max_grad_norm = 0.0}, 2);
    Tensor<1> parameters = zeros<1>(2);
    Lanes lanes(1, zeros<1>(2));
    lanes[0](0) = scale;
    lanes[0](1) = -scale;
    step_lanes(optimizer, workers, parameters, lanes, 0.0);
    CHECK(parameters(0) == doctest::Approx(-1e-3).epsilon(2e-5));
    CHECK(parameters(1) == doctest::Approx(1e-3).epsilon(2e-5));
  }
}

// Subtracts the gradient.
const OptimizerConfig kPlain = {.optimizer = "sgd",
                                .learning_rate = 1.0,
                                .schedule = "constant",
                                .warmup = 0.0,
                                .momentum = 0.0,
                                .max_grad_norm = 0.0};

TEST_CASE("clipping bounds the global norm and keeps the direction; 0 turns it off") {
  const auto step_of = [](double max_norm, double& norm) {
    Workers workers(1);
    OptimizerConfig config = kPlain;
    config.max_grad_norm = max_norm;
    Optimizer optimizer(config, 2);
    Tensor<1> parameters = zeros<1>(2);
    Lanes lanes(1, zeros<1>(2));
    lanes[0](0) = 30.0F;
    lanes[0](1) = 40.0F;
    norm = step_lanes(optimizer, workers, parameters, lanes, 0.5);
    return parameters;
  };
  double norm = 0.0;
  const Tensor<1> clipped = step_of(5.0, norm);
  CHECK(norm == doctest::Approx(50.0));
  CHECK(clipped(0) == doctest::Approx(-3.0));
  CHECK(clipped(1) == doctest::Approx(-4.0));
  for (const double max_norm : {0.0, 50.5}) {
    const Tensor<1> whole = step_of(max_norm, norm);
    CHECK(norm == doctest::Approx(50.0));
    CHECK(whole(0) == -30.0F);
    CHECK(whole(1) == -40.0F);
  }
}

TEST_CASE("averaged weights follow quickly at first, then with the configured decay") {
  const auto share_of_new = [](double ema, int updates_before) {
    Workers workers(1);
    OptimizerConfig config = kPlain;
    config.ema = ema;
    Optimizer optimizer(config, 1);
    optimizer.updates = updates_before;
    Tensor<1> parameters = zeros<1>(1);
    Lanes lanes(1, zeros<1>(1));
    lanes[0](0) = -1.0F;  // moves the weight from 0 to 1; the average was 0
    step_lanes(optimizer, workers, parameters, lanes, 0.0);
    return optimizer.averaged(0);
  };
  CHECK(share_of_new(0.999, 0) == doctest::Approx(9.0 / 11.0));
  CHECK(share_of_new(0.999, 89) == doctest::Approx(9.0 / 100.0));
  CHECK(share_of_new(0.999, 1000000) == doctest::Approx(0.001));
  CHECK(share_of_new(0.5, 1000000) == doctest::Approx(0.5));
  CHECK(share_of_new(0.0, 0) == doctest::Approx(1.0));
}

TEST_CASE("a non-finite gradient changes nothing") {
  constexpr std::size_t kSize = 10000;
  for (const std::string& name : optimizers())
    for (const float broken :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()})
      for (const std::size_t place : {std::size_t{0}, kSize - 1}) {
        CAPTURE(name);
        CAPTURE(broken);
        RandomStream stream(2, Purpose::scene, 0, 0);
        Workers workers(2);
        Optimizer optimizer({.optimizer = name}, kSize);
        Tensor<1> parameters = random_block(kSize, stream);
        Lanes lanes = random_lanes(3, kSize, stream);
        step_lanes(optimizer, workers, parameters, lanes, 0.5);
        const Tensor<1> kept = parameters;
        const Tensor<1> averaged = optimizer.averaged, first = optimizer.first,
                        second = optimizer.second;

        lanes = random_lanes(3, kSize, stream);
        lanes[1](place) = broken;
        CHECK_FALSE(std::isfinite(step_lanes(optimizer, workers, parameters, lanes, 0.5)));
        CHECK(parameters == kept);
        CHECK(optimizer.averaged == averaged);
        CHECK(optimizer.first == first);
        CHECK(optimizer.second == second);
        CHECK(optimizer.updates == 1);

        lanes = random_lanes(3, kSize, stream);
        CHECK(std::isfinite(step_lanes(optimizer, workers, parameters, lanes, 0.5)));
        CHECK(parameters != kept);
      }
}

// Sums lanes [begin, end) in the tree whose left half is the largest power of two below the count.
float tree_sum(const Lanes& lanes, std::size_t i, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return lanes[begin](i);
  std::size_t half = 1;
  while (2 * half < end - begin) half *= 2;
  return tree_sum(lanes, i, begin, begin + half) + tree_sum(lanes, i, begin + half, end);
}

TEST_CASE("lanes are added in one pairwise tree, whatever the number of threads") {
  constexpr std::size_t kSize = 3 * 8192 + 5;
  for (std::size_t num_lanes = 1; num_lanes <= 7; ++num_lanes) {
    CAPTURE(num_lanes);
    RandomStream stream(3, Purpose::scene, 0, 0);
    const Tensor<1> start = random_block(kSize, stream);
    const Lanes gradients = random_lanes(num_lanes, kSize, stream);
    std::vector<float> expected(kSize);
    for (std::size_t i = 0; i < kSize; ++i) expected[i] = tree_sum(gradients, i, 0, num_lanes);

    Tensor<1> first_parameters, first_averaged;
    double first_norm = 0.0;
    for (const int threads : {1, 2, 4}) {
      CAPTURE(threads);
      Workers workers(threads);
      Optimizer optimizer({}, kSize);
      Tensor<1> parameters = start;
      double norm = 0.0;
      for (int s = 0; s < 3; ++s) {
        Lanes lanes = gradients;
        norm = step_lanes(optimizer, workers, parameters, lanes, 0.5);
        REQUIRE(std::equal(expected.begin(), expected.end(), lanes[0].begin()));
      }
      if (threads == 1) {
        first_parameters = parameters;
        first_averaged = optimizer.averaged;
        first_norm = norm;
      }
      CHECK(parameters == first_parameters);
      CHECK(optimizer.averaged == first_averaged);
      CHECK(norm == first_norm);
    }
  }
}

TEST_CASE("the learning rate ends at its configured final value") {
  const Optimizer optimizer({.learning_rate = 0.02, .warmup = 0.1, .final_learning_rate = 3e-4}, 1);
  CHECK(optimizer.learning_rate(0.0) == 0.0);
  CHECK(optimizer.learning_rate(0.05) == doctest::Approx(0.01));
  CHECK(optimizer.learning_rate(0.1) == doctest::Approx(0.02));
  CHECK(optimizer.learning_rate(1.0) == doctest::Approx(3e-4));
}

TEST_CASE("a factor on the rate is as another learning rate") {
  Workers workers(1);
  for (const std::string& name : optimizers()) {
    CAPTURE(name);
    const auto train = [&](double rate, double factor) {
      RandomStream stream(2, Purpose::scene, 0, 0);
      Optimizer optimizer({.optimizer = name, .learning_rate = rate, .schedule = "constant"}, 20);
      optimizer.rate_factor = factor;
      CHECK(optimizer.learning_rate(0.5) == rate * factor);
      Tensor<1> parameters = random_block(20, stream);
      for (int s = 0; s < 3; ++s) {
        Lanes lanes = random_lanes(2, 20, stream);
        step_lanes(optimizer, workers, parameters, lanes, 0.5);
      }
      return parameters;
    };
    CHECK(train(0.02, 0.25) == train(0.005, 1.0));
    CHECK(train(0.02, 0.0) != train(0.02, 1.0));
  }
}

TEST_CASE("an unknown optimiser lists the valid ones") {
  CHECK(message_of<InputError>([] { Optimizer({.optimizer = "adma"}, 1); }) ==
        fmt::format("unknown training.optimizer 'adma'; allowed: {}", join(optimizers())));
}

TEST_CASE("a final learning rate that is above the first or never reached is refused") {
  const auto fault = [](const OptimizerConfig& config) {
    return message_of<InputError>([&] { Optimizer(config, 1); });
  };
  CHECK(fault({.learning_rate = 1e-4, .final_learning_rate = 1e-3}) ==
        "training.final_learning_rate: 0.001 is above training.learning_rate: 0.0001");
  CHECK(fault({.schedule = "exponential", .final_learning_rate = 0.0}) ==
        "training.final_learning_rate: 0 is never reached by training.schedule: exponential; "
        "allowed: a number > 0");
  for (const std::string schedule : {"constant", "linear", "cosine"})
    CHECK(fault({.schedule = schedule, .final_learning_rate = 0.0}) == "nothing thrown");
  // A constant rate has no end, so the default end cannot be too high for it.
  CHECK(fault({.learning_rate = 1e-6, .schedule = "constant"}) == "nothing thrown");
  CHECK(fault({.learning_rate = 1e-6}) ==
        "training.final_learning_rate: 1e-05 is above training.learning_rate: 1e-06");
  CHECK(fault({.schedule = "cosinus"}).starts_with("unknown training.schedule 'cosinus'"));
}

}  // namespace
}  // namespace saccade
