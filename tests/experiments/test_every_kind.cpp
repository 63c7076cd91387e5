// Every way of looking with every command, on an experiment that takes milliseconds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <opencv2/imgcodecs.hpp>

#include "agent/cores/core.h"
#include "agent/looking/context_network.h"
#include "agent/looking/location_estimator.h"
#include "agent/model/model.h"
#include "attention/moves.h"
#include "env/task_kinds.h"
#include "experiments/analysis/bench.h"
#include "experiments/analysis/evaluate.h"
#include "experiments/analysis/record.h"
#include "experiments/pictures/legend.h"
#include "experiments/task/task.h"
#include "nn/safetensors.h"
#include "tests/experiments/gif.h"
#include "tests/experiments/npz.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

struct Kind {
  std::string name;
  Overrides overrides;
};

std::vector<Kind> every_kind() {
  std::vector<Kind> kinds;
  const auto add = [&](const std::string& key, const std::string& value) {
    kinds.push_back({key + "=" + value, {key + "=" + value}});
  };
  for (const std::string& kind : glimpse_kinds()) add("attention.glimpse.kind", kind);
  for (const std::string& kind : model_kinds()) add("model.kind", kind);
  for (const std::string& kind : core_kinds()) {
    add("model.core", kind);
    kinds.back().overrides.push_back("model.heads=2");
  }
  for (const std::string& kind : hidden_kinds()) add("attention.hidden.kind", kind);
  for (const std::string& kind : input_kinds()) add("attention.input.kind", kind);
  for (const std::string& kind : location_estimators()) add("reinforce.estimator", kind);
  for (const std::string& kind : move_kinds()) add("attention.glimpse.moves", kind);
  kinds.push_back({"steps",
                   {"attention.glimpse.kind=hard_categorical", "attention.glimpse.moves=relative",
                    "attention.glimpse.grid=[3, 1]"}});
  for (const std::string& kind : contexts()) {
    add("model.context", kind);
    kinds.back().overrides.push_back("model.context_size=13");
  }

  // Settings a task needs besides its name.
  const Names two = {"scene.canvas=[13, 40]", "scene.num_digits=2", "attention.hidden.kind=attend"};
  const std::map<std::string, Names> needs = {
      {"bag", two},
      {"transcribe",
       with(two, {"scene.num_distractors=1", "scene.min_digits=1", "decoder.hidden_size=5"})},
      {"catch", {"scene.canvas=[8, 9]", "attention.glimpse.num_glimpses=7"}},
      {"digits_to_words",
       {"scene.max_number=999", "decoder.hidden_size=5", "attention.glimpse.kind=whole",
        "attention.hidden.kind=attend"}}};
  for (const std::string& task : task_kinds()) {
    if (find_task_kind(task).is_own) continue;  // needs a program, and not this one
    const auto found = needs.find(task);
    kinds.push_back({task, with({"scene.kind=" + task, "scene.num_distractors=0"},
                                found == needs.end() ? Names{} : found->second)});
  }
  return kinds;
}

// The digits, balls or words of the test, from the environment itself.
std::unique_ptr<Environment> test_environment(const Task& task, int scenes) {
  auto environment = task.environments(Split::test)(scenes, 1);
  environment->reset(0);
  return environment;
}

// The share of scenes answered wrongly, counted from the arrays of `eval --weights`.
double count_errors(const Task& task, const ReadNpz& npz) {
  const xt::xarray<int> answers = npz.get<int>("answers");
  const int scenes = static_cast<int>(answers.shape()[0]);
  const auto environment = test_environment(task, scenes);
  if (environment->answer_kind() == AnswerKind::actions) {
    std::vector<float> rewards(scenes);
    double caught = 0.0;
    const int acts = static_cast<int>(answers.shape()[1]);
    for (int t = 0; t < acts; ++t) {
      std::vector<int> actions(scenes);
      for (int b = 0; b < scenes; ++b) actions[b] = answers(b, t);
      environment->act(actions, rewards);
      for (const float reward : rewards) caught += reward;
    }
    return 1.0 - caught / scenes;  // one ball lands in each scene
  }
  const xt::xarray<int> labels = npz.get<int>("labels");
  int wrong = 0;
  for (int b = 0; b < scenes; ++b) {
    const SceneFacts& facts = environment->facts()[b];
    if (environment->answer_kind() == AnswerKind::one_class) {
      CHECK(labels(b) == facts.label);
      wrong += answers(b) != facts.label ? 1 : 0;
      continue;
    }
    bool right = true;
    for (std::size_t j = 0; j < labels.shape()[1]; ++j) {
      const bool ended = static_cast<int>(j) >= facts.num_symbols - 1;
      CHECK(labels(b, j) == (ended ? -1 : facts.symbols[j]));
      right = right && answers(b, j) == labels(b, j);
    }
    wrong += right ? 0 : 1;
  }
  return static_cast<double>(wrong) / scenes;
}

