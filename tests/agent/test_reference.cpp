// The C++ code against an independent implementation: the fixtures that tests/reference/make.py
// writes with PyTorch.
#include <doctest/doctest.h>

#include <filesystem>

#include "agent/learning/learner.h"
#include "agent/looking/glimpse_network.h"
#include "agent/looking/locator.h"
#include "nn/layers.h"
#include "nn/safetensors.h"
#include "tests/agent/support.h"

namespace saccade {
namespace {

// Float against double arithmetic, in units of the largest number: 10 to 100 roundings.
constexpr double kTolerance = 5e-6;

class Fixture {
 public:
  explicit Fixture(const std::string& name)
      : file_(read_safetensors(std::filesystem::path(SACCADE_SOURCE_DIR) / "tests/reference" /
                               (name + ".safetensors"))) {}

  std::span<const float> operator[](const std::string& name) const { return file_.find(name).data; }
  const std::vector<std::size_t>& shape(const std::string& name) const {
    return file_.find(name).shape;
  }
  /// The last dimension are the columns.
  ConstMatrix matrix(const std::string& name) const {
    const NamedTensor& tensor = file_.find(name);
    const int cols = static_cast<int>(tensor.shape.back());
    return {tensor.data.data(), static_cast<int>(tensor.data.size()) / cols, cols, cols};
  }
  std::vector<int> integers(const std::string& name) const {
    return {(*this)[name].begin(), (*this)[name].end()};
  }
  double number(const std::string& name) const { return std::stod(text(name)); }
  const std::string& text(const std::string& name) const { return file_.metadata.at(name); }

  /// A block with the fixture's value of every parameter of the layout.
  Tensor<1> parameters(const ParameterLayout& layout) const {
    Tensor<1> block = zeros<1>(layout.size());
    for (const Parameter& p : layout.parameters()) {
      const std::span<const float> values = (*this)["parameter." + p.name];
      REQUIRE(shape("parameter." + p.name) ==
              std::vector<std::size_t>{static_cast<std::size_t>(p.rows),
                                       static_cast<std::size_t>(p.cols)});
      std::ranges::copy(values, block.data() + p.offset);
    }
    return block;
  }

  void check_gradients(const Tensor<1>& block, const ParameterLayout& layout) const {
    for (const Parameter& p : layout.parameters()) {
      CAPTURE(p.name);
      CHECK(relative_error(values_of(flat(block), p), (*this)["gradient." + p.name]) < kTolerance);
    }
  }

