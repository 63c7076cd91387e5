#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "agent/looking/looking.h"
#include "attention/score.h"
#include "env/task_kinds.h"
#include "experiments/config/config_table.h"
#include "nn/error.h"

namespace saccade {
namespace {

// Throws unless `holds`, at the place of the first of `keys` that was given.
void require(bool holds, const GivenKeys& given, std::initializer_list<const char*> keys,
             const std::string& message) {
  if (holds) return;
  for (const char* key : keys)
    if (const auto found = given.find(key); found != given.end())
      throw InputError(found->second + ": " + message);
  throw InputError(message);
}

void resolve_data(const DataConfig& data, const GivenKeys& given) {
  const bool needs_path = data.source == "idx" || data.source == "folder";
  require(!needs_path || !data.path.empty(), given, {"data.path", "data.source"},
          fmt::format("data.source: {} needs data.path", data.source));
  require(data.size == 0 || data.source == "folder", given, {"data.size", "data.source"},
          fmt::format("data.size: {} has no effect with data.source: {}; it resizes a folder's "
                      "images",
                      data.size, data.source));
}

void resolve_scene(SceneConfig& scene, const GivenKeys& given) {
  if (scene.kind != "cluttered" && scene.kind != "transcribe") {
    require(scene.num_distractors == 0 || !given.contains("scene.num_distractors"), given,
            {"scene.num_distractors", "scene.kind"},
            fmt::format("scene.num_distractors: {} has no effect with scene.kind: {}; allowed: 0",
                        scene.num_distractors, scene.kind));
    scene.num_distractors = 0;
  }
  require(scene.label != "pair" || scene.num_digits == 2, given,
          {"scene.label", "scene.num_digits"},
          fmt::format("scene.label: pair needs scene.num_digits: 2, not {}", scene.num_digits));
}

// Where and what a grid kind expects; the others have neither.
void resolve_grid(AgentConfig& agent, const GivenKeys& given) {
  GlimpseConfig& glimpse = agent.glimpse;
  const GlimpseKind kind = find_glimpse_kind(glimpse.kind);
  const bool grid = kind.has_candidates;
  const bool soft_grid = grid && kind.learning == GlimpseKind::Learning::backpropagation;

  require(grid || glimpse.addressing == "none", given,
          {"attention.glimpse.addressing", "attention.glimpse.kind"},
          fmt::format("attention.glimpse.addressing: {} has no effect with attention.glimpse.kind: "
                      "{}, which has no grid; allowed: none",
                      glimpse.addressing, glimpse.kind));
  require(soft_grid || glimpse.expect == "none", given,
          {"attention.glimpse.expect", "attention.glimpse.kind"},
          fmt::format("attention.glimpse.expect: {} has no effect with attention.glimpse.kind: {}, "
                      "which takes no expectation; allowed: none",
                      glimpse.expect, glimpse.kind));
  const std::pair<const char*, double> weights[] = {
      {"attention.glimpse.entropy", glimpse.entropy},
      {"attention.glimpse.coverage", glimpse.coverage},
      {"attention.glimpse.row_penalty", glimpse.row_penalty}};
  for (const auto& [key, weight] : weights)
    require(soft_grid || weight == 0.0, given, {key, "attention.glimpse.kind"},
            fmt::format("{}: {} has no effect with attention.glimpse.kind: {}; it is a setting of "
                        "soft_grid",
                        key, weight, glimpse.kind));
  const bool equal_widths = agent.model.hidden_size == agent.model.feature_size;
  require(
      glimpse.addressing != "content" || equal_widths || !score_needs_equal_widths(glimpse.score),
      given, {"attention.glimpse.score", "model.hidden_size", "model.feature_size"},
      fmt::format("attention.glimpse.score: {} needs model.hidden_size: {} and "
                  "model.feature_size: {} to be equal; general and additive do not",
                  glimpse.score, agent.model.hidden_size, agent.model.feature_size));
}

void resolve_model(const ModelConfig& model, const GivenKeys& given) {
  require(model.core != "attention" || model.hidden_size % model.heads == 0, given,
          {"model.heads", "model.hidden_size", "model.core"},
          fmt::format("model.heads: {} does not divide model.hidden_size: {}", model.heads,
                      model.hidden_size));
}

void resolve_glimpse(GlimpseConfig& glimpse, const GivenKeys& given) {
  const GlimpseKind kind = find_glimpse_kind(glimpse.kind);
  const bool gaussian = glimpse.kind == "hard_gaussian";
  settle(glimpse);
  require(kind.learning != GlimpseKind::Learning::none || glimpse.first != "learned", given,
          {"attention.glimpse.first", "attention.glimpse.kind"},
          fmt::format("attention.glimpse.first: learned is never learned with "
                      "attention.glimpse.kind: {}",
                      glimpse.kind));
  require(gaussian || !glimpse.learn_std, given,
          {"attention.glimpse.learn_std", "attention.glimpse.kind"},
          fmt::format("attention.glimpse.learn_std has no effect with attention.glimpse.kind: {}",
                      glimpse.kind));
  require(!glimpse.learn_std || glimpse.std.from == glimpse.std.to, given,
          {"attention.glimpse.learn_std", "attention.glimpse.std"},
          fmt::format("attention.glimpse.learn_std needs one number to begin with as "
                      "attention.glimpse.std, not a ramp from {} to {}",
                      glimpse.std.from, glimpse.std.to));
}

void resolve_reinforce(const AgentConfig& agent, const GivenKeys& given) {
  const ReinforceConfig& reinforce = agent.reinforce;
  require(reinforce.advantage != "leave_one_out" || reinforce.rollouts > 1, given,
          {"reinforce.advantage", "reinforce.rollouts"},
          fmt::format("reinforce.advantage: leave_one_out needs reinforce.rollouts > 1, not {}",
                      reinforce.rollouts));
  require(
      reinforce.entropy == 0.0 || agent.glimpse.kind != "hard_gaussian" || agent.glimpse.learn_std,
      given, {"reinforce.entropy", "attention.glimpse.learn_std"},
      fmt::format("reinforce.entropy: {} has no effect without attention.glimpse.learn_std: "
                  "the entropy of a given std is constant",
                  reinforce.entropy));
}

// What a world that moves asks of the agent that acts in it.
void resolve_actions(const Config& config, const TaskKind& task, const GivenKeys& given) {
  const AgentConfig& agent = config.agent;
  const std::string& name = config.scene.kind;
  require(agent.hidden.kind == "last", given, {"attention.hidden.kind", "scene.kind"},
          fmt::format("attention.hidden.kind: {} has no effect with scene.kind: {}, whose "
                      "actions read the state of their step; allowed: last",
                      agent.hidden.kind, name));
  require(agent.model.kind == "recurrent" && find_glimpse_kind(agent.glimpse.kind).sees_motion,
          given, {"model.kind", "attention.glimpse.kind", "scene.kind"},
          fmt::format("scene.kind: {} moves while it is looked at and needs model.kind: recurrent "
                      "and an attention.glimpse.kind that takes glimpses of points or of a grid",
                      name));
  const int least = task.first_event(config.scene);
  require(agent.glimpse.num_glimpses >= least, given,
          {"attention.glimpse.num_glimpses", "scene.canvas", "scene.kind"},
          fmt::format("attention.glimpse.num_glimpses: {} ends before {}; allowed: {} and more",
                      agent.glimpse.num_glimpses, task.event, least));
  require(agent.reinforce.reward == "correct", given, {"reinforce.reward", "scene.kind"},
          fmt::format("reinforce.reward: {} has no effect with scene.kind: {}, which pays "
                      "itself; allowed: correct",
                      agent.reinforce.reward, name));
}

// What a text asks of the agent that reads it.
void resolve_text(const Config& config, const GivenKeys& given) {
  const AgentConfig& agent = config.agent;
  require(agent.glimpse.kind == "whole", given, {"attention.glimpse.kind", "scene.kind"},
          fmt::format("attention.glimpse.kind: {} cannot look at scene.kind: {}, a text; allowed: "
                      "whole",
                      agent.glimpse.kind, config.scene.kind));
  require(agent.model.kind == "recurrent", given, {"model.kind", "scene.kind"},
          fmt::format("model.kind: {} cannot read a text; allowed: recurrent", agent.model.kind));
}

// A scan walks the tiles of as many digits as it has glimpses.
void resolve_tiles(const Config& config, const GivenKeys& given) {
  const int digits = config.scene.num_digits, glimpses = config.agent.glimpse.num_glimpses;
  require(config.agent.glimpse.kind != "scan" || glimpses == digits, given,
          {"attention.glimpse.num_glimpses", "scene.num_digits", "scene.kind"},
          fmt::format("attention.glimpse.num_glimpses: {} of attention.glimpse.kind: scan miss the "
                      "tiles of scene.kind: {}; allowed: scene.num_digits: {}",
                      glimpses, config.scene.kind, digits));
}

void resolve_task(const Config& config, const GivenKeys& given) {
  const TaskKind& task = find_task_kind(config.scene.kind);
  if (task.is_tiled) resolve_tiles(config, given);
  if (task.moves()) resolve_actions(config, task, given);
  if (task.is_text) resolve_text(config, given);
  require(task.answer != AnswerKind::sequence || config.agent.hidden.kind != "self", given,
          {"attention.hidden.kind", "scene.kind"},
          fmt::format("attention.hidden.kind: self reads once and cannot say a sequence, which "
                      "scene.kind: {} asks for; allowed: last, mean, attend",
                      config.scene.kind));
}

// Sizes and kinds of attention over the states that fit together.
void resolve_hidden(const Config& config, const GivenKeys& given) {
  const AgentConfig& agent = config.agent;
  const HiddenConfig& hidden = agent.hidden;
  require(
      hidden.kind == "last" || agent.model.kind == "recurrent", given,
      {"attention.hidden.kind", "model.kind"},
      fmt::format("attention.hidden.kind: {} has no states to read with model.kind: {}; allowed: "
                  "last",
                  hidden.kind, agent.model.kind));
  if (hidden.kind != "attend") return;
  const std::string& score = hidden.attend.score;
  if (find_task_kind(config.scene.kind).answer == AnswerKind::sequence) {
    require(
        !score_needs_equal_widths(score) || agent.decoder.hidden_size == agent.model.hidden_size,
        given, {"attention.hidden.score", "decoder.hidden_size", "model.hidden_size"},
        fmt::format("attention.hidden.score: {} needs decoder.hidden_size: {} and "
                    "model.hidden_size: {} to be equal; general and additive do not",
                    score, agent.decoder.hidden_size, agent.model.hidden_size));
    return;
  }
  require(score_needs_query(score) == (hidden.query != "none"), given,
          {"attention.hidden.query", "attention.hidden.score"},
          fmt::format("attention.hidden.query: {} does not go with attention.hidden.score: {}; "
                      "location_free has no query, and the others need one (mean, last)",
                      hidden.query, score));
}

void resolve_input(const AgentConfig& agent, const GivenKeys& given) {
  require(agent.input.kind == "none" || agent.model.kind == "recurrent", given,
          {"attention.input.kind", "model.kind"},
          fmt::format("attention.input.kind: {} needs model.kind: recurrent, not {}",
                      agent.input.kind, agent.model.kind));
}

void resolve_training(AgentConfig& agent, const GivenKeys& given) {
  const TrainingConfig& training = agent.training;
  require(training.batch_size % training.lane_size == 0, given,
          {"training.batch_size", "training.lane_size"},
          fmt::format("training.batch_size: {} is not a multiple of training.lane_size: {}",
                      training.batch_size, training.lane_size));
  const int rollouts = agent.reinforce.rollouts;
  require(training.lane_size % rollouts == 0, given, {"training.lane_size", "reinforce.rollouts"},
          fmt::format("training.lane_size: {} is not a multiple of reinforce.rollouts: {}",
                      training.lane_size, rollouts));

  OptimizerConfig& optimizer = agent.training.optimizer;
  if (optimizer.final_learning_rate > optimizer.learning_rate) {
    require(!given.contains("training.final_learning_rate"), given,
            {"training.final_learning_rate", "training.learning_rate"},
            fmt::format("training.final_learning_rate: {} is above training.learning_rate: {}",
                        optimizer.final_learning_rate, optimizer.learning_rate));
    optimizer.final_learning_rate = 0.01 * optimizer.learning_rate;
  }
  require(optimizer.schedule != "exponential" || optimizer.final_learning_rate > 0.0, given,
          {"training.final_learning_rate", "training.schedule"},
          "training.schedule: exponential needs training.final_learning_rate > 0");
}

}  // namespace

void resolve(Config& config, const GivenKeys& given) {
  resolve_data(config.data, given);
  resolve_scene(config.scene, given);
  resolve_model(config.agent.model, given);
  resolve_glimpse(config.agent.glimpse, given);
  resolve_grid(config.agent, given);
  resolve_task(config, given);
  resolve_input(config.agent, given);
  resolve_hidden(config, given);
  resolve_reinforce(config.agent, given);
  resolve_training(config.agent, given);
}

}  // namespace saccade