// Cross-entropy in nats if all possible answers are equally probable.
double uniform_loss(const Task& task) {
  const auto environment = test_environment(task, 150);
  const double nats = std::log(environment->num_classes());
  if (environment->answer_kind() == AnswerKind::actions) return 0.0;
  if (environment->answer_kind() == AnswerKind::one_class) return nats;
  double symbols = 0.0;
  for (const SceneFacts& facts : environment->facts()) symbols += facts.num_symbols;
  return nats * symbols / environment->episodes();
}

bool looks(const Task& task) { return task.config.agent.model.kind == "recurrent"; }

GlimpseKind glimpse_kind(const Task& task) {
  return find_glimpse_kind(task.config.agent.glimpse.kind);
}

// Parameters that no loss trains: the locator of a control, an unused baseline, and those that read
// a location that is always (0, 0).
bool rests(const Task& task, const std::string& parameter) {
  const bool learns_to_look = glimpse_kind(task).learning != GlimpseKind::Learning::none;
  const bool centred = task.config.agent.glimpse.kind == "center";
  return parameter.starts_with("baseline") ||
         (parameter.starts_with("locator") && !learns_to_look) ||
         (parameter.starts_with("glimpse.where") && centred);
}

void check_trained(const Task& task, const fs::path& checkpoint) {
  const ParameterLayout& layout = task.model.layout();
  Tensor<1> initial = zeros<1>(layout.size());
  layout.initialize(flat(initial), task.config.seed);
  const SafetensorsFile trained = read_safetensors(checkpoint);
  for (const Parameter& p : layout.parameters()) {
    CAPTURE(p.name);
    const std::span<const float> now = trained.find(p.name).data;
    const std::span<const float> before = flat(initial).subspan(p.offset, p.size());
    CHECK(std::ranges::all_of(now, [](float w) { return std::isfinite(w); }));
    CHECK(std::ranges::equal(now, before) == rests(task, p.name));
  }
}

// How often a part of the model is applied in an episode, based on its parameter names.
double uses(const Task& task, const std::string& parameter, int steps) {
  const AgentConfig& agent = task.config.agent;
  const auto is = [&](const char* part) { return parameter.starts_with(part); };
  if (is("glimpse"))  // for soft_grid every candidate of a 2 x 3 grid is embedded
    return agent.glimpse.kind == "soft_grid" ? 6 : steps;
  if (is("locator")) {
    if (rests(task, parameter)) return 0;
    if (is("locator.context")) return 1;
    return task.model.look().frame ? steps : steps - 1;
  }
  // Convolutions with stride 2 over 13 x 15 pixels.
  if (is("canvas.conv1")) return 7 * 8;
  if (is("canvas.conv2")) return 4 * 4;
  if (is("decoder")) return task.model.answer().answer_size;
  if (is("classifier") && task.config.scene.kind != "catch") return 1;
  return is("core") || is("gate") || is("hidden") || is("classifier") ? steps : 1;
}

// Multiply-adds of the forward pass of an episode, in 10^9.
double forward_work(const Task& task, int steps) {
  const GlimpseConfig& glimpse = task.config.agent.glimpse;
  double sum = 0.0;
  for (const Parameter& p : task.model.layout().parameters())
    if (p.name.ends_with(".weight") && !p.name.starts_with("baseline"))
      sum += static_cast<double>(p.size()) * uses(task, p.name, steps);
  if (task.model.look().frame)
    sum += steps * glimpse.filters * (13.0 * 15.0 + glimpse.filters * 15.0);
  return 1e-9 * sum;
}

