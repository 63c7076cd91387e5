#include "agent/learning/jacobian.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tests/agent/float_environment.h"
#include "tests/agent/support.h"

namespace saccade {
namespace {

constexpr int kSide = FloatEnvironment::kSide, kPixels = FloatEnvironment::kPixels,
              kPairBatch = FloatEnvironment::kEpisodes, kSymbols = FloatEnvironment::kSymbols;

// An agent with random weights that is played once and then replayed with the same looks.
struct Followed {
  explicit Followed(const AgentConfig& config, AnswerKind kind = AnswerKind::one_class,
                    const PixelScale& pixels = {})
      : model(config, spec(kind, pixels)),
        parameters(zeros<1>(model.layout().size())),
        jacobian(model, std::make_unique<FloatEnvironment>(kind)),
        world(static_cast<FloatEnvironment&>(*jacobian.rollout.environment)) {
    randomize(flat(parameters), model.layout(), 0.8F, 5);
    play();
    if (model.look().looks && !model.look().differentiable) {
      actions = jacobian.rollout.look->actions;
      replay = &actions;
    }
    play();
  }

  static ObservationSpec spec(AnswerKind kind, const PixelScale& pixels) {
    ObservationSpec spec = kTinySpec;
    spec.pixels = pixels;
    spec.answer = kind;
    spec.max_symbols = kind == AnswerKind::sequence ? kSymbols : 0;
    return spec;
  }
  void play() {
    jacobian.run(flat(parameters),
                 {.seed = 3, .sampling = SamplingMode::deterministic, .replay = replay});
  }
  // The derivative of the chosen logits s with respect to a number that nudge(by) moves in every
  // episode; NAN if the one-sided differences disagree, because a relu switches there.
  template <class Nudge>
  std::array<double, kPairBatch> difference(int s, Nudge&& nudge) {
    constexpr float kStep = 4e-3F;
    std::array<std::array<double, kPairBatch>, 3> logits{};
    for (const int side : {1, 0, 2}) {
      nudge(kStep * static_cast<float>(side - 1));
      play();
      for (int b = 0; b < kPairBatch; ++b)
        logits[side][b] = jacobian.rollout.answer->logits(s)(b, chosen[b]);
    }
    nudge(0.0F);
    std::array<double, kPairBatch> change{};
    for (int b = 0; b < kPairBatch; ++b) {
      const double below = (logits[1][b] - logits[0][b]) / kStep;
      const double above = (logits[2][b] - logits[1][b]) / kStep;
      change[b] = std::abs(above - below) < 5e-3 ? 0.5 * (above + below) : NAN;
    }
    return change;
  }

  Model model;
  Tensor<1> parameters;
  Jacobian jacobian;
  FloatEnvironment& world;
  Tensor<3> actions;
  const Tensor<3>* replay = nullptr;
  std::vector<int> chosen = {2, 0, 1};
};

// Gradients and the central differences they must equal.
struct Comparison {
  void add(double gradient, double difference) {
    ++numbers;
    if (std::isnan(difference)) return;
    actual.push_back(gradient);
    expected.push_back(difference);
  }
  void check() const {
    const double largest =
        std::abs(std::ranges::max(expected, {}, [](double d) { return std::abs(d); }));
    CHECK(largest > 0.02);
    CHECK(5 * expected.size() > 4 * numbers);
    CHECK(relative_error(actual, expected) < 2e-2);
  }

