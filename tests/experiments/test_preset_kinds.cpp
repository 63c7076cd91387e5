// One key switches every preset between all ways of looking.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "agent/answering/stopping.h"
#include "agent/learning/learner.h"
#include "agent/looking/looking.h"
#include "experiments/config/preset.h"
#include "experiments/config/unused_settings.h"
#include "experiments/runs/study.h"
#include "experiments/task/shared_digits.h"
#include "experiments/task/task.h"
#include "experiments/training/run.h"
#include "nn/parallel.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

Overrides switched_to(const std::string& kind) { return {"attention.glimpse.kind=" + kind}; }

// The presets whose environments support every way of looking (no text, nothing that changes),
// except studies that compare ways of looking themselves and presets whose looks move relative to
// the last.
Names switchable_presets() {
  constexpr std::array kOfKinds = {
      "hard_vs_soft", "hard_vs_soft_long", "input_attention", "digits_to_words", "search", "catch",
      "cnn60",        "circle_square",     "where_matters"};
  Names names;
  for (const Preset& preset : presets())
    if (std::ranges::find(kOfKinds, preset.name) == kOfKinds.end()) names.push_back(preset.name);
  return names;
}

// Whether all runs answer after several looks, and stop in the same way.
bool can_stop(const Study& study) {
  const std::string& stop = study.runs[0].config.agent.glimpse.stop;
  return std::ranges::all_of(study.runs, [&](const StudyRun& run) {
    return !find_task_kind(run.config.scene.kind).acts() &&
           run.config.agent.glimpse.num_glimpses > 1 && run.config.agent.glimpse.stop == stop;
  });
}

// Trains two updates of a few episodes, on digits that need no files. Returns the configurations.
std::vector<Config> check_trains(const std::string& preset, const Overrides& given,
                                 SharedDatasets& digits) {
  Overrides overrides =
      with(given, {"training.batch_size=4", "training.lane_size=4", "training.episodes=8"});
  const Study study = read_study(preset, {});
  const bool is_study = !study.single;
  if (find_task_kind(study.runs[0].config.scene.kind).has_digits)
    overrides.push_back("data.source=synthetic");
  if (is_study) overrides.push_back("seeds=1");
  std::vector<Config> configs;
  for (const auto& [folder, config] : read_study(preset, overrides).runs) {
    configs.push_back(config);
    CHECK((is_study || to_lines(config.unused).size() <= 1));
    const Task task(config, &digits);
    Workers workers(1);
    Learner learner(task.model, task.environments(Split::train), 1, workers);
    for (int update = 0; update < 2; ++update) CHECK(std::isfinite(learner.step().sums.classifier));
  }
  return configs;
}

}  // namespace

TEST_CASE("every preset trains with every kind of glimpses") {
  const Names presets = switchable_presets();
  REQUIRE(presets.size() >= 20);
  REQUIRE(glimpse_kinds().size() >= 10);
  SharedDatasets digits;
  for (const std::string& preset : presets)
    for (const std::string& kind : glimpse_kinds()) {
      CAPTURE(preset);
      CAPTURE(kind);
      for (const Config& config : check_trains(preset, switched_to(kind), digits))
        CHECK(config.agent.glimpse.kind == kind);
    }
}

TEST_CASE("every preset trains with every kind of stop, and one with every kind of glimpses") {
  SharedDatasets digits;
  for (const std::string& stop : stop_kinds()) {
    CAPTURE(stop);
    const Overrides stops = {"attention.glimpse.stop=" + stop};
    for (const std::string& preset : switchable_presets()) {
      if (!can_stop(read_study(preset, {}))) continue;
      CAPTURE(preset);
      check_trains(preset, stops, digits);
    }
    for (const std::string& kind : glimpse_kinds()) {
      if (!find_glimpse_kind(kind).takes_glimpses) continue;
      CAPTURE(kind);
      check_trains("mnist28", with(stops, switched_to(kind)), digits);
    }
  }
}

TEST_CASE("the search trains with every kind of glimpses that sees what follows the cue") {
  SharedDatasets digits;
  int kinds = 0;
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    if (!find_glimpse_kind(kind).sees_motion || kind == "soft_grid") {
      CHECK_THROWS_AS(read_config("search", switched_to(kind)), InputError);
      continue;
    }
    check_trains("search", switched_to(kind), digits);
    ++kinds;
  }
  CHECK(kinds == 7);
}

TEST_CASE("circle_square trains with every kind of glimpses that can move step by step") {
  SharedDatasets digits;
  int kinds = 0;
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    const GlimpseKind& found = find_glimpse_kind(kind);
    if (found.takes_glimpses && !found.has_moves) {
      CHECK_THROWS_AS(read_config("circle_square", switched_to(kind)), InputError);
      continue;
    }
    for (const Config& config : check_trains("circle_square", switched_to(kind), digits))
      if (kind == "hard_categorical") CHECK(config.agent.glimpse.grid.cells == kMoveCells);
    ++kinds;
  }
  CHECK(kinds == 8);
}

TEST_CASE("settings unused by the other kind are reported in one line, which --strict refuses") {
  const Config config = read_config("cluttered60", switched_to("soft_grid"));
  CHECK(config.agent.glimpse.spread == 0.0);
  CHECK(config.agent.model.context == "none");
  CHECK(to_lines(config.unused) ==
        Overrides{"settings of the file that have no effect with these overrides: "
                  "model.context, attention.glimpse.spread, reinforce.reward, reinforce.trace"});
  CHECK(differences(config, parse_config(to_yaml(config), "again")).empty());

  for (const bool dry_run : {false, true}) {
    const TemporaryFolder folder;
    RunRequest options;
    options.config = "cluttered60";
    options.overrides = switched_to("soft_grid");
    options.out = folder.path / "run";
    options.strict = true;
    const std::atomic<bool> stop = false;
    CHECK(contains(
        message_of<InputError>([&] { dry_run ? (void)plan(options) : (void)run(options, stop); }),
        "--strict: settings of the file that have no effect"));
  }
}

TEST_CASE("a control has its own first look if the preset learns one") {
  for (const std::string kind : {"random", "center", "scan", "oracle"})
    CHECK(read_config("cluttered60", switched_to(kind)).agent.glimpse.first ==
          GlimpseConfig().first);
}

}  // namespace saccade