void check_bench(const Task& task, const nlohmann::json& speed, int steps) {
  const auto figure = [&](const char* name) { return speed.at(name).get<double>(); };
  // Each product occurs again for the gradient of its weights, and for that of its inputs if
  // needed.
  const double ratio = figure("gflop_per_episode") / (2.0 * forward_work(task, steps));
  CAPTURE(ratio);
  CHECK(ratio > 2.0);
  CHECK(ratio < 3.0);
  CHECK(figure("threads") == 1);
  CHECK(figure("gflops") ==
        doctest::Approx(figure("episodes_per_second") * figure("gflop_per_episode")));
  CHECK(figure("fraction_of_peak") == doctest::Approx(figure("gflops") / figure("peak_gflops")));
  CHECK(speed.contains("environment_glimpses_per_second") == task.retina.has_value());
}

// The path of the looks has this colour, and nothing else does.
int count_path(const cv::Mat& sheet) {
  int count = 0;
  for (const cv::Vec3b& bgr : cv::Mat_<cv::Vec3b>(sheet)) count += bgr == cv::Vec3b(255, 222, 64);
  return count;
}

void check_sheet(const Task& task, const fs::path& folder, int looks_drawn) {
  const auto sheet = [&](int scenes) {
    const fs::path out = folder / fmt::format("{}.png", scenes);
    record({.run_folders = {folder}, .out = out, .scenes = scenes});
    return cv::imread(out.string());
  };
  const cv::Mat one = sheet(1), two = sheet(2);
  const int below = 12 + legend_rows(sheet_legend(task), one.cols - 2 * 12);  // plus a margin
  CHECK(two.rows - below == 2 * (one.rows - below));
  CHECK(two.cols == one.cols);
  const CanvasSize canvas = test_environment(task, 1)->canvas();
  const bool tiles = canvas.rows == 13 && canvas.cols == 15 && looks_drawn == 3;
  if (tiles) CHECK(one.cols == 3 * (15 * 12 + 8) - 8 + 2 * 12);  // 12 pixels per pixel, gaps of 8
  CHECK((count_path(one) > 0) == looks(task));
  CHECK((count_path(two) > count_path(one)) == looks(task));
}

void check_video(const fs::path& folder, int looks) {
  const fs::path out = folder / "a.gif";
  record({.run_folders = {folder}, .out = out, .scenes = 1});
  const std::vector<Picture> frames = read_gif(out).frames;
  REQUIRE(static_cast<int>(frames.size()) == looks + 2);  // two for the verdict
  for (int t = 0; t < looks; ++t) {  // each look changes the picture, and so does the verdict
    CAPTURE(t);
    CHECK_FALSE(std::ranges::equal(frames[t].bytes(), frames[t + 1].bytes()));
  }
}

}  // namespace

TEST_CASE("every kind trains, is tested, benchmarked and drawn, and resumes to the same bytes") {
  const TinyExperiment tiny;
  for (const auto& [kind, own] : every_kind()) {
    CAPTURE(kind);
    // A window larger than the retina's view.
    const Overrides overrides = with({"attention.glimpse.grid=[2, 3]", "attention.glimpse.stride=4",
                                      "attention.glimpse.filters=9"},
                                     own);
    const Task task(read_config(tiny.yaml, overrides));
    const int looks = task.model.num_glimpses();
    if (task.model.look().looks) CHECK(looks == task.config.agent.glimpse.num_glimpses);
    const auto folder = tiny.train(kind, overrides);
    check_trained(task, folder / kLast);
    const Csv metrics(folder / "metrics.csv");
    CHECK(metrics.column.at("episodes") == kTinyRows);
    CHECK(std::stod(metrics.column.at("train/classifier_loss")[0]) ==
          doctest::Approx(uniform_loss(task)).epsilon(0.03));

    const fs::path npz = tiny.path / (kind + ".npz");
    const nlohmann::json tested =
        to_json(evaluate({.run_folder = folder, .weights = npz, .threads = 2}));
    CHECK(tested["test/error"] == read_json(folder / "summary.json")["test/error"]);
    CHECK(tested["test/error"].get<double>() ==
          doctest::Approx(count_errors(task, ReadNpz(npz))).epsilon(1e-6));

    check_bench(task,
                bench({.config = tiny.yaml, .overrides = overrides, .seconds = 0.05, .threads = 1}),
                looks);
    check_sheet(task, folder, looks);
    check_video(folder, looks);

    RunRequest stopped = tiny.options(kind + "-stopped", overrides);
    CHECK(!run(stopped, true));  // after one update
    CHECK(bytes_of(stopped.out / kLast) != bytes_of(folder / kLast));
    stopped.resume = true;
    CHECK(run(stopped, false));
    CHECK(bytes_of(stopped.out / kLast) == bytes_of(folder / kLast));
  }
}

}  // namespace saccade
