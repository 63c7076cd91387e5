#include <doctest/doctest.h>
#include <fmt/format.h>

#include "agent/model/model.h"
#include "experiments/config/config.h"
#include "experiments/config/settings.h"
#include "experiments/runs/study.h"
#include "tests/experiments/config_messages.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

// Compares every setting bit for bit.
void check_same_config(const Config& a, const Config& b) {
  for (const Setting& setting : settings()) {
    INFO("key: " << setting.key);
    const SettingField right = field_in(b, setting.field);
    const bool same =
        std::visit([&]<class T>(const T* left) { return *left == *std::get<T*>(right); },
                   field_in(a, setting.field));
    CHECK(same);
  }
}

}  // namespace

TEST_CASE("the defaults are these") {
  const Config config = parse(R"(
name: cluttered60
seed: 1
data:       {source: mnist, path: null}
scene:      {kind: cluttered, canvas: [60, 60], num_digits: 1, num_distractors: 4, distractor_size: 8, border: 0}
retina:     {patch_size: 12, scales: 3, scale_factor: 2}
model:      {kind: recurrent, core: rnn, hidden_size: 256, glimpse_hidden: 128, location_hidden: 128, locator_hidden: 128}
attention:
  glimpse:  {kind: hard_gaussian, num_glimpses: 8, first: random, std: 0.1}
  input:    {kind: none}
  hidden:   {kind: last}
reinforce:  {rollouts: 1, advantage: learned, reward: correct, weight: 1.0, entropy: 0.0}
training:   {episodes: 36000000, batch_size: 256, lane_size: 64, optimizer: adam, learning_rate: 0.001, schedule: cosine, warmup: 0.02,
             max_grad_norm: 5.0, ema: 0.999, step_loss: 0.0}
evaluation: {every: 2000000, scenes: 10000, seed: 777, rollouts: 10}
log:        {every: 100000}
)");
  check_same_config(config, parse("name: cluttered60"));
  Config defaults;
  defaults.name = "cluttered60";
  check_same_config(config, defaults);
}

TEST_CASE("every default is valid, and an empty file gives the defaults") {
  check_same_config(parse(to_yaml(Config{})), Config{});
  check_same_config(parse(""), Config{});
  check_same_config(parse("# nothing\n"), Config{});
  check_same_config(parse("training:\n  # episodes: 5\nlog:\n"), Config{});
}

TEST_CASE("a file sets the keys it names, and overrides are applied in order") {
  const Config config =
      parse("name: tiny\nscene: {canvas: [28, 40]}\ntraining:\n  episodes: 24_000_000\n",
            {"training.episodes=100", "scene.kind=translated", "training.episodes=200",
             "attention.glimpse.std={from: 0.3, to: 0.05, over: 0.6}", "scene.canvas=[30, 50]"});
  CHECK(config.name == "tiny");
  CHECK(config.agent.training.episodes == 200);
  CHECK(config.scene.kind == "translated");
  CHECK(config.scene.canvas == std::array{30, 50});
  CHECK(config.agent.glimpse.std == Ramp{0.3, 0.05, 0.6});
  CHECK(parse("training: {episodes: 24_000_000}").agent.training.episodes == 24'000'000);
  CHECK(parse("attention: {glimpse: {std: 0.2}}").agent.glimpse.std == Ramp{0.2, 0.2, 1.0});
  CHECK(parse("attention: {glimpse: {std: {from: 1, to: 2}}}").agent.glimpse.std ==
        Ramp{1.0, 2.0, 1.0});
}

TEST_CASE("a zoom is one number, or a range that does not go down") {
  const auto zoom = [](const std::string& value) {
    return parse("attention: {glimpse: {zoom: " + value + "}}").agent.glimpse.zoom;
  };
  CHECK(Config{}.agent.glimpse.zoom == LogRange{1.0, 1.0});
  CHECK(zoom("1") == LogRange{1.0, 1.0});
  CHECK(zoom("{from: 1, to: 4}") == LogRange{1.0, 4.0});
  const std::string allowed =
      "a number >= 1 and <= 2048, or {from, to}: two such numbers, from <= to";
  const auto message = [](const std::string& value) {
    return override_message("attention.glimpse.zoom=" + value);
  };
  check_starts(
      message("{from: 0.5, to: 4}"),
      "override 'attention.glimpse.zoom={from: 0.5, to: 4}': attention.glimpse.zoom: '0.5' "
      "is out of range; allowed: " +
          allowed);
  check_starts(message("{from: 4, to: 2}"),
               "override 'attention.glimpse.zoom={from: 4, to: 2}': attention.glimpse.zoom: from 4 "
               "to 2 goes down; allowed: " +
                   allowed);
  check_starts(message("{from: 4}"),
               "override 'attention.glimpse.zoom={from: 4}': attention.glimpse.zoom: a section "
               "without 'to'; allowed: " +
                   allowed);
  check_starts(
      message("{from: 1, to: 4, over: 1}"),
      "override 'attention.glimpse.zoom={from: 1, to: 4, over: 1}': attention.glimpse.zoom: "
      "'over' is unknown or repeated; allowed: " +
          allowed);
}

