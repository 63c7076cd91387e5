// Trained agents on scenes that a program gives: evaluated, recorded and compared.
#include "experiments/task/own_parts.h"

#include <doctest/doctest.h>

#include <mutex>
#include <set>
#include <utility>

#include "experiments/analysis/evaluate.h"
#include "experiments/analysis/record.h"
#include "experiments/comparison/compare.h"
#include "experiments/runs/trained.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

const SceneOverrides kBarScenes = {"scene.kind=own", "scene.canvas=[13, 15]",
                                   "scene.classes=[level, upright]", "scene.channels=1"};

// Endless scenes: scene n has a bar of row n mod 13, or of column n mod 15 if n is odd.
class BarScenes final : public SceneBlocks {
 public:
  std::int64_t size() const override { return 0; }
  void read(std::span<const std::int64_t> numbers, SceneBlock& block) override {
    const std::lock_guard lock(mutex_);
    block = {};
    for (const std::int64_t n : numbers) {
      asked_.insert(n);
      const auto label = static_cast<int>(n % 2);
      for (int y = 0; y < 13; ++y)
        for (int x = 0; x < 15; ++x)
          block.canvases.push_back((label == 0 ? y == n % 13 : x == n % 15) ? 255 : 0);
      block.labels.push_back(label);
    }
  }
  std::set<std::int64_t> take_asked() {
    const std::lock_guard lock(mutex_);
    return std::exchange(asked_, {});
  }

 private:
  std::mutex mutex_;
  std::set<std::int64_t> asked_;
};

std::set<std::int64_t> numbers_below(std::int64_t end) {
  std::set<std::int64_t> all;
  for (std::int64_t n = 0; n < end; ++n) all.insert(n);
  return all;
}

// An agent that was trained on such scenes.
struct BarAgent : TinyExperiment {
  BarAgent() {
    Overrides overrides(kBarScenes);
    overrides.push_back("scene.num_distractors=0");
    Progress unseen;
    CHECK(saccade::train(read_config(yaml, overrides), RunFolder(run),
                         {.threads = 1, .command = "x", .own = own}, unseen,
                         std::atomic<bool>(false)));
    test.take_asked();
  }

  BarScenes training, valid, test;
  const OwnScenes scenes{training, valid, test};
  const OwnParts own{.scenes = &scenes};
  const fs::path run = path / "run";
};

}  // namespace

TEST_CASE("an agent is tested and recorded on a program's own scenes") {
  BarAgent agent;
  const TestFigures figures = evaluate({.run_folder = agent.run, .on = {.own = agent.own}});
  CHECK(figures.metrics.at("test/error") == read_json(agent.run / "summary.json")["test/error"]);
  CHECK(agent.test.take_asked() == numbers_below(150));

  const TestedOn few{.scenes = kBarScenes, .test_scenes = 3, .draws = 1, .own = agent.own};
  std::string sheets[2];
  for (const int threads : {1, 2}) {
    const fs::path sheet = agent.path / fmt::format("{}.png", threads);
    record({.run_folders = {agent.run, agent.run},
            .out = sheet,
            .scenes = 3,
            .on = few,
            .threads = threads});
    CHECK(agent.test.take_asked() == numbers_below(3));
    sheets[threads - 1] = bytes_of(sheet);
  }
  CHECK(sheets[0] == sheets[1]);
  const TestedTask tested(read_config(agent.run / "config.yaml"), few);
  CHECK(tested.from_training.empty());
  CHECK(tested.task.config.evaluation.scenes == 3);
}

TEST_CASE("runs are compared on a program's own scenes, with a recording") {
  BarAgent agent;
  const auto reason = [](const ComparedRuns& compared) {
    return compared.comparison.left_out.empty() ? "" : compared.comparison.left_out[0].reason;
  };
  const ComparedRuns without =
      compare({.folders = {agent.run}, .out = agent.path / "without", .threads = 1});
  CHECK(without.video.empty());
  CHECK(contains(reason(without), "its scenes come from a program, and none gives them here"));
  CHECK(agent.test.take_asked().empty());

  const ComparedRuns with = compare({.folders = {agent.run},
                                     .out = agent.path / "with",
                                     .other_scenes = kBarScenes,
                                     .own = agent.own,
                                     .threads = 2});
  CHECK(reason(with) == "");
  CHECK(fs::exists(with.video));
  CHECK(agent.test.take_asked() == numbers_below(150));
  CHECK(with.comparison.variants.at(0).errors == without.comparison.variants.at(0).errors);
}

TEST_CASE("an agent that is in memory is held against the scenes of its test") {
  const TrainedTiny digits;
  BarAgent agent;
  const Trained trained(digits.run);
  const TestedTask bars(trained.task.config, {.scenes = kBarScenes, .own = agent.own});
  CHECK(message_of<InputError>([&] { check_same_agent(trained.task, bars.task); })
            .ends_with("2 answers, and the agent knows 3; allowed: settings of scenes that leave "
                       "the agent's answers and its network as they are"));
  CHECK(message_of<InputError>([&] { TestedTask(trained.task.config, {.own = agent.own}); }) ==
        "scenes are given, and scene.kind is cluttered; allowed: own");
}

}  // namespace saccade