 private:
  SafetensorsFile file_;
};

int size(const Fixture& fixture, const std::string& name, int dimension) {
  return static_cast<int>(fixture.shape(name)[dimension]);
}

void copy(Matrix to, ConstMatrix from) {
  REQUIRE(to.rows == from.rows);
  REQUIRE(to.cols == from.cols);
  for (int r = 0; r < to.rows; ++r) std::copy_n(from.row(r), from.cols, to.row(r));
}

TEST_CASE("the glimpse network agrees with PyTorch") {
  const Fixture fixture("glimpse_network");
  const GlimpseNetwork::Sizes sizes{.glimpse = size(fixture, "glimpse", 1),
                                    .what = size(fixture, "parameter.glimpse.what.bias", 1),
                                    .where = size(fixture, "parameter.glimpse.where.bias", 1),
                                    .features = size(fixture, "feature", 1)};
  const int rows = size(fixture, "glimpse", 0);
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
  for (const std::string kind : {"rnn", "lstm", "gru"}) {
    CAPTURE(kind);
    const Fixture fixture("core_" + kind);
    const int steps = size(fixture, "feature", 0), batch = size(fixture, "feature", 1);
    ParameterLayout layout;
    const std::unique_ptr<Core> core =
        make_core(kind, "core", {size(fixture, "feature", 2), size(fixture, "state", 2)}, layout);
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
  const int rows = size(fixture, "logits", 0);

  SUBCASE("cross-entropy") {
    const std::vector<int> labels = fixture.integers("label");
    Tensor<2> p = zeros<2>(rows, size(fixture, "logits", 1));
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
    const int width = size(fixture, "parameter.locator.hidden.bias", 1);
    const Locator locator(size(fixture, "state", 1), width, "mean", {0.0F, 0.0F}, layout);
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
    CHECK(relative_error(dlog_std, fixture["gradient.log_std"]) < kTolerance);
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
    const LinearHead head("baseline", size(fixture, "state", 1), 1, constant(0), layout);
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

// Shows the glimpses of a fixture, wherever it is asked to look.
class ReplayEnvironment final : public Environment {
 public:
  explicit ReplayEnvironment(const Fixture& fixture)
      : fixture_(fixture), facts_(size(fixture, "glimpse", 1)) {
    for (std::size_t b = 0; b < facts_.size(); ++b)
      facts_[b].label = static_cast<int>(fixture["label"][b]);
  }
  int episodes() const override { return static_cast<int>(facts_.size()); }
  int glimpse_size() const override { return size(fixture_, "glimpse", 2); }
  int num_classes() const override { return size(fixture_, "probability", 2); }
  std::span<const SceneFacts> facts() const override { return facts_; }

 private:
  void begin(std::uint64_t) override { t_ = 0; }
  void observe(ConstMatrix, Matrix glimpses) override {
    copy(glimpses, fixture_.matrix("glimpse").row_range(t_++ * episodes(), episodes()));
  }

  const Fixture& fixture_;
  std::vector<SceneFacts> facts_;
  int t_ = 0;
};

const Fixture* replayed = nullptr;  // a Policy carries no data of its own

void replay(Matrix samples, const LookRequest& request) {
  copy(samples, replayed->matrix("sample").row_range(request.t * samples.rows, samples.rows));
}

TEST_CASE("whole episodes agree with PyTorch: every loss term, detached where it must be") {
  for (const std::string kind : {"rnn", "lstm", "gru"}) {
    CAPTURE(kind);
    const Fixture fixture("episode_" + kind);
    AgentConfig config;
    config.model = {.core = kind,
                    .hidden_size = size(fixture, "state", 2),
                    .glimpse_hidden = size(fixture, "parameter.glimpse.what.bias", 1),
                    .location_hidden = size(fixture, "parameter.glimpse.where.bias", 1),
                    .feature_size = size(fixture, "parameter.glimpse.joint.bias", 1),
                    .locator_hidden = size(fixture, "parameter.locator.hidden.bias", 1)};
    config.glimpse = {
        .num_glimpses = size(fixture, "glimpse", 0), .first = "learned", .learn_std = true};
    config.reinforce = {.advantage = "learned",
                        .weight = fixture.number("weight"),
                        .entropy = fixture.number("entropy"),
                        .baseline_weight = fixture.number("baseline_weight")};
    config.training.classifier_weight = fixture.number("classifier_weight");
    config.training.step_loss = fixture.number("step_loss");

    auto environment = std::make_unique<ReplayEnvironment>(fixture);
    const Model model(config, {.glimpse_size = environment->glimpse_size(),
                               .num_classes = environment->num_classes()});
    const Tensor<1> parameters = fixture.parameters(model.layout());
    Lane lane(model, std::move(environment));
    replayed = &fixture;
    const LossSums sums =
        lane.run(flat(parameters), {.progress = 0.0, .policy = replay, .classify_every_step = true},
                 0.0F, static_cast<int>(fixture.number("batch_size")));

    const Rollout& rollout = lane.rollout();
    CHECK(relative_error(flat(rollout.look->decisions), fixture["mean"]) < kTolerance);
    CHECK(relative_error(flat(rollout.answer->probabilities), fixture["probability"]) < kTolerance);
    CHECK(relative_error(rollout.answer->rewards, fixture["reward"]) == 0.0);
    CHECK(relative_error(std::vector{sums.classifier, sums.reinforce, sums.baseline},
                         fixture["sums"]) < kTolerance);
    fixture.check_gradients(lane.gradient, model.layout());
  }
}

TEST_CASE("the optimisers agree with PyTorch over three steps, clipped by the global norm") {
  const Fixture fixture("optimizer");
  const int steps = size(fixture, "gradient", 0), lanes = size(fixture, "gradient", 1);
  const int count = size(fixture, "gradient", 2);
  for (const auto& [name, weight_decay] :
       std::vector<std::pair<std::string, double>>{{"adam", 0.0}, {"adamw", 0.1}, {"sgd", 0.02}}) {
    CAPTURE(name);
    Workers workers(1);
    Optimizer optimizer({.optimizer = name,
                         .learning_rate = 0.05,
                         .schedule = "constant",
                         .warmup = 0.0,
                         .weight_decay = weight_decay},
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
    if (name != "sgd")
      CHECK(relative_error(flat(optimizer.second), fixture[name + ".second"]) < kTolerance);
  }
}

}  // namespace
}  // namespace saccade
