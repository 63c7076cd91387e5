// A task that is solved only if the locator learns: it takes seconds, and fails if attention is
// broken anywhere between the environment and the optimiser.
#include <doctest/doctest.h>

#include <cmath>

#include "agent/learning/learner.h"
#include "tests/agent/support.h"

namespace saccade {
namespace {

// A sign in the middle of the canvas tells which quadrant shows the class. A look at the sign shows
// one of the first four numbers, a look at the right place one of the last four; everywhere else
// there is nothing to see.
class SignpostEnvironment final : public Environment {
 public:
  static constexpr int kQuadrants = 4, kClasses = 4;

  explicit SignpostEnvironment(int episodes) : facts_(episodes), quadrants_(episodes) {}

  int episodes() const override { return static_cast<int>(facts_.size()); }
  int glimpse_size() const override { return kQuadrants + kClasses; }
  int num_classes() const override { return kClasses; }
  std::span<const SceneFacts> facts() const override { return facts_; }

 private:
  void begin(std::uint64_t first_scene) override {
    for (std::size_t b = 0; b < facts_.size(); ++b) {
      const auto scene = static_cast<std::uint32_t>(first_scene + b);
      RandomStream stream(17, Purpose::scene, 0, scene);
      quadrants_[b] = stream.below(kQuadrants);
      facts_[b].label = stream.below(kClasses);
    }
  }
  void observe(ConstMatrix locations, Matrix glimpses) override {
    for (int b = 0; b < locations.rows; ++b) {
      std::fill_n(glimpses.row(b), glimpses.cols, 0.0F);
      const float x = quadrants_[b] % 2 == 0 ? -0.5F : 0.5F;
      const float y = quadrants_[b] / 2 == 0 ? -0.5F : 0.5F;
      if (is_near(locations.row(b), 0.0F, 0.0F)) glimpses(b, quadrants_[b]) = 1.0F;
      if (is_near(locations.row(b), x, y)) glimpses(b, kQuadrants + facts_[b].label) = 1.0F;
    }
  }
  void observe_smoothly(ConstMatrix locations, Matrix glimpses, Matrix) override {
    observe(locations, glimpses);
  }
  static bool is_near(const float* location, float x, float y) {
    return std::abs(location[0] - x) < 0.4F && std::abs(location[1] - y) < 0.4F;
  }

  std::vector<SceneFacts> facts_;
  std::vector<int> quadrants_;
};

// The error of the deterministic pass after a fixed number of training episodes.
double trained_error(const std::string& core, const std::string& kind,
                     const std::string& moves = "absolute") {
  AgentConfig config;
  config.model = {.core = core,
                  .hidden_size = 32,
                  .glimpse_hidden = 16,
                  .location_hidden = 8,
                  .feature_size = 32,
                  .locator_hidden = 32};
  config.glimpse = {.kind = kind, .num_glimpses = 2, .first = "center", .std = {0.6, 0.2, 0.8}};
  config.glimpse.moves = moves;
  config.glimpse.max_step = 0.8;
  config.glimpse.grid.cells = {3, 3};
  config.training.episodes = 60'000;
  config.training.batch_size = 64;
  config.training.lane_size = 64;
  config.training.optimizer.learning_rate = 0.001;
  const Model model(config, {.glimpse_size = SignpostEnvironment(1).glimpse_size(),
                             .num_classes = SignpostEnvironment::kClasses,
                             .canvas = {1, 8, 8},
                             .patch_size = 1});
  Workers workers(1);
  Learner learner(
      model, [](int episodes, int) { return std::make_unique<SignpostEnvironment>(episodes); }, 1,
      workers);
  while (learner.updates() < learner.total_updates()) learner.step();

  constexpr int kEpisodes = 2000;
  Rollout rollout(model, std::make_unique<SignpostEnvironment>(kEpisodes));
  rollout.run(flat(learner.parameters),
              {.first_scene = 1'000'000, .sampling = SamplingMode::deterministic});
  double errors = 0.0;
  for (const float reward : rollout.answer->rewards) errors += 1.0 - reward;
  return errors / kEpisodes;
}

TEST_CASE("a learned locator reads the sign and finds the class; a random one does not") {
  for (const std::string& core : core_kinds()) {
    CAPTURE(core);
    CHECK(trained_error(core, "hard_gaussian") < 0.25);  // one missed quadrant gives 0.19
    CHECK(trained_error(core, "random") > 0.45);         // seeing nothing gives 0.75
  }
}

TEST_CASE("a policy over steps learns to go from the sign to the class") {
  CHECK(trained_error("gru", "hard_categorical", "relative") < 0.25);
}

}  // namespace
}  // namespace saccade
