#include "experiments/pictures/environment_picture.h"

#include <algorithm>
#include <utility>

#include "agent/looking/looking.h"
#include "base/log_range.h"
#include "experiments/pictures/colours.h"

namespace saccade {
namespace {

// Locations chosen by the caller.
class GivenLooks final : public LookRecord {
 public:
  GivenLooks(Environment& environment, int place, ConstMatrix path, const LogRange& zoom)
      : environment_(environment), place_(place), path_(path), zoom_(zoom) {}

  Gaze gaze(int t, int) override {
    const bool zooms = !zoom_.is_point();
    return {.places = one_row(path_, t).columns(0, 2),
            .weights = std::span(&kWhole, 1),
            .zoom = zooms ? static_cast<float>(zoom_.at(path_(t, 2))) : 1.0F};
  }
  void picture(int t, int, float* glimpse) const override {
    environment_.look(place_, path_.row(t),
                      {glimpse, static_cast<std::size_t>(environment_.glimpse_size())});
  }

 private:
  static constexpr float kWhole = 1.0F;

  Environment& environment_;
  int place_;
  ConstMatrix path_;
  LogRange zoom_;
};

// The answer given by the caller, as if it were certain; none yet: all are equally likely.
class GivenAnswer final : public AnswerRecord {
 public:
  GivenAnswer(const PicturedAgent& caller, const SceneFacts& facts,
              std::span<const std::int64_t> answer, double reward, double error)
      : predictions_(answer.begin(), answer.end()), error_(static_cast<float>(error)) {
    rewards = {static_cast<float>(reward)};
    const int outputs = caller.answer.outputs, classes = caller.world.spec.num_classes;
    const bool spells = caller.answer.spells;
    if (spells) {
      labels_.assign(facts.symbols.begin(), facts.symbols.begin() + facts.num_symbols - 1);
      predictions_.erase(std::ranges::find(predictions_, classes - 1), predictions_.end());
    } else if (!caller.answer.acts) {
      labels_ = {facts.label};
    }
    probabilities = zeros<3>(outputs, 1, classes);
    probabilities.fill(answer.empty() ? 1.0F / static_cast<float>(classes) : 0.0F);
    for (int s = 0; s < outputs && !answer.empty(); ++s)
      probabilities(s, 0, answer[spells ? s : 0]) = 1.0F;
  }

  std::span<const int> predictions(int) const override { return predictions_; }
  std::span<const int> labels(int) const override { return labels_; }
  float error(int) const override { return error_; }

 private:
  std::vector<int> predictions_, labels_;
  float error_;
};

// Returns the missed share of the possible reward.
double error_of(const Environment& environment, int place, const EpisodeSoFar& episode, int acts) {
  if (environment.answer_kind() == AnswerKind::actions)
    return 1.0 - episode.reward / environment.best_return(acts);
  const std::vector<int> answer(episode.answer.begin(), episode.answer.end());
  return 1.0 - environment.judge(place, answer);
}

LookTraits looks_of(const World& world) {
  const LogRange zoom = zoom_of(world.config.agent);
  return {.steps = world.config.agent.glimpse.num_glimpses,
          .zoom = zoom,
          .retina = true,
          .smooth = !zoom.is_point(),
          .pictures = world.config.retina.scales,
          .picture_side = world.config.retina.patch_size};
}

AnswerTraits answers_of(const World& world) {
  const bool spells = world.kind.answer == AnswerKind::sequence;
  const int outputs = spells ? world.spec.max_symbols : world.config.agent.glimpse.num_glimpses;
  return {.outputs = outputs, .answer_size = outputs, .spells = spells, .acts = world.kind.acts()};
}

}  // namespace

EnvironmentPicture::EnvironmentPicture(const World& world, const VectorEnvironment& environments,
                                       std::string name)
    : caller_(world, looks_of(world), answers_of(world)),
      environments_(environments),
      panel_(caller_, std::move(name)),
      canvases_(zeros<3>(caller_.look.steps, 1, world.spec.canvas.pixels())) {
  SACCADE_CHECK(caller_.look.steps == environments.rules().num_glimpses);
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
  GivenLooks looks(environment, place, episode.path, caller_.look.zoom);
  const SceneFacts& facts = environment.facts()[place];
  const double error =
      episode.ended ? error_of(environment, place, episode, caller_.look.steps) : 0.0;
  const GivenAnswer answer(caller_, facts, episode.answer, episode.reward, error);

  Picture picture((panel_.rows() + 1) / 2 * 2, (panel_.cols() + 1) / 2 * 2, kPaper);
  picture.paste(panel_.panel({looks, answer, facts, canvases_}, t, episode.ended), {0, 0});
  return picture;
}

}  // namespace saccade
