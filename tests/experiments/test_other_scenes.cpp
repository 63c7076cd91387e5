// Trained agents on other scenes than they were trained on.
#include "experiments/runs/other_scenes.h"

#include <doctest/doctest.h>

#include "experiments/analysis/evaluate.h"
#include "experiments/analysis/record.h"
#include "experiments/comparison/compare.h"
#include "experiments/comparison/tables.h"
#include "experiments/comparison/verdict.h"
#include "experiments/runs/trained.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

nlohmann::json figures_on(const fs::path& folder, const SceneOverrides& scenes) {
  return to_json(evaluate({.run_folder = folder, .on = {.scenes = scenes}, .threads = 1}));
}

std::string fault_on(const fs::path& folder, const SceneOverrides& scenes) {
  return message_of<InputError>([&] { figures_on(folder, scenes); });
}

GridConfig grid_on(const Config& config, const std::string& canvas) {
  return with_scenes(config, {"scene.canvas=" + canvas}).agent.glimpse.grid;
}

}  // namespace

TEST_CASE("an agent is tested on other scenes, and nothing in its folder changes") {
  const TrainedTiny tiny;
  const auto before = contents(tiny.run);
  const nlohmann::json own = figures_on(tiny.run, {});
  CHECK(!own.contains("test/other_scenes"));
  CHECK(figures_on(tiny.run, {"scene.num_distractors=1"}) == own);  // as in training

  const SceneOverrides scenes = {"scene.num_distractors=7", "scene.canvas=[19, 15]"};
  const nlohmann::json other = figures_on(tiny.run, scenes);
  CHECK(other.at("attention/on_target") != own.at("attention/on_target"));
  CHECK(other.at("test/other_scenes") ==
        nlohmann::json{{"scene.canvas", {{"training", {13, 15}}, {"test", {19, 15}}}},
                       {"scene.num_distractors", {{"training", 1}, {"test", 7}}}});
  const std::string text =
      to_text(evaluate({.run_folder = tiny.run, .on = {.scenes = scenes}, .threads = 1}));
  CHECK(
      text.starts_with("  not as in training: scene.canvas [19, 15] ([13, 15] in training), "
                       "scene.num_distractors 7 (1 in training)\n"));

  const Trained trained(tiny.run), tested(tiny.run, {.scenes = scenes});
  CHECK(trained.from_training.empty());
  CHECK(tested.weights == trained.weights);
  CHECK(tested.task.spec.canvas.rows == 19);
  CHECK(contents(tiny.run) == before);
}

TEST_CASE("digits other than those of the training are said") {
  const TrainedTiny tiny;
  CHECK(Trained(tiny.run).from_training.empty());
  const std::string file = "train-images-idx3-ubyte";
  const std::string before =
      read_json(tiny.run / "meta.json").at("data_crc32").at(file).get<std::string>();
  write_digits(tiny.path / "data", /*first_pixel=*/41);
  const Trained trained(tiny.run);
  REQUIRE(trained.from_training.size() == 1);
  const std::string now = trained.task.digits.checksums.at(file);
  const std::string said =
      fmt::format("not as in training: data_crc32.{} {} ({} in training)\n", file, now, before);
  CHECK(word_on_training(trained.from_training) == said);
  CHECK(figures_on(tiny.run, {}).at("test/other_scenes") ==
        nlohmann::json{{"data_crc32." + file, {{"training", before}, {"test", now}}}});
  CHECK(to_json(data_differences({{"a", "12345678"}}, {{"a", "00000001"}})).dump() ==
        R"({"data_crc32.a":{"training":"12345678","test":"00000001"}})");
  for (const CommandWords& words :
       {CommandWords{"eval", "out", "--episodes", "20", "--threads", "1"},
        {"record", "out", "--scenes", "1", "--out", "film.gif"},
        {"saliency", "out", "--scenes", "1", "--out", "maps"},
        {"gradients", "out", "--scenes", "1", "--rollouts", "2", "--samples", "3"}}) {
    CAPTURE(words[0]);
    const Program::Result result = run_saccade(tiny.path, words);
    check_done(result);
    CHECK(contains(result.out, said));
  }
  Workers workers(1);
  CHECK(contains(message_of<InputError>([&] { measure_stopping(tiny.run, workers); }),
                 "out: " + said.substr(0, said.size() - 1)));
}

TEST_CASE("settings that are not of scenes, or that the agent does not allow, are refused") {
  const TrainedTiny tiny;
  CHECK(fault_on(tiny.run, {"retina.scales=1"}) ==
        "'retina.scales=1': not a setting of scenes, which alone may differ from the training; "
        "allowed: scene.kind, scene.canvas, scene.num_digits, scene.min_digits, scene.label, "
        "scene.num_distractors, scene.distractor_size, scene.digit_scale, scene.max_number, "
        "scene.border, scene.target, scene.classes, scene.channels, scene.glimpse_size, "
        "scene.best_return");
  CHECK(contains(fault_on(tiny.run, {"scene={canvas: [9, 9]}"}), "not a setting of scenes"));
  CHECK(contains(fault_on(tiny.run, {"scene.num_distracters=2"}), "scene.num_distractors"));
  CHECK(contains(fault_on(tiny.run, {"scene.num_distractors=-1"}),
                 "allowed: an integer from 0 to 1024"));
  CHECK(contains(fault_on(tiny.run, {"scene.max_number=50"}),
                 "scene.max_number has no effect while scene.kind is cluttered"));
  CHECK(fault_on(tiny.run, {"scene.num_digits=2"}) ==
        "scene.num_digits: 2: 5 answers, and the agent knows 3; allowed: settings of scenes that "
        "leave the agent's answers and its network as they are");
  CHECK(contains(fault_on(tiny.run, {"scene.kind=catch", "scene.num_distractors=0"}),
                 "scene.kind: catch"));
  CHECK(contains(fault_on(tiny.run, {"scene.canvas=[9, 9]", "scene.border=4"}), "scene.canvas"));

  const fs::path canvas = tiny.train("mlp", {"model.kind=mlp", "training.episodes=16"});
  CHECK(contains(fault_on(canvas, {"scene.canvas=[12, 15]"}),
                 "scene.canvas: [12, 15]: the network would have canvas.hidden.weight (180, 256) "
                 "instead of canvas.hidden.weight (195, 256); allowed: "));
  CHECK(figures_on(canvas, {"scene.num_distractors=0"}).contains("test/other_scenes"));
}

