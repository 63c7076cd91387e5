// Seeded episodes as text, one for each family of looking and each kind of answer: shows an
// unintended change anywhere between scene and gradient. SACCADE_REGENERATE=1 in the environment
// rewrites the files of golden/, on purpose.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/learning/learner.h"
#include "tests/agent/tasks.h"
#include "tests/support.h"

namespace saccade {
namespace {

std::string decimals(double value) {
  return fmt::format("{:.4f}", std::round(value * 1e4) / 1e4 + 0.0);  // avoids -0
}

std::string numbers(std::span<const float> values) {
  std::string text;
  for (const float value : values) text += " " + decimals(value);
  return text;
}

std::string statistics(std::span<const float> values, double unit = 1.0) {
  double sum = 0.0, squares = 0.0, largest = -INFINITY;
  for (const float value : values) {
    sum += value / unit;
    squares += value / unit * (value / unit);
    largest = std::max(largest, value / unit);
  }
  const auto n = static_cast<double>(values.size());
  return fmt::format("mean {} rms {} max {}", decimals(sum / n), decimals(std::sqrt(squares / n)),
                     decimals(largest));
}

std::string integers(std::span<const int> values) {
  std::string text;
  for (const int value : values) text += fmt::format(" {}", value);
  return text;
}

// A tiny agent with a task.
struct Episode {
  std::string name;  // of its file
  AgentConfig config;
  Task task;
  std::uint64_t first_scene = 7;

