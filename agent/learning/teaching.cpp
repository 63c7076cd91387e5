#include "agent/learning/teaching.h"

#include <fmt/format.h>

#include "base/error.h"

namespace saccade {
namespace {

void check_teacher(const Model& teacher, const Model& learner) {
  if (!learner.answer().classifies)
    throw SettingError(
        {"training.teachers", "scene.kind"},
        "training.teachers: of an agent that does not answer one class; allowed: []");
  if (!teacher.answer().classifies || teacher.num_classes() != learner.num_classes())
    throw SettingError(
        {"training.teachers"},
        fmt::format("training.teachers: an agent that answers {}; allowed: one of {} classes",
                    teacher.answer().classifies ? fmt::format("one of {}", teacher.num_classes())
                                                : "otherwise",
                    learner.num_classes()));
}

}  // namespace

Teaching::Teaching(std::span<const Teacher> teachers, const Model& learner, int episodes,
                   int rollouts) {
  if (teachers.empty()) return;
  beliefs_ = zeros<2>(episodes, learner.num_classes());
  for (const Teacher& teacher : teachers) {
    check_teacher(teacher.model, learner);
    weights_.push_back(teacher.weights);
    rollouts_.push_back(
        std::make_unique<Rollout>(teacher.model, teacher.environments(episodes, rollouts)));
  }
}

ConstMatrix Teaching::beliefs(const RolloutRequest& request) {
  if (rollouts_.empty()) return {};
  const RolloutRequest played{.first_scene = request.first_scene,
                              .seed = request.seed,
                              .update = request.update,
                              .first_episode = request.first_episode,
                              .sampling = SamplingMode::deterministic};
  const auto classes = static_cast<int>(beliefs_.shape(1));
  const float share = 1.0F / static_cast<float>(rollouts_.size());
  beliefs_.fill(0.0F);
  for (std::size_t i = 0; i < rollouts_.size(); ++i) {
    Rollout& rollout = *rollouts_[i];
    rollout.run(weights_[i], played);
    for (int b = 0; b < rollout.episodes(); ++b) {
      const float* answer = &rollout.answer->probabilities(rollout.stopped_at(b) - 1, b, 0);
      for (int c = 0; c < classes; ++c) beliefs_(b, c) += share * answer[c];
    }
  }
  return matrix(beliefs_);
}

}  // namespace saccade