TEST_CASE("where there is no clutter, no number of distractors differs or is allowed") {
  const TinyExperiment tiny;
  const fs::path few = tiny.train("few", {"training.episodes=16"}),
                 many = tiny.train("many", {"scene.num_distractors=4", "training.episodes=16"});
  const SceneOverrides translated = {"scene.kind=translated"};
  for (const fs::path& run : {few, many}) {
    CHECK(Trained(run, {.scenes = translated}).task.config.scene.num_distractors == 0);
    for (const char* number : {"scene.num_distractors=4", "scene.num_distractors=2"})
      CHECK(contains(fault_on(run, {"scene.kind=translated", number}),
                     "scene.num_distractors has no effect while scene.kind is translated"));
  }
}

TEST_CASE("a grid that covers the canvas by default covers another one, others stay") {
  const TinyExperiment tiny;
  const Config by_default = read_config(tiny.yaml, Overrides{"attention.glimpse.kind=soft_grid"});
  const Config again = read_config(
      tiny.yaml, Overrides{"attention.glimpse.kind=soft_grid", "scene.canvas=[30, 40]"});
  const GridConfig grid = grid_on(by_default, "[30, 40]");
  CHECK(grid.cells == again.agent.glimpse.grid.cells);
  CHECK(grid.stride == again.agent.glimpse.grid.stride);
  CHECK(grid.cells != by_default.agent.glimpse.grid.cells);
  const Config given = read_config(tiny.yaml, kSoftGrid);
  CHECK(grid_on(given, "[30, 40]").cells == std::array{2, 3});
  CHECK(grid_on(given, "[30, 40]").stride == 4);

  const fs::path located =
      tiny.train("located", {"attention.glimpse.kind=hard_categorical", "training.episodes=16"});
  CHECK(contains(fault_on(located, {"scene.canvas=[40, 40]"}), "the network would have locator."));
}

TEST_CASE("agents of other trainings are compared and recorded on the same scenes") {
  const TinyExperiment tiny;
  const fs::path few = tiny.train("few", {"name=few"}),
                 many = tiny.train("many", {"name=many", "scene.num_distractors=4"});
  const auto before = contents(few);
  CompareRequest request{.folders = {few, many}, .out = tiny.path / "out"};
  CHECK(contains(message_of<InputError>([&] { compare(request); }), "scene.num_distractors"));
  request.other_scenes = {"scene.num_distractors=4"};
  const Comparison compared = compare(request).comparison;
  REQUIRE(compared.variants.size() == 2);
  CHECK(compared.variants[0].errors[0] ==
        figures_on(few, request.other_scenes).at("test/error").get<double>());
  CHECK(compared.variants[1].errors[0] ==
        read_json(many / "summary.json").at("test/error").get<double>());
  CHECK(compared.variants[0].stopping);
  CHECK(compared.variants[0].controls.size() == 3);
  CHECK(compared.variants[1].from_training.empty());
  Comparison alike = compared;
  alike.variants[1].from_training = alike.variants[0].from_training;
  CHECK(contains(tested_elsewhere(alike).at(0), "trained on: few, many: scene."));
  CHECK(tested_elsewhere(compared) ==
        Names{"Tested on other scenes than trained on: few: scene.num_distractors 4 (1 in "
              "training)."});
  CHECK(contains(to_markdown(compared), "other scenes than trained on: few"));
  CHECK(contains(bytes_of(tiny.path / "out/report.html"), "other scenes than trained on: few"));
  CHECK(to_json(compared).at("variants")[0].contains("test/other_scenes"));
  CHECK(contents(few) == before);

  const RecordedFile file = record({.run_folders = {few, many},
                                    .out = tiny.path / "both.gif",
                                    .scenes = 1,
                                    .on = {.scenes = request.other_scenes}});
  CHECK(file.from_training == "few: not as in training: scene.num_distractors 4 (1 in training)\n");
}

TEST_CASE("the commands take settings of scenes beside the folders") {
  const TrainedTiny tiny;
  const auto before = contents(tiny.run);
  const Program::Result tested = run_saccade(
      tiny.path, {"eval", "out", "scene.num_distractors=2", "--episodes", "20", "--threads", "1"});
  check_done(tested);
  CHECK(tested.out.starts_with("  not as in training: scene.num_distractors 2 (1 in training)\n"));
  const Program::Result film = run_saccade(
      tiny.path, {"record", "out", "scene.border=1", "--scenes", "1", "--out", "film.gif"});
  check_done(film);
  CHECK(contains(film.out, "not as in training: scene.border 1 (0 in training)"));
  check_done(run_saccade(tiny.path, {"compare", "scene.num_distractors=3", "out"}));
  CHECK(fs::exists(tiny.path / "comparison/report.html"));
  check_refused(run_saccade(tiny.path, {"eval", "out", "training.episodes=3"}),
                "'training.episodes=3': not a setting of scenes");
  check_refused(run_saccade(tiny.path, {"record", "scene.border=1"}),
                "scene.border=1: settings without a run folder");
  CHECK(contents(tiny.run) == before);
}

}  // namespace saccade
