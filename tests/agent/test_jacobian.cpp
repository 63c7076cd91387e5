#include "agent/learning/jacobian.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tests/agent/support.h"

namespace saccade {
namespace {

constexpr int kSide = 12, kPixels = kSide * kSide, kPatch = 3, kPairBatch = 3, kSymbols = 3;

// Canvases of floats that can be perturbed, with the retina of kTinySpec as naive loops.
class FloatEnvironment final : public Environment {
 public:
  explicit FloatEnvironment(AnswerKind kind)
      : canvases(zeros<2>(kPairBatch, kPixels)), kind_(kind), facts_(kPairBatch) {
    RandomStream stream(4, Purpose::scene, 0, 0);
    for (float& pixel : canvases) pixel = stream.uniform();
    for (SceneFacts& facts : facts_) facts.num_symbols = kSymbols;
  }
  int episodes() const override { return kPairBatch; }
  int glimpse_size() const override { return kTinyGlimpse; }
  int num_classes() const override { return kTinyClasses; }
  CanvasSize canvas() const override { return kTinySpec.canvas; }
  AnswerKind answer_kind() const override { return kind_; }
  int max_symbols() const override { return kind_ == AnswerKind::sequence ? kSymbols : 0; }
  std::span<const SceneFacts> facts() const override { return facts_; }
  void look_backward(std::span<float> dcanvas, const float* location,
                     std::span<const float> dglimpse) const override {
    Retina({.patch_size = kPatch, .scales = 2}, kSide, kSide, 1)
        .look_backward(dcanvas, location[0], location[1], dglimpse);
  }

  void look_smoothly_backward(std::span<float> dcanvas, const float* location,
                              std::span<const float> dglimpse) const override {
    Retina({.patch_size = kPatch, .scales = 2}, kSide, kSide, 1)
        .look_smoothly_backward(dcanvas, location[0], location[1], dglimpse);
  }

  Tensor<2> canvases;
  int nudged_look = -1, nudged_number = 0;  // one number in the glimpses of a look
  float nudge = 0.0F;

 private:
  void begin(std::uint64_t) override { looks_ = 0; }
  void observe(ConstMatrix locations, Matrix glimpses) override {
    for (int b = 0; b < kPairBatch; ++b) look(b, locations(b, 0), locations(b, 1), glimpses.row(b));
    if (looks_++ == nudged_look)
      for (int b = 0; b < kPairBatch; ++b) glimpses(b, nudged_number) += nudge;
  }
  void observe_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes) override {
    for (int b = 0; b < kPairBatch; ++b)
      look_smoothly(b, locations(b, 0), locations(b, 1), glimpses.row(b), slopes.row(b));
  }
  void observe_all(ConstMatrix places, Matrix glimpses, int first) override {
    for (int row = 0; row < glimpses.rows; ++row) {
      const int k = row % places.rows;
      look(first + row / places.rows, places(k, 0), places(k, 1), glimpses.row(row));
    }
  }
  void observe_canvases(Matrix to) override {
    for (int b = 0; b < kPairBatch; ++b) std::copy_n(&canvases(b, 0), kPixels, to.row(b));
  }
  void advance(std::span<const int>, std::span<float> rewards) override {
    std::ranges::fill(rewards, 0.0F);
  }

  void look(int b, float x, float y, float* glimpse) const {
    for (const int zoom : {1, 2}) {
      const auto first = [&](float location) {
        return Retina::first_edge(location, kSide, kPatch * zoom);
      };
      for (int i = 0; i < kPatch * kPatch; ++i) {
        double sum = 0.0;
        for (int k = 0; k < zoom * zoom; ++k) {
          const int row = first(y) + i / kPatch * zoom + k / zoom;
          const int col = first(x) + i % kPatch * zoom + k % zoom;
          if (row >= 0 && row < kSide && col >= 0 && col < kSide)
            sum += canvases(b, row * kSide + col);
        }
        *glimpse++ = static_cast<float>(sum / (zoom * zoom));
      }
    }
  }

  // Integrals of the canvas over boxes with real-valued edges, and their derivatives.
  void look_smoothly(int b, float x, float y, float* glimpse, float* slopes) const {
    for (const int zoom : {1, 2}) {
      const auto edge = [&](float location, int i) {
        return 0.5 * (location + 1.0) * kSide + (i - 0.5 * kPatch) * zoom;
      };
      const auto overlap = [&](double box, int k) {
        return std::max(0.0, std::min(box + zoom, k + 1.0) - std::max(box, 1.0 * k)) / zoom;
      };
      const auto shift = [&](double box, int k) {  // its derivative with respect to the box's edge
        const bool enters = box + zoom > k && box + zoom<k + 1, leaves = box> k && box < k + 1;
        return 0.5 * kSide * (enters - leaves) / zoom;
      };
      for (int i = 0; i < kPatch * kPatch; ++i, ++glimpse, ++slopes) {
        const double top = edge(y, i / kPatch), left = edge(x, i % kPatch);
        double sum = 0.0, by_x = 0.0, by_y = 0.0;
        for (int row = 0; row < kSide; ++row)
          for (int col = 0; col < kSide; ++col) {
            const double pixel = canvases(b, row * kSide + col);
            sum += pixel * overlap(top, row) * overlap(left, col);
            by_x += pixel * overlap(top, row) * shift(left, col);
            by_y += pixel * shift(top, row) * overlap(left, col);
          }
        *glimpse = static_cast<float>(sum);
        slopes[0] = static_cast<float>(by_x);
        slopes[kTinyGlimpse] = static_cast<float>(by_y);
      }
    }
  }

  AnswerKind kind_;
  std::vector<SceneFacts> facts_;
  int looks_ = 0;
};

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
