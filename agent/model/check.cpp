#include "agent/model/check.h"

#include <fmt/format.h>

#include "agent/answering/decoder.h"
#include "agent/answering/stopping.h"
#include "agent/cores/core.h"
#include "agent/credit/advantage.h"
#include "agent/credit/critic.h"
#include "agent/credit/reward.h"
#include "agent/looking/context_network.h"
#include "agent/looking/grid/addressing.h"
#include "agent/looking/location_estimator.h"
#include "agent/looking/looking.h"
#include "attention/grid.h"
#include "attention/hidden.h"
#include "attention/moves.h"
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

// Of moves that are not absolute.
void check_moves(const GlimpseConfig& glimpse) {
  const GlimpseKind& kind = find_glimpse_kind(glimpse.kind);
  if (kind.takes_glimpses && !kind.has_moves)
    throw SettingError({"attention.glimpse.moves", "attention.glimpse.kind"},
                       fmt::format("attention.glimpse.moves: {} with attention.glimpse.kind: {}, "
                                   "which looks at many places at once; allowed: absolute, or a "
                                   "kind that looks at one place",
                                   glimpse.moves, glimpse.kind));
  if (sees_all_candidates(glimpse))
    throw SettingError(
        {"attention.glimpse.moves", "attention.glimpse.addressing"},
        fmt::format("attention.glimpse.moves: {} with attention.glimpse.addressing: {}, which sees "
                    "all candidates before the first look; allowed: absolute, or addressing: "
                    "location",
                    glimpse.moves, glimpse.addressing));
  if (kind.has_candidates) grid_moves(glimpse.grid);
}

void check_glimpse(const AgentConfig& config) {
  const GlimpseConfig& glimpse = config.glimpse;
  if (glimpse.learn_std && glimpse.std.from != glimpse.std.to)
    throw SettingError({"attention.glimpse.learn_std", "attention.glimpse.std"},
                       fmt::format("attention.glimpse.learn_std needs one number to begin with as "
                                   "attention.glimpse.std, not a ramp from {} to {}",
                                   glimpse.std.from, glimpse.std.to));
  if (moves_by_steps(glimpse.moves)) check_moves(glimpse);
  if (const LogRange zoom = zoom_of(config); zoom.is_point() && zoom != LogRange{})
    throw SettingError({"attention.glimpse.zoom"},
                       fmt::format("attention.glimpse.zoom: {} is the same at every look; allowed: "
                                   "1, or {{from, to}} with from < to",
                                   zoom.from));
  if (find_glimpse_kind(glimpse.kind).has_candidates && addresses_by_content(glimpse))
    check_score(glimpse.score, config.model.hidden_size, config.model.feature_size);
}

void check_context(const AgentConfig& config, AnswerKind answer) {
  if (has_context(config.model) && answer == AnswerKind::actions)
    throw SettingError(
        {"model.context"},
        fmt::format("model.context: {} is of a canvas that stands still, which actions move; "
                    "allowed: none",
                    config.model.context));
}

void check_hidden(const AgentConfig& config, AnswerKind answer) {
  if (answer == AnswerKind::one_class) check(config.hidden);
  if (answer != AnswerKind::sequence) return;
  check(config.decoder, config.hidden, config.model.hidden_size);
  if (!hidden_attends(config.hidden.kind) || !config.hidden.mask.starts_with('0')) return;
  const auto refuse = [&](const std::string& key, const std::string& value) {
    throw SettingError({key, "attention.hidden.mask"},
                       fmt::format("{}: {} reads what is said after the first glimpse, of which "
                                   "attention.hidden.mask: {} allows nothing",
                                   key, value, config.hidden.mask));
  };
  if (find_reward(config.reinforce.reward).by_step)
    refuse("reinforce.reward", config.reinforce.reward);
  if (takes_glimpses(config) && find_stop_kind(config.glimpse.stop).stops)
    refuse("attention.glimpse.stop", config.glimpse.stop);
}

}  // namespace

void check_learning(const AgentConfig& config) {
  const TrainingConfig& training = config.training;
  const ReinforceConfig& reinforce = config.reinforce;
  check_advantage(reinforce.advantage, reinforce.rollouts);
  find_location_estimator(reinforce.estimator);
  if (training.lane_size < 1 || training.batch_size % training.lane_size != 0)
    throw SettingError(
        {"training.batch_size", "training.lane_size"},
        fmt::format("training.batch_size: {} is not a multiple of training.lane_size: {}",
                    training.batch_size, training.lane_size));
  if (training.lane_size % reinforce.rollouts != 0)
    throw SettingError(
        {"training.lane_size", "reinforce.rollouts"},
        fmt::format("training.lane_size: {} is not a multiple of reinforce.rollouts: {}",
                    training.lane_size, reinforce.rollouts));
  check(training.optimizer);
}

namespace {

// A reward of beliefs is computed from the classes of an answer after every look.
void check_reward(const AgentConfig& config, AnswerKind answer) {
  const std::string& reward = config.reinforce.reward;
  if (answer == AnswerKind::actions || !find_reward(reward).reads_beliefs()) return;
  if (answer == AnswerKind::sequence)
    throw SettingError(
        {"reinforce.reward"},
        fmt::format("reinforce.reward: {}, of an answer that is a sequence; allowed: of one class",
                    reward));
  if (takes_glimpses(config) && find_stop_kind(config.glimpse.stop).stops)
    throw SettingError({"reinforce.reward", "attention.glimpse.stop"},
                       fmt::format("reinforce.reward: {}, with attention.glimpse.stop: {}; "
                                   "allowed: agents that always look as often",
                                   reward, config.glimpse.stop));
}

}  // namespace

void check(const AgentConfig& config, AnswerKind answer) {
  check_model(config.model);
  check_glimpse(config);
  if (takes_glimpses(config)) check_stop(config.glimpse, answer);
  check_context(config, answer);
  check_hidden(config, answer);
  check_critic(config.reinforce, answer);
  check_reward(config, answer);
  check_learning(config);
}

}  // namespace saccade
