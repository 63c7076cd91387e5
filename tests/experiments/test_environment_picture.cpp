#include "experiments/pictures/environment_picture.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "tests/env/digit_fixtures.h"
#include "tests/experiments/pixels.h"

namespace saccade {
namespace {

constexpr int kGlimpses = 3;
constexpr int kBars = 228;  // columns at the right of a panel that contain the bars and the
                            // observation

std::unique_ptr<Task> pictured_task(const std::string& scene) {
  const Config config = parse_config(
      "name: drawn\nretina: {patch_size: 5, scales: 2}\n"
      "model: {hidden_size: 4, glimpse_hidden: 4, location_hidden: 4, feature_size: 4}\n"
      "decoder: {hidden_size: 4}\n"
      "attention: {glimpse: {kind: random, num_glimpses: 3}}\nscene: " +
          scene,
      "test");
  return std::make_unique<Task>(config, noise_data(20, 1, 10));
}

// Number of pixels that differ between two pictures in the given columns.
int differing(const Picture& one, const Picture& other, int first, int end) {
  return count_pixels({first, 0, end - first, one.rows()},
                      [&](Point at) { return one.at(at) != other.at(at); });
}

// An environment driven by hand.
struct Played {
  Played(const Task& task, int boxes)
      : environments(task.environments(Split::train), 1,
                     {.num_glimpses = kGlimpses, .num_boxes = boxes}, 1),
        glimpses(environments.glimpse_size()),
        labels(environments.answer_size()),
        boxes_(4 * boxes) {
    environments.reset(std::vector<std::int64_t>{0}, std::vector<std::uint8_t>{1}, seen());
  }
  void step(float x, float y, const std::vector<std::int64_t>& answer) {
    const std::array<float, 2> location = {x, y};
    environments.step({{location.data(), 1, 2, 2}, answer, {}}, seen(), reward, over);
  }
  VectorObservation seen() {
    const int size = environments.glimpse_size();
    return {{glimpses.data(), 1, size, size},
            {place.data(), 1, 2, 2},
            steps,
            labels,
            boxes_,
            on_target};
  }

  VectorEnvironment environments;
  std::vector<float> glimpses;
  std::array<float, 2> place{};
  std::array<std::int64_t, 1> steps{};
  std::vector<std::int64_t> labels, boxes_;
  std::array<std::uint8_t, 1> on_target{}, over{};
  std::array<double, 1> reward{};
};

}  // namespace

TEST_CASE("an environment's picture equals the recording of the same looks and answers") {
  const auto task = pictured_task("{kind: translated, canvas: [20, 30]}");
  // Recorded from an agent with zero weights.
  PlayedScene recorded(*task, Split::train, std::vector<float>(task->model.layout().size()),
                       RolloutRequest::of_scenes(0, 1));
  Played played(*task, 1);
  const Answer& answer = *recorded.rollout.answer;
  const auto place = [&](int t, int axis) { return recorded.rollout.look->locations(t, 0, axis); };
  // The first look of an environment is random, so the recorded agent is moved there.
  recorded.rollout.look->locations(0, 0, 0) = played.place[0];
  recorded.rollout.look->locations(0, 0, 1) = played.place[1];
  std::ranges::copy(played.glimpses, &recorded.rollout.look->glimpses(0, 0, 0));

  const EpisodePicture panel(*task, "name");
  EnvironmentPicture picture(*task, played.environments, "name");
  const std::vector<std::int64_t> answer_given = {answer.predictions(0)[0]};
  for (int t = 0; t < kGlimpses; ++t) {
    CAPTURE(t);
    const Picture expected = panel.panel(recorded.episode(), t, false), drawn = picture.draw(0);
    CHECK(drawn.rows() == (expected.rows() + 1) / 2 * 2);
    CHECK(drawn.cols() == (expected.cols() + 1) / 2 * 2);
    // An agent with zero weights gives equal probabilities, as does a picture without an answer;
    // given answers are drawn as certain.
    const int bars = expected.cols() - kBars;
    CHECK(differing(expected, drawn, 0, bars) == 0);
    CHECK((differing(expected, drawn, bars, expected.cols()) == 0) == (t == 0));
    if (t + 1 < kGlimpses) played.step(place(t + 1, 0), place(t + 1, 1), answer_given);
  }
  played.step(0.0F, 0.0F, answer_given);
  REQUIRE(played.over[0]);
  const Picture expected = panel.panel(recorded.episode(), kGlimpses - 1, true);
  CHECK(differing(expected, picture.draw(0), 0, expected.cols() - kBars) == 0);
}

TEST_CASE("the verdict on an environment is that on its last answer") {
  for (const std::string scene : {"{kind: translated, canvas: [20, 30]}",
                                  "{kind: transcribe, canvas: [20, 40], num_digits: 2, "
                                  "num_distractors: 0}"})
    for (const bool right : {false, true}) {
      CAPTURE(scene);
      CAPTURE(right);
      const auto task = pictured_task(scene);
      Played played(*task, task->config.scene.num_digits);
      EnvironmentPicture picture(*task, played.environments, "name");
      std::vector<std::int64_t> answer = played.labels;
      if (!right) answer[0] = (answer[0] + 1) % 10;
      for (int t = 0; t < kGlimpses; ++t) {
        CHECK_FALSE(has_colour(picture.draw(0), kRightColour));
        CHECK_FALSE(has_colour(picture.draw(0), kWrongColour));
        played.step(0.5F, 0.5F, answer);
      }
      CHECK(has_colour(picture.draw(0), right ? kRightColour : kWrongColour));
      CHECK_FALSE(has_colour(picture.draw(0), right ? kWrongColour : kRightColour));
    }
}

}  // namespace saccade