TEST_CASE("a pixel scale is one number, or one per channel") {
  const Config one = parse("data: {mean: 0.13, deviation: 0.31}");
  CHECK(one.pixels.mean == std::vector<double>{0.13});
  CHECK(one.pixels.deviation == std::vector<double>{0.31});
  const Config three = parse("data: {mean: [0.49, 0.48, 0.45]}", {"data.deviation=[0.2, 1, 0.3]"});
  CHECK(three.pixels.mean == std::vector<double>{0.49, 0.48, 0.45});
  CHECK(three.pixels.deviation == std::vector<double>{0.2, 1, 0.3});
  check_same_config(parse(to_yaml(three)), three);
  check_starts(
      message("data: {mean: [0, 0, 0, 0]}"),
      "x.yaml:1:14: data.mean: a list of 4 numbers; allowed: a number >= 0 and <= 1, or a");
  check_starts(message("data: {deviation: 0}"),
               "x.yaml:1:19: data.deviation: '0' is out of range; allowed: a number >= 0.01");
}

TEST_CASE("data.path may be null") {
  CHECK(parse("data: {path: /digits}").data.path == "/digits");
  CHECK(parse("data: {path: null}").data.path.empty());
  CHECK(parse("data: {path: /digits}", {"data.path=null"}).data.path.empty());
  CHECK(parse("data: {path: /digits}", {"data.path="}).data.path.empty());
}

TEST_CASE("to_yaml and back gives the same configuration") {
  const Config config = parse(
      "name: '007'\nseed: 9007199254740991\n"
      "data: {source: folder, path: \"a: b #c\\n'\\\"d\", size: 20,\n"
      "       augmentation: {rotation: 12.3, scale: 0.1, shear: 0.30000000000000004, shift: "
      "1e-7}}\n"
      "scene: {kind: translated, canvas: [64, 100], num_digits: 2, label: pair, border: 3}\n"
      "model: {core: lstm, hidden_size: 7}\n"
      "attention: {glimpse: {first: learned, std: {from: 0.3, to: 0.05, over: 0.6}}}\n"
      "reinforce: {rollouts: 4, advantage: leave_one_out, weight: 0.1}\n"
      "training: {episodes: 123456789, learning_rate: 1.0e-06, epsilon: 1e-30}\n");
  CHECK(config.agent.training.optimizer.final_learning_rate == 0.01 * 1e-6);
  CHECK(config.scene.num_distractors == 0);
  check_same_config(parse(to_yaml(config)), config);
  CHECK(to_yaml(parse(to_yaml(config))) == to_yaml(config));

  Config learned = parse("name: \"null\"", {"attention.glimpse.learn_std=true"});
  learned.agent.glimpse.std.over = 0.5;
  check_same_config(parse(to_yaml(learned)), learned);
}

TEST_CASE("text that YAML could read as another type is quoted") {
  for (const std::string text :
       {"01101", "0",      "007",   "0o17", "0x1F", "0b101", "1_000",      "+1",
        "-1",    "1.5",    ".5",    "1.",   "1e3",  "1:30",  "1:30:00",    ".inf",
        "-.Inf", ".nan",   ".NaN",  "y",    "N",    "yes",   "No",         "on",
        "OFF",   "true",   "False", "null", "Null", "~",     "2026-11-22", "2026-11-22 10:00:00",
        "<<",    "=",      "-",     "---",  "a: b", "a #b",  "#a",         "[a]",
        "{a}",   "*a",     "&a",    "!a",   "|",    ">",     "%a",         "@a",
        "`a",    "'a'",    "\"a\"", "a\\b", " a",   "a ",    " ",          "a\nb",
        "a\tb",  "\u00e9", "../a",  "?",    "a,b"}) {
    CAPTURE(text);
    Config config;
    config.data.path = text;
    CHECK(value_of(config, "data.path").front() == '"');
    CHECK(value_of(config, "data.path").back() == '"');
    check_same_config(parse(to_yaml(config)), config);
  }
  for (const std::string text : {"/data/mnist", "runs/a-b_c.d/seed-1", "nothing", "e3", "x0110"}) {
    CAPTURE(text);
    Config config;
    config.data.path = text;
    CHECK(value_of(config, "data.path") == text);
    check_same_config(parse(to_yaml(config)), config);
  }
}

