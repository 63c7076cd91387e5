#include "agent/model/check.h"

#include <fmt/format.h>

#include "agent/answering/decoder.h"
#include "agent/cores/core.h"
#include "agent/credit/advantage.h"
#include "agent/credit/critic.h"
#include "agent/credit/reward.h"
#include "agent/looking/glimpse_rules.h"
#include "agent/looking/location_estimator.h"
#include "agent/looking/looking.h"
#include "attention/score.h"
#include "base/error.h"

namespace saccade {
namespace {

void check_model(const ModelConfig& model) {
  check_core(model.core, {.features = model.feature_size,
                          .hidden = model.hidden_size,
                          .heads = model.heads,
                          .depth = model.depth});
}

void check_glimpse(const AgentConfig& config) {
  check(config.glimpse);
  if (config.glimpse.addressing == "content")
    check_score(config.glimpse.score, config.model.hidden_size, config.model.feature_size);
}

void check_context(const AgentConfig& config, AnswerKind answer) {
  const std::string& context = config.model.context;
  if (context == "none") return;
  if (config.model.kind != "recurrent")
    throw InputError(fmt::format("model.context: {} needs model.kind: recurrent, not {}", context,
                                 config.model.kind));
  if (!find_glimpse_kind(config.glimpse.kind).can_have_context)
    throw InputError(
        fmt::format("model.context: {} has no effect with attention.glimpse.kind: {}, where no "
                    "locator learns to look; allowed: none",
                    context, config.glimpse.kind));
  if (config.glimpse.addressing == "content")
    throw InputError(
        fmt::format("model.context: {} has no effect with attention.glimpse.addressing: content, "
                    "which has no locator; allowed: location",
                    context));
  if (answer == AnswerKind::actions)
    throw InputError(
        fmt::format("model.context: {} is of a canvas that stands still, which actions move; "
                    "allowed: none",
                    context));
}

void check_input(const AgentConfig& config) {
  if (config.input.kind != "none" && config.model.kind != "recurrent")
    throw InputError(fmt::format("attention.input.kind: {} needs model.kind: recurrent, not {}",
                                 config.input.kind, config.model.kind));
}

void check_hidden(const AgentConfig& config, AnswerKind answer) {
  const std::string& kind = config.hidden.kind;
  if (kind != "last" && config.model.kind != "recurrent")
    throw InputError(
        fmt::format("attention.hidden.kind: {} has no states to read with model.kind: {}; allowed: "
                    "last",
                    kind, config.model.kind));
  switch (answer) {
    case AnswerKind::one_class:
      return check(config.hidden);
    case AnswerKind::sequence:
      check(config.decoder, config.hidden, config.model.hidden_size);
      if (find_reward(config.reinforce.reward).by_step && kind == "attend" &&
          config.hidden.mask.starts_with('0'))
        throw InputError(
            fmt::format("reinforce.reward: {} reads what is said after the first glimpse, of which "
                        "attention.hidden.mask: {} allows nothing",
                        config.reinforce.reward, config.hidden.mask));
      return;
    case AnswerKind::actions:
      if (kind != "last")
        throw InputError(
            fmt::format("attention.hidden.kind: {} has no effect on actions, which read the state "
                        "of their step; allowed: last",
                        kind));
  }
}

void check_estimator(const AgentConfig& config) {
  const std::string& estimator = config.reinforce.estimator;
  if (!find_location_estimator(estimator).by_path) return;
  if (config.model.kind != "recurrent")
    throw InputError(fmt::format("reinforce.estimator: {} needs model.kind: recurrent, not {}",
                                 estimator, config.model.kind));
  if (!find_glimpse_kind(config.glimpse.kind).has_path)
    throw InputError(
        fmt::format("reinforce.estimator: {} has no effect with attention.glimpse.kind: {}, which "
                    "draws no location that the loss could be derived by; allowed: score",
                    estimator, config.glimpse.kind));
}

}  // namespace

void check_learning(const AgentConfig& config) {
  const TrainingConfig& training = config.training;
  const ReinforceConfig& reinforce = config.reinforce;
  check_advantage(reinforce.advantage, reinforce.rollouts);
  check_estimator(config);
  check_trace(reinforce);
  if (reinforce.entropy != 0.0 && !config.glimpse.learn_std &&
      find_glimpse_kind(config.glimpse.kind).has_std)
    throw InputError(
        fmt::format("reinforce.entropy: {} has no effect without attention.glimpse.learn_std: "
                    "the entropy of a given std is constant",
                    reinforce.entropy));
  if (training.lane_size < 1 || training.batch_size % training.lane_size != 0)
    throw InputError(
        fmt::format("training.batch_size: {} is not a multiple of training.lane_size: {}",
                    training.batch_size, training.lane_size));
  if (training.lane_size % reinforce.rollouts != 0)
    throw InputError(
        fmt::format("training.lane_size: {} is not a multiple of reinforce.rollouts: {}",
                    training.lane_size, reinforce.rollouts));
  check(training.optimizer);
}

void check(const AgentConfig& config, AnswerKind answer) {
  check_model(config.model);
  check_glimpse(config);
  check_context(config, answer);
  check_input(config);
  check_hidden(config, answer);
  check_critic(config.reinforce, answer);
  check_learning(config);
}

}  // namespace saccade