  bool sees_canvas() const { return config.model.kind != "recurrent"; }
  // Kinds made by the same function belong to one family.
  auto family() const { return find_glimpse_kind(config.glimpse.kind).make; }
  bool is_point() const {
    return !sees_canvas() && family() == find_glimpse_kind("hard_gaussian").make;
  }
};

std::vector<Episode> every_episode() {
  const Task digits{"cluttered", tiny_environment, kTinySpec};
  std::vector<Episode> all;
  const auto add = [&](const std::string& name, const Task& task, const std::string& glimpse) {
    all.push_back({name, tiny_config("lstm"), task});
    all.back().config.glimpse.kind = glimpse;
    all.back().config.training.step_loss = 0.5;
    return &all.back().config;
  };
  AgentConfig* config = add("point_class", digits, "hard_gaussian");
  config->glimpse.first = "learned";
  config->glimpse.learn_std = true;

  config = add("grid_class", digits, "soft_grid");
  config->glimpse.addressing = "content";
  config->glimpse.coverage = 0.3;
  config->input = {.kind = "gate", .alpha = 2.0, .gain = 8.0};

  config = add("hard_grid_class", digits, "hard_categorical");
  config->model.core = "gru";
  config->reinforce.entropy = 0.1;
  all.back().first_scene = 5;  // chosen for unambiguous answers

  add("window_class", digits, "soft_gaussian")->model.core = "gru";

  add("soft_point_class", digits, "soft_point")->glimpse.first = "learned";

  const Task zoomed{"cluttered", zoomed_environment, kTinySpec};
  config = add("zoom_class", zoomed, "hard_gaussian");
  config->glimpse.zoom = kTinyZoom;
  config->glimpse.first = "learned";

  config = add("moves_class", digits, "hard_gaussian");
  config->glimpse.moves = "relative";
  config->glimpse.max_step = 0.4;
  config->glimpse.std = {0.8, 0.8, 1.0};

  config = add("whole_class", digits, "whole");
  config->model.core = "attention";
  config->glimpse.size = {4, 5};
  config->hidden = {.kind = "self", .attend = {.score_hidden = 3}, .hops = 2, .penalty = 0.1};

  config = add("canvas_class", digits, "hard_gaussian");
  config->model.kind = "cnn";
  config->model.channels = {3, 4};
  config->model.kernel_size = 3;

  config = add("point_sequence", transcribe_task(), "hard_gaussian");
  config->hidden.kind = "attend";
  config->decoder = {.core = "lstm", .hidden_size = 6};

  config = add("point_actions", catch_task(), "hard_gaussian");
  config->glimpse.num_glimpses = 5;
  config->reinforce.discount = 0.9;
  config->reinforce.action_entropy = 0.02;
  all.back().first_scene = 8;  // one ball of two is caught
  return all;
}

std::span<const float> row(const Tensor<3>& tensor, int t, int b) {
  if (tensor.size() == 0) return {};
  const ConstMatrix m = step(tensor, t);
  return {m.row(b), static_cast<std::size_t>(m.cols)};
}

std::string describe_scene(const Rollout& rollout, int b) {
  const SceneFacts& facts = rollout.facts(0, b);
  std::string text = fmt::format("episode {}\n  scene: label {}", b, facts.label);
  for (int i = 0; i < facts.num_digits; ++i) {
    const Box& box = facts.boxes[i];
    text += fmt::format(", digit at ({}, {}), {} x {}", box.x, box.y, box.width, box.height);
  }
  return text + "\n";
}

std::string describe_look(const Rollout& rollout, int t, int b, bool point) {
  const Look& look = *rollout.look;
  std::string text = fmt::format("  look {}:", t);
  if (!row(look.decisions, t, b).empty())
    text += fmt::format(" {}{} {}{} location{}", point ? "mean" : "decision",
                        numbers(row(look.decisions, t, b)), point ? "sample" : "action",
                        numbers(row(look.actions, t, b)), numbers(row(look.locations, t, b)));
  text += "\n";
  if (!row(look.glimpses, t, b).empty())
    text += fmt::format("    glimpse: {}\n", statistics(row(look.glimpses, t, b)));
  const std::span<const float> state =
      row(rollout.core.input, t + 1, b).subspan(rollout.core.features);
  return text + fmt::format("    state:   {}\n", statistics(state));
}

std::string describe_episode(const Episode& episode, const Rollout& rollout, int b) {
  const Answer& answer = *rollout.answer;
  const int said = static_cast<int>(answer.probabilities.shape()[0]);
  const bool sequence = episode.task.spec.answer == AnswerKind::sequence;
  std::string text = describe_scene(rollout, b);
  for (int t = 0; t < rollout.core.steps; ++t) {
    text += describe_look(rollout, t, b, episode.is_point());
    if (!sequence)
      text += fmt::format("    classes:{}\n", numbers(row(answer.probabilities, t, b)));
  }
  for (int j = 0; sequence && j < said; ++j)
    text += fmt::format("  symbol {}:{}\n", j, numbers(row(answer.probabilities, j, b)));
  return text + fmt::format("  answer:{}, reward {}\n", integers(answer.predictions(b)),
                            answer.rewards[b]);
}

// The retina rounds to whole pixels, or to half ones if a square's side is odd: a location close to
// a rounding edge could see something else on another machine.
void check_well_conditioned(const Rollout& rollout, CanvasSize canvas) {
  const Tensor<3>& locations = rollout.look->locations;
  if (locations.shape()[2] > 2) return;  // a look with a zoom does not round
  for (std::size_t i = 0; i < locations.size(); ++i) {
    const float l = locations.data()[i];
    if (std::abs(l) == 1.0F) continue;  // clamped
    const float half_pixels =
        (l + 1.0F) * static_cast<float>(i % 2 == 0 ? canvas.cols : canvas.rows);
    CHECK(std::abs(half_pixels - std::round(half_pixels)) > 0.01F);
  }
}

// Requires the prediction to be the most probable.
void check_clear(const Tensor<3>& probabilities) {
  for (std::size_t s = 0; s < probabilities.shape()[0]; ++s)
    for (std::size_t b = 0; b < probabilities.shape()[1]; ++b) {
      const std::span<const float> p = row(probabilities, static_cast<int>(s), static_cast<int>(b));
      std::vector<float> sorted(p.begin(), p.end());
      std::ranges::sort(sorted, std::greater<>());
      CHECK(sorted[0] - sorted[1] > 1e-3F);
    }
}

std::string play(const Episode& episode) {
  const Model model(episode.config, episode.task.spec);
  Tensor<1> parameters = zeros<1>(model.layout().size());
  randomize(flat(parameters), model.layout(), 0.35F, 1);
  for (const Parameter& p : model.layout().parameters())
    if (p.name == "locator.log_std") values_of(flat(parameters), p)[0] = std::log(0.3F);
  constexpr int kEpisodes = 2;
  Lane lane(model, episode.task.environments(kEpisodes, 1));
  Tensor<1> gradient = zeros<1>(model.layout().size());
  const LossSums sums =
      lane.run(flat(gradient), flat(parameters),
               {.first_scene = episode.first_scene, .seed = 5, .classify_every_step = true},
               std::vector<double>(model.num_glimpses()), kEpisodes);
  if (episode.is_point() && !model.look().smooth)
    check_well_conditioned(lane.rollout(), episode.task.spec.canvas);
  if (episode.task.spec.answer != AnswerKind::actions)
    check_clear(lane.rollout().answer->probabilities);

  std::string text = "A seeded episode of a tiny agent. Made by tests/agent/test_golden.cpp.\n";
  for (int b = 0; b < kEpisodes; ++b) text += describe_episode(episode, lane.rollout(), b);
  text += fmt::format("loss: classifier {:.4f} reinforce {:.4f} baseline {:.4f}", sums.classifier,
                      sums.reinforce, sums.baseline);
  if (sums.penalty != 0.0) text += fmt::format(" penalty {:.4f}", sums.penalty);
  text += "\n";
  for (const Parameter& p : model.layout().parameters())
    text += fmt::format("gradient of {} in 1e-3: {}\n", p.name,
                        statistics(values_of(flat(std::as_const(gradient)), p), 1e-3));
  return text;
}

// Words must be equal; numbers with decimals may differ by two units in the last digit, or by the
// same amount relative to their size.
bool same_line(const std::string& a, const std::string& b) {
  std::istringstream words_a(a), words_b(b);
  std::string word_a, word_b;
  while (words_a >> word_a) {
    if (!(words_b >> word_b)) return false;
    if (word_a == word_b) continue;
    if (word_a.find('.') == std::string::npos || word_b.find('.') == std::string::npos)
      return false;
    char* end_a = nullptr;
    char* end_b = nullptr;
    const double number_a = std::strtod(word_a.c_str(), &end_a);
    const double number_b = std::strtod(word_b.c_str(), &end_b);
    if (std::string(end_a) != end_b || end_a == word_a || end_b == word_b) return false;
    const double unit = std::max(1.0, std::abs(number_b));
    if (!(std::abs(number_a - number_b) < 2.5e-4 * unit)) return false;
  }
  return !(words_b >> word_b);
}

TEST_CASE("the golden episodes are unchanged") {
  for (const Episode& episode : every_episode()) {
    CAPTURE(episode.name);
    const fs::path path = source_folder() / "tests/agent/golden" / (episode.name + ".txt");
    const std::string played = play(episode);
    if (std::getenv("SACCADE_REGENERATE") != nullptr) {
      std::ofstream(path) << played;
      MESSAGE("wrote " << path.string());
    }
    std::ifstream file(path);
    REQUIRE(file.is_open());
    std::istringstream lines(played);
    std::string expected, actual;
    while (std::getline(lines, actual)) {
      REQUIRE(std::getline(file, expected));
      CAPTURE(expected);
      CAPTURE(actual);
      CHECK(same_line(actual, expected));
    }
    CHECK_FALSE(std::getline(file, expected));
  }
}

TEST_CASE("every family of looking and every answer has a golden episode") {
  const std::vector<Episode> episodes = every_episode();
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    CHECK(std::ranges::any_of(episodes, [&](const Episode& e) {
      return !e.sees_canvas() && e.family() == find_glimpse_kind(kind).make;
    }));
  }
  CHECK(std::ranges::any_of(episodes, &Episode::sees_canvas));
  for (const TaskAgent& agent : every_task_agent(tiny_config())) {
    CAPTURE(agent.name);
    CHECK(std::ranges::any_of(
        episodes, [&](const Episode& e) { return e.task.spec.answer == agent.task.spec.answer; }));
  }
}

TEST_CASE("the comparison of transcripts detects differences") {
  CHECK(same_line("mean 0.1234 rms 1.0", "mean 0.1235 rms 1.0"));
  CHECK_FALSE(same_line("mean 0.1234 rms 1.0", "mean 0.1244 rms 1.0"));
  CHECK(same_line("-1234.5", "-1234.6"));
  CHECK_FALSE(same_line("-1234.5", "-1235.6"));
  CHECK_FALSE(same_line("mean 0.1234", "rms 0.1234"));
  CHECK_FALSE(same_line("label 1", "label 2"));
  CHECK_FALSE(same_line("a b", "a b c"));
  CHECK_FALSE(same_line("a b c", "a b"));
  CHECK_FALSE(same_line("x nan.", "x 0.5"));
}

}  // namespace
}  // namespace saccade
