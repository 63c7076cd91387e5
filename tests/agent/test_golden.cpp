// One seeded episode as text: an unintended change anywhere between the scene and the gradient
// shows. SACCADE_REGENERATE=1 in the environment writes golden_episode.txt anew, on purpose.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/learning/learner.h"
#include "tests/agent/support.h"

namespace saccade {
namespace {

const std::filesystem::path kPath =
    std::filesystem::path(SACCADE_SOURCE_DIR) / "tests/agent/golden_episode.txt";

std::string decimals(double value) {
  return fmt::format("{:.4f}", std::round(value * 1e4) / 1e4 + 0.0);  // no -0
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

std::string describe_episode(const Rollout& rollout, int b) {
  const SceneFacts facts = rollout.environment->facts()[b];
  const Box box = facts.boxes[0];
  std::string text = fmt::format("episode {}\n  scene: label {}, digit at ({}, {}), {} x {}\n", b,
                                 facts.label, box.x, box.y, box.width, box.height);
  const auto row = [&](const Tensor<3>& tensor, int t) {
    const ConstMatrix m = step(tensor, t);
    return std::span<const float>(m.row(b), m.cols);
  };
  for (int t = 0; t < rollout.core.steps; ++t) {
    const std::span<const float> input = row(rollout.core.input, t + 1);
    text += fmt::format(
        "  look {}: mean{} sample{} location{}\n", t, numbers(row(rollout.look->decisions, t)),
        numbers(row(rollout.look->actions, t)), numbers(row(rollout.look->locations, t)));
    text += fmt::format("    glimpse: {}\n", statistics(row(rollout.look->glimpses, t)));
    text += fmt::format("    state:   {}\n", statistics(input.subspan(rollout.core.features)));
    text += fmt::format("    classes:{}\n", numbers(row(rollout.answer->probabilities, t)));
  }
  return text + fmt::format("  answer: {}, reward {}\n", rollout.answer->said(b)[0],
                            rollout.answer->rewards[b]);
}

// The retina rounds to whole and, where a square's side is odd, half pixels: a location close to
// such an edge would see something else on another machine.
void check_well_conditioned(const Rollout& rollout, int canvas) {
  for (const float l : rollout.look->locations) {
    if (std::abs(l) == 1.0F) continue;  // clamped
    const float half_pixels = (l + 1.0F) * static_cast<float>(canvas);
    CHECK(std::abs(half_pixels - std::round(half_pixels)) > 0.01F);
  }
}

std::string play() {
  AgentConfig config = tiny_config("lstm");
  config.glimpse.first = "learned";
  config.glimpse.learn_std = true;
  config.training.step_loss = 0.5;
  const Model model(config, kTinySight);
  Tensor<1> parameters = zeros<1>(model.layout().size());
  randomize(flat(parameters), model.layout(), 0.35F, 1);
  values_of(flat(parameters), find_parameter(model.layout(), "locator.log_std"))[0] =
      std::log(0.3F);
  constexpr int kEpisodes = 2;
  Lane lane(model, tiny_environment(kEpisodes, 1));
  const LossSums sums =
      lane.run(flat(parameters), {.first_scene = 7, .seed = 5, .classify_every_step = true}, 0.0F,
               kEpisodes);
  check_well_conditioned(lane.rollout(), 12);

  std::string text = "A seeded episode of a tiny agent. Made by tests/agent/test_golden.cpp.\n";
  for (int b = 0; b < kEpisodes; ++b) text += describe_episode(lane.rollout(), b);
  text += fmt::format("loss: classifier {:.4f} reinforce {:.4f} baseline {:.4f}\n", sums.classifier,
                      sums.reinforce, sums.baseline);
  for (const Parameter& p : model.layout().parameters())
    text += fmt::format("gradient of {} in 1e-3: {}\n", p.name,
                        statistics(values_of(flat(std::as_const(lane.gradient)), p), 1e-3));
  return text;
}

// Words must be equal; numbers with decimals may differ by two units of the last one, or
// by as much in proportion.
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

TEST_CASE("the golden episode") {
  const std::string played = play();
  if (std::getenv("SACCADE_REGENERATE") != nullptr) {
    std::ofstream(kPath) << played;
    MESSAGE("wrote " << kPath.string());
  }
  std::ifstream file(kPath);
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

TEST_CASE("the comparison of transcripts sees differences") {
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