  std::size_t numbers = 0;
  std::vector<double> actual, expected;
};

void check_canvas(Followed& followed, int s) {
  followed.jacobian.backward(flat(followed.parameters), s, followed.chosen);
  const Tensor<2> dcanvases = followed.jacobian.dcanvases;
  const Tensor<2> canvases = followed.world.canvases;
  Comparison comparison;
  for (int i = 0; i < kPixels; ++i) {
    const auto change = followed.difference(s, [&](float nudge) {
      for (int b = 0; b < kPairBatch; ++b) followed.world.canvases(b, i) = canvases(b, i) + nudge;
    });
    for (int b = 0; b < kPairBatch; ++b) comparison.add(dcanvases(b, i), change[b]);
  }
  comparison.check();
}

void check_glimpses(Followed& followed, int s) {
  followed.jacobian.backward(flat(followed.parameters), s, followed.chosen);
  const Tensor<3> dglimpses = followed.jacobian.dglimpses;
  Comparison comparison;
  for (int t = 0; t < followed.model.num_glimpses(); ++t)
    for (int d = 0; d < kTinyGlimpse; ++d) {
      followed.world.nudged_look = t;
      followed.world.nudged_number = d;
      const auto change =
          followed.difference(s, [&](float nudge) { followed.world.nudge = nudge; });
      for (int b = 0; b < kPairBatch; ++b) comparison.add(dglimpses(t, b, d), change[b]);
    }
  comparison.check();
}

// A function of all logits, with factors of its own for each, by every 7th weight.
void check_weights(Followed& followed) {
  Jacobian& jacobian = followed.jacobian;
  Tensor<3> factors = jacobian.rollout.answer->probabilities;
  for (std::size_t i = 0; i < factors.size(); ++i)
    factors.data()[i] = static_cast<float>(std::sin(3.7 * static_cast<double>(i)));
  jacobian.backward(flat(followed.parameters), matrix(factors));
  const std::vector<float> gradient(jacobian.gradient().begin(), jacobian.gradient().end());
  jacobian.backward(flat(followed.parameters), matrix(factors));  // any number of times
  CHECK(std::ranges::equal(gradient, jacobian.gradient()));
  const auto value = [&] {
    followed.play();
    double sum = 0.0;
    for (int s = 0; s < static_cast<int>(factors.shape()[0]); ++s)
      for (int b = 0; b < kPairBatch; ++b)
        for (int c = 0; c < static_cast<int>(factors.shape()[2]); ++c)
          sum += factors(s, b, c) * jacobian.rollout.answer->logits(s)(b, c);
    return sum;
  };
  constexpr float kStep = 4e-3F;
  const double here = value();
  Comparison comparison;
  for (const Parameter& p : followed.model.layout().parameters())
    for (std::size_t i = 0; i < p.size(); i += 7) {
      float& weight = followed.parameters.data()[p.offset + i];
      const float kept = weight;
      weight = kept + kStep;
      const double above = (value() - here) / kStep;
      weight = kept - kStep;
      const double below = (here - value()) / kStep;
      weight = kept;
      const bool smooth = std::abs(above - below) < 2e-2 * (1.0 + std::abs(above));
      comparison.add(gradient[p.offset + i], smooth ? 0.5 * (above + below) : NAN);
    }
  comparison.check();
}

AgentConfig looking(const std::string& kind, const std::string& expect = "none",
                    const std::string& addressing = "none") {
  AgentConfig config = tiny_config("gru");
  config.glimpse.kind = kind;
  config.glimpse.expect = expect;
  config.glimpse.addressing = addressing;
  config.glimpse.temperature = {0.8, 0.8, 1.0};
  return config;
}

AgentConfig by_path() {
  AgentConfig config = looking("hard_gaussian");
  config.reinforce.estimator = "pathwise";
  return config;
}

AgentConfig moving(const std::string& kind) {
  AgentConfig config = looking(kind);
  config.glimpse.moves = "relative";
  config.glimpse.max_step = 0.5;
  config.glimpse.grid.cells = {3, 3};
  return config;
}

AgentConfig with_context(AgentConfig config) {
  config.model.context = "thumbnail";
  config.model.context_hidden = 11;  // random weights, so that it matters in every kind
  config.glimpse.first = "learned";
  config.glimpse.temperature = {5.0, 5.0, 1.0};  // so that the weights respond to it
  return config;
}

AgentConfig whole(const std::string& order) {
  AgentConfig config = tiny_config("gru");
  config.glimpse.kind = "whole";
  config.glimpse.order = order;
  config.glimpse.size = {4, 5};
  return config;
}

AgentConfig seeing_all(const std::string& kind) {
  AgentConfig config = tiny_config();
  config.model.kind = kind;
  config.model.canvas_hidden = 9;
  config.model.channels = {3, 4};
  config.model.kernel_size = 3;
  return config;
}

}  // namespace

TEST_CASE(
    "the Jacobian with respect to the canvas agrees with central differences for every way of "
    "looking") {
  for (const AgentConfig& config : {looking("hard_gaussian"),
                                    looking("hard_categorical"),
                                    looking("hard_categorical", "none", "content"),
                                    looking("soft_grid", "features"),
                                    looking("soft_grid", "pixels"),
                                    looking("soft_grid", "features", "content"),
                                    looking("soft_grid", "pixels", "content"),
                                    looking("soft_gaussian"),
                                    looking("soft_point"),
                                    by_path(),
                                    moving("hard_gaussian"),
                                    moving("hard_categorical"),
                                    whole("rows"),
                                    whole("at_once"),
                                    with_context(looking("hard_gaussian")),
                                    with_context(looking("hard_categorical")),
                                    with_context(looking("soft_point")),
                                    with_context(looking("soft_gaussian")),
                                    with_context(by_path()),
                                    with_context(looking("soft_grid", "features", "location")),
                                    with_context(looking("soft_grid", "pixels", "location"))}) {
    CAPTURE(config.glimpse.kind);
    CAPTURE(config.glimpse.moves);
    CAPTURE(config.model.context);
    CAPTURE(config.glimpse.expect);
    CAPTURE(config.glimpse.addressing);
    CAPTURE(config.glimpse.order);
    Followed followed(config);
    check_canvas(followed, followed.model.num_glimpses() - 1);
  }
}

TEST_CASE("the gradient by the weights of a function of all logits is that of differences") {
  for (const AgentConfig& config :
       {looking("hard_gaussian"), looking("hard_categorical", "none", "content"),
        looking("soft_grid", "features"), looking("soft_grid", "pixels", "content"),
        looking("soft_gaussian"), looking("soft_point"), by_path(), whole("rows"),
        with_context(looking("soft_point")), seeing_all("cnn")}) {
    CAPTURE(config.model.kind);
    CAPTURE(config.glimpse.kind);
    CAPTURE(config.glimpse.expect);
    Followed followed(config);
    check_weights(followed);
  }
  AgentConfig config = looking("hard_gaussian");
  config.decoder.hidden_size = 6;
  config.hidden.kind = "attend";
  Followed sequence(config, AnswerKind::sequence);
  check_weights(sequence);
  config.hidden = {};
  Followed actions(config, AnswerKind::actions);
  check_weights(actions);
}

TEST_CASE("the Jacobian with respect to the canvas includes the pixel scale") {
  AgentConfig filtered = looking("hard_gaussian");
  filtered.model.glimpse_network = "conv";
  filtered.model.glimpse_kernel = 2;
  for (const AgentConfig& config :
       {looking("hard_gaussian"), looking("soft_grid", "features", "content"),
        with_context(looking("soft_point")), filtered, whole("rows"), seeing_all("mlp"),
        seeing_all("cnn")}) {
    CAPTURE(config.model.kind);
    CAPTURE(config.glimpse.kind);
    Followed followed(config, AnswerKind::one_class,
                      PixelScale({.mean = {0.4}, .deviation = {0.8}}, 1));
    check_canvas(followed, followed.model.num_glimpses() - 1);
  }
}

TEST_CASE("the Jacobian passes through a gate, attention over states, and the attention core") {
  for (const char* core : {"gru", "attention"})
    for (const char* hidden : {"mean", "attend", "self"}) {
      CAPTURE(std::string(core));
      CAPTURE(std::string(hidden));
      AgentConfig config = looking("hard_gaussian");
      config.model.core = core;
      config.input.kind = "gate";
      config.hidden.kind = hidden;
      config.hidden.penalty = hidden == std::string("self") ? 0.7 : 0.0;
      Followed followed(config);
      check_canvas(followed, 2);
      check_glimpses(followed, 2);
    }
}

TEST_CASE("the Jacobian of an earlier answer does not depend on later glimpses") {
  AgentConfig config = looking("hard_gaussian");
  config.hidden.kind = "attend";
  Followed followed(config);
  check_canvas(followed, 1);
  check_glimpses(followed, 1);
  for (int b = 0; b < kPairBatch; ++b) CHECK(followed.jacobian.dfeatures(2, b, 0) == 0.0F);
}

TEST_CASE("the Jacobian covers each symbol of a sequence, and each action") {
  AgentConfig config = looking("hard_gaussian");
  config.decoder.hidden_size = 6;
  config.hidden.kind = "attend";
  Followed sequence(config, AnswerKind::sequence);
  for (int j = 0; j < kSymbols; ++j) {
    check_canvas(sequence, j);
    check_glimpses(sequence, j);
  }
  config.hidden = {};
  Followed actions(config, AnswerKind::actions);
  check_canvas(actions, 2);
  check_glimpses(actions, 1);
}

TEST_CASE("the Jacobian of networks that read the canvas agrees with central differences") {
  for (const char* kind : {"mlp", "cnn"}) {
    CAPTURE(kind);
    Followed followed(seeing_all(kind));
    check_canvas(followed, 0);
  }
}

TEST_CASE("a canvas row that is read directly has the Jacobian of its feature") {
  AgentConfig config = whole("rows");
  config.glimpse.size = {kSide, kSide};
  Followed followed(config);
  followed.jacobian.backward(flat(followed.parameters), kSide - 1, followed.chosen);
  for (int b = 0; b < kPairBatch; ++b)
    for (int t = 0; t < kSide; ++t)
      for (int i = 0; i < kSide; ++i)
        CHECK(followed.jacobian.dcanvases(b, t * kSide + i) ==
              doctest::Approx(followed.jacobian.dfeatures(t, b, i)));
}

TEST_CASE("an episode without a chosen logit has a zero Jacobian, and does not affect others") {
  Followed followed(looking("soft_grid", "pixels", "content"));
  Jacobian& jacobian = followed.jacobian;
  jacobian.backward(flat(followed.parameters), 2, followed.chosen);
  const Tensor<2> all = jacobian.dcanvases;
  jacobian.backward(flat(followed.parameters), 2, std::vector<int>{2, -1, 1});
  for (int i = 0; i < kPixels; ++i) {
    CHECK(jacobian.dcanvases(0, i) == all(0, i));
    CHECK(jacobian.dcanvases(1, i) == 0.0F);
    CHECK(jacobian.dcanvases(2, i) == all(2, i));
  }
}

}  // namespace saccade
