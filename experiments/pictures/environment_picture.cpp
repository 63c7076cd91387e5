#include "experiments/pictures/environment_picture.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "experiments/pictures/colours.h"

namespace saccade {
namespace {

[[noreturn]] void is_only_drawn() {
  throw std::logic_error("an episode that is only drawn was played");
}

// Locations chosen by the caller.
class GivenLook final : public Look {
 public:
  GivenLook(Environment& environment, int place, ConstMatrix path)
      : environment_(environment), place_(place), path_(path) {}

  Gaze gaze(int t, int) override { return {one_row(path_, t), std::span(&kWhole, 1)}; }
  void picture(int t, int, float* glimpse) const override {
    environment_.look(place_, path_(t, 0), path_(t, 1),
                      {glimpse, static_cast<std::size_t>(environment_.glimpse_size())});
  }

  void begin(std::span<const float>) override { is_only_drawn(); }
  void read(int, std::span<const float>) override { is_only_drawn(); }
  void finish_backward(std::span<float>, Matrix, std::span<const float>) override {
    is_only_drawn();
  }
  void input_backward(Matrix, Tensor<3>&, ConstMatrix, std::span<const float>) override {
    is_only_drawn();
  }

 private:
  static constexpr float kWhole = 1.0F;

  Environment& environment_;
  int place_;
  ConstMatrix path_;
};

// Answers given by the caller, and their reward.
class GivenAnswer final : public Answer {
 public:
  GivenAnswer(const Model& model, const SceneFacts& facts, std::span<const std::int64_t> said)
      : said_(said.begin(), said.end()) {
    const AnswerTraits& traits = model.answer();
    const int classes = model.num_classes();
    if (traits.spells) {
      truth_.assign(facts.symbols.begin(), facts.symbols.begin() + facts.num_symbols - 1);
      said_.erase(std::ranges::find(said_, classes - 1), said_.end());
    } else if (!traits.acts) {
      truth_ = {facts.label};
    }
    probabilities = zeros<3>(traits.outputs, 1, classes);
    probabilities.fill(said.empty() ? 1.0F / static_cast<float>(classes) : 0.0F);
    for (int s = 0; s < traits.outputs && !said.empty(); ++s)
      probabilities(s, 0, said[traits.spells ? s : 0]) = 1.0F;
  }
  void judge(double earned, double error) {
    rewards = {static_cast<float>(earned)};
    error_ = static_cast<float>(error);
  }

  std::span<const int> predictions(int) const override { return said_; }
  std::span<const int> labels(int) const override { return truth_; }
  float error(int) const override { return error_; }

  void begin() override { is_only_drawn(); }
  void step(const StepContext&) override { is_only_drawn(); }
  void earned(Matrix) const override { is_only_drawn(); }
  AnswerLoss backward(std::span<float>, const Credit&, std::span<const float>) override {
    is_only_drawn();
  }
  void logit_backward(std::span<float>, int, std::span<const int>,
                      std::span<const float>) override {
    is_only_drawn();
  }
  ConstMatrix logits(int) const override { is_only_drawn(); }
  int chosen(int, int) const override { is_only_drawn(); }

 private:
  std::vector<int> said_, truth_;
  float error_ = 0.0F;
};

// Returns the missed share of the possible reward.
double error_of(const Environment& environment, int place, const EpisodeSoFar& episode, int acts) {
  if (environment.answer_kind() == AnswerKind::actions)
    return 1.0 - episode.earned / environment.best_return(acts);
  const std::vector<int> said(episode.said.begin(), episode.said.end());
  return 1.0 - environment.judge(place, said);
}

}  // namespace

EnvironmentPicture::EnvironmentPicture(const Task& task, const VectorEnvironment& environments,
                                       std::string name)
    : task_(task),
      environments_(environments),
      panel_(task, std::move(name)),
      rollout_(task.model, task.environments(Split::train)(1, 1)),
      canvases_(zeros<3>(task.model.num_glimpses(), 1, task.model.canvas().pixels())) {
  SACCADE_CHECK(task.model.num_glimpses() == environments.rules().num_glimpses);
}

Picture EnvironmentPicture::draw(int i) {
  Environment& environment = environments_.environment_of(i);
  const int place = VectorEnvironment::place_of(i);
  const EpisodeSoFar episode = environments_.episode(i);
  // The last answer uses the looks before it.
  const int t = episode.path.rows - (episode.ended ? 2 : 1);

  Tensor<2> canvases = zeros<2>(environment.episodes(), environment.canvas().pixels());
  environment.view(matrix(canvases));
  std::copy_n(&canvases(place, 0), canvases.shape()[1], &canvases_(t, 0, 0));
  rollout_.look = std::make_unique<GivenLook>(environment, place, episode.path);
  auto answer =
      std::make_unique<GivenAnswer>(task_.model, environment.facts()[place], episode.said);
  if (episode.ended)
    answer->judge(episode.earned,
                  error_of(environment, place, episode, environments_.rules().num_glimpses));
  rollout_.answer = std::move(answer);

  Picture picture((panel_.rows() + 1) / 2 * 2, (panel_.cols() + 1) / 2 * 2, kPaper);
  picture.paste(panel_.panel({rollout_, canvases_, 0}, t, episode.ended), {0, 0});
  return picture;
}

}  // namespace saccade