TEST_CASE("a mask means the same with and without quotes") {
  const auto masked = [](const std::string& mask) {
    return parse("attention: {hidden: {kind: attend, mask: " + mask + "}}",
                 {"attention.glimpse.num_glimpses=5"});
  };
  CHECK(masked("01101").agent.hidden.mask == "01101");
  CHECK(value_of(masked("01101"), "attention.hidden.mask") == "\"01101\"");
  CHECK(differences(masked("01101"), masked("\"01101\"")).empty());
}

TEST_CASE("to_yaml writes each key once, and sections as blocks") {
  const std::string yaml = to_yaml(Config{});
  CHECK(yaml.find("\nattention:\n  glimpse:\n    kind: hard_gaussian ") != std::string::npos);
  CHECK(yaml.find("\n  path: null ") != std::string::npos);
  CHECK(yaml.find("\n  canvas: [60, 60] ") != std::string::npos);
  CHECK(yaml.find("\n    std: 0.1 ") != std::string::npos);
  const std::size_t lines = section_names().size() + settings().size();
  CHECK(std::count(yaml.begin(), yaml.end(), '\n') == static_cast<std::ptrdiff_t>(lines));
}

TEST_CASE("every preset can be read and written") {
  int presets = 0;
  for (const auto& entry : fs::directory_iterator(source_folder() / "experiments")) {
    if (entry.path().extension() != ".yaml") continue;
    ++presets;
    INFO("preset: " << entry.path().filename().string());
    std::vector<Config> configs;
    for (const StudyRun& run : read_study(entry.path(), {}).runs) configs.push_back(run.config);
    for (const Config& config : configs) {
      CHECK(config.name == entry.path().stem().string());
      check_same_config(parse(to_yaml(config)), config);
    }
  }
  CHECK(presets > 0);
}

TEST_CASE("the preset for newcomers is evaluated often enough for a learning curve") {
  const Config config = read_config(source_folder() / "experiments/quickstart.yaml");
  CHECK(config.agent.training.episodes / config.evaluation.every >= 8);
}

TEST_CASE("a grid of which the stride alone is given covers the canvas, too") {
  const GridConfig grid =
      parse("scene: {canvas: [60, 60]}\nattention: {glimpse: {kind: soft_grid, stride: 2}}")
          .agent.glimpse.grid;
  CHECK(grid.stride == 2);
  CHECK(grid.cells == std::array{29, 29});
}

TEST_CASE("to_yaml and back gives the same configuration for every kind of glimpse and model") {
  const auto check_round_trip = [](const Overrides& overrides) {
    const Config config = parse("", overrides);
    check_same_config(parse(to_yaml(config)), config);
    CHECK(to_yaml(parse(to_yaml(config))) == to_yaml(config));
  };
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    check_round_trip({"attention.glimpse.kind=" + kind});
    check_round_trip({"attention.glimpse.kind=" + kind, "attention.glimpse.grid=[5, 7]",
                      "attention.glimpse.stride=3", "attention.glimpse.tiles=[2, 3]",
                      "attention.glimpse.temperature={from: 2, to: 0.5, over: 0.25}",
                      "attention.glimpse.score=additive", "attention.glimpse.score_hidden=9",
                      "attention.glimpse.filters=5"});
  }
  for (const std::string addressing : {"location", "content"})
    for (const std::string expect : {"features", "pixels"})
      check_round_trip({"attention.glimpse.kind=soft_grid",
                        "attention.glimpse.addressing=" + addressing,
                        "attention.glimpse.expect=" + expect, "attention.glimpse.entropy=0.125",
                        "attention.glimpse.coverage=0.3", "attention.glimpse.row_penalty=1e-7"});
  for (const std::string& kind : model_kinds())
    check_round_trip({"model.kind=" + kind, "model.canvas_hidden=5", "model.channels=[3, 4]",
                      "model.kernel_size=7"});
}

}  // namespace saccade
