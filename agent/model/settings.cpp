#include "agent/model/settings.h"

#include <functional>

#include "agent/answering/stopping.h"
#include "agent/cores/core.h"
#include "agent/credit/advantage.h"
#include "agent/credit/critic.h"
#include "agent/credit/reward.h"
#include "agent/looking/context_network.h"
#include "agent/looking/glimpse_input.h"
#include "agent/looking/location_estimator.h"
#include "agent/looking/looking.h"
#include "attention/moves.h"
#include "attention/score.h"
#include "env/task_kinds.h"

namespace saccade {
namespace {

using Learning = GlimpseKind::Learning;

// Conditions on the kinds of an agent and its task, by the traits of their tables.
struct Conditions {
  AgentConfig& agent;
  SceneConfig& scene;

  template <class Trait>
  Condition task(const Trait& trait) const {
    return when(&scene.kind, task_kinds(),
                [&](const std::string& name) { return trait(find_task_kind(name)); });
  }
  template <class Trait>
  Condition glimpse(const Trait& trait) const {
    return when(&agent.glimpse.kind, glimpse_kinds(),
                [&](const std::string& name) { return trait(find_glimpse_kind(name)); });
  }
  template <class Trait>
  Condition stop(const Trait& trait) const {
    return when(&agent.glimpse.stop, stop_kinds(),
                [&](const std::string& name) { return trait(find_stop_kind(name)); });
  }
  Condition advantage(bool Advantage::*trait) const {
    return when(&agent.reinforce.advantage, advantage_estimators(),
                [&](const std::string& name) { return find_advantage(name).*trait; });
  }

  Condition recurrent() const { return when(&agent.model.kind, Names{"recurrent"}); }
  Condition glimpses() const {
    return glimpse([](const GlimpseKind& kind) { return kind.takes_glimpses; });
  }
  Condition actions() const {
    return task([](const TaskKind& kind) { return kind.acts(); });
  }
  Condition answers() const {
    return task([](const TaskKind& kind) { return !kind.acts(); });
  }
  Condition one_class() const {
    return task([](const TaskKind& kind) { return kind.answer == AnswerKind::one_class; });
  }
  Condition sequences() const {
    return task([](const TaskKind& kind) { return kind.answer == AnswerKind::sequence; });
  }
  // A locator, which a network places the glimpses by.
  Condition locator() const {
    return glimpse([](const GlimpseKind& kind) { return kind.can_have_context; });
  }
  Condition samples_stops() const {
    return stop([](const StopKind& kind) { return kind.sampled; });
  }
  Condition learned_by_reinforce() const {
    return glimpse([](const GlimpseKind& kind) { return kind.learning == Learning::reinforce; });
  }
  // Looks whose gradient is not by the path alone.
  Condition scored() const {
    return glimpse([](const GlimpseKind& kind) { return !kind.has_path; }) ||
           when(&agent.reinforce.estimator, location_estimators(),
                [](const std::string& name) { return find_location_estimator(name).by_score; });
  }
  // REINFORCE of looks, of when to stop, or of actions; or what may be used in its place.
  Condition reinforce() const { return learned_by_reinforce() || actions() || samples_stops(); }
  // REINFORCE of any of them; of looks or stops.
  Needs by_score() const { return reinforce() && (scored() || actions() || samples_stops()); }
  Needs looks_by_score() const {
    return (learned_by_reinforce() || samples_stops()) && (scored() || samples_stops());
  }
};

Settings describe_model(ModelConfig& model, const Conditions& of) {
  const Condition recurrent = of.recurrent(), glimpses = of.glimpses(), locator = of.locator();
  const Condition state_alone = unless(&of.agent.glimpse.addressing, "content");
  const Condition heads = when(&model.core, Names{"attention"});
  const Condition conv = when(&model.glimpse_network, Names{"conv"});
  const Condition residual = when(&model.glimpse_network, Names{"residual"});
  const Condition filters = unless(&model.glimpse_network, "mlp");
  const Condition context = unless(&model.context, "none");
  Settings all = {{"model.kind", &model.kind, model_kinds(),
                   "Network: recurrent, or one that sees the whole canvas (mlp, cnn)"}};
  append(all,
         {{"model.core", &model.core, core_kinds(), "Recurrent network"},
          {"model.hidden_size", &model.hidden_size, kLayerWidth, "Width of the core's state"},
          {"model.heads", &model.heads, closed(1, 64),
           "Number of attention heads; divides hidden_size", heads},
          {"model.depth", &model.depth, closed(1, 16), "Number of attention layers", heads},
          {"model.glimpse_network", &model.glimpse_network, glimpse_networks(),
           "Network that sees a glimpse", glimpses},
          {"model.glimpse_filters", &model.glimpse_filters, closed(1, 1024),
           "Number of filters on each scale (conv), or of the first stage (residual)", filters},
          {"model.glimpse_kernel", &model.glimpse_kernel, closed(1, 31),
           "Side of conv's filters, in pixels", conv},
          {"model.glimpse_stride", &model.glimpse_stride, closed(1, 31),
           "Stride of conv's filters, in pixels", conv},
          {"model.glimpse_stages", &model.glimpse_stages, closed(1, 4),
           "Number of stages, each with half the resolution and twice the filters of the last",
           residual},
          {"model.glimpse_blocks", &model.glimpse_blocks, closed(1, 16),
           "Number of residual blocks in a stage", residual},
          {"model.glimpse_hidden", &model.glimpse_hidden, kLayerWidth, "Width of the `what` layer",
           glimpses},
          {"model.location_hidden", &model.location_hidden, kLayerWidth,
           "Width of the `where` layer", glimpses},
          {"model.locator_hidden", &model.locator_hidden, kLayerWidth,
           "Width of the locator's hidden layer", locator && state_alone},
          {"model.context", &model.context, contexts(),
           "View of the whole canvas that the locator gets", locator && state_alone},
          {"model.context_size", &model.context_size, closed(12, 24),
           "Side of the thumbnail, in pixels", context},
          {"model.context_hidden", &model.context_hidden, kLayerWidth,
           "Width of the layer that reads the thumbnail", context}},
         recurrent);
  append(all, {{"model.feature_size", &model.feature_size, kLayerWidth,
                "Width of the feature of a glimpse, or of the whole canvas (mlp, cnn)",
                glimpses || when(&model.kind, Names{"mlp", "cnn"})}});
  append(all, {{"model.canvas_hidden", &model.canvas_hidden, kLayerWidth,
                "Width of the mlp's hidden layer", when(&model.kind, Names{"mlp"})}});
  append(all,
         {{"model.channels", &model.channels, closed(1, 1024),
           "Numbers of channels of the cnn's first and second layer"},
          {"model.kernel_size", &model.kernel_size, closed(1, 31),
           "Side of the cnn's filters, in pixels"}},
         when(&model.kind, Names{"cnn"}));
  return all;
}

// Candidates of a grid, and how they are weighed.
Settings describe_grid(GlimpseConfig& glimpse) {
  const Condition steps = when(&glimpse.moves, move_kinds(), moves_by_steps);
  const Condition fixed = when(&glimpse.moves, move_kinds(), std::not_fn(moves_by_steps));
  const Condition untiled = when_zero(&glimpse.grid.tiles);
  const Condition content = when(&glimpse.addressing, Names{"content"});
  return {{"attention.glimpse.grid", &glimpse.grid.cells, closed(1, 64),
           "Number of candidate places or steps (rows, cols). Default: enough to cover the canvas, "
           "or [5, 5] steps",
           untiled || steps},
          {"attention.glimpse.stride", &glimpse.grid.stride, closed(1, 512),
           "Distance of neighbouring candidates, in pixels", untiled && fixed},
          {"attention.glimpse.tiles", &glimpse.grid.tiles, closed(0, 64),
           "Number of tiles (rows, cols) of the canvas, each a candidate. [0, 0]: a grid instead",
           fixed},
          {"attention.glimpse.addressing", &glimpse.addressing, addressings(),
           "Basis of the candidates' probabilities: the state alone, or what is seen there"},
          {"attention.glimpse.score", &glimpse.score, score_kinds(),
           "Score of a candidate's feature against the state", content},
          {"attention.glimpse.score_hidden", &glimpse.score_hidden, kLayerWidth,
           "Width of the score's hidden layer",
           content && when(&glimpse.score, score_kinds(), score_has_hidden)}};
}

// The width of the policy of points and of their pattern, and their zoom.
Settings describe_policy(GlimpseConfig& glimpse, const Conditions& of) {
  const Condition has_std = of.glimpse([](const GlimpseKind& kind) { return kind.has_std; });
  const Condition has_width =
      of.glimpse([](const GlimpseKind& kind) { return kind.has_std || kind.has_pattern; });
  Settings all = {{"attention.glimpse.std", &glimpse.std, closed(1e-4, 4),
                   "Standard deviation of the location policy, in half canvases or longest steps",
                   has_width && Needs(has_std || unless(&glimpse.spread, 0.0))},
                  {"attention.glimpse.learn_std", &glimpse.learn_std, kUnbounded,
                   "Whether that standard deviation is trained", has_std}};
  append(all,
         {{"attention.glimpse.spread", &glimpse.spread, closed(0, 4),
           "Width of the deterministic pass, and of soft_point in training. 0: at the policy's "
           "mean, or its most probable place. 1: about as wide as the policy"}},
         of.glimpse([](const GlimpseKind& kind) {
           return kind.learning == Learning::reinforce || kind.has_pattern;
         }));
  append(all,
         {{"attention.glimpse.zoom", &glimpse.zoom, closed(1, 2048),
           "Canvas pixels, along a side, in a pixel of a glimpse's finest scale: 1, or the range "
           "{from, to} that each look chooses from"},
          {"attention.glimpse.zoom_std", &glimpse.zoom_std, closed(1e-4, 4),
           "Standard deviation of the zoom's policy, in half ranges of its logarithm",
           when_wide(&glimpse.zoom) && has_std}},
         of.glimpse([](const GlimpseKind& kind) { return kind.has_zoom; }));
  return all;
}

Settings describe_stop(GlimpseConfig& glimpse, const Conditions& of) {
  return {
      {"attention.glimpse.stop", &glimpse.stop, stop_kinds(),
       "Rule by which an agent stops looking and answers early"},
      {"attention.glimpse.stop_price", &glimpse.stop_price, kLossWeight,
       "Price of a look after the first: reward lost; for `expected` also a term of the loss",
       of.stop([](const StopKind& kind) { return kind.learned(); })},
      {"attention.glimpse.stop_threshold", &glimpse.stop_threshold, below(0, 1),
       "Probability above which it stops. 0: 0.9 of the answer, 0.5 of having stopped if learned",
       of.stop([](const StopKind& kind) { return kind.stops; })},
      {"attention.glimpse.stop_prior", &glimpse.stop_prior, closed(1e-4, 0.9999),
       "Probability of stopping after a look in the geometric prior",
       of.stop([](const StopKind& kind) { return kind.expected; })},
      {"attention.glimpse.stop_prior_weight", &glimpse.stop_prior_weight, kLossWeight,
       "Weight of the divergence from that prior",
       of.stop([](const StopKind& kind) { return kind.expected; })}};
}

Settings describe_glimpse(GlimpseConfig& glimpse, const Conditions& of) {
  const Condition grids = of.glimpse([](const GlimpseKind& kind) { return kind.has_candidates; });
  const Condition expects = of.glimpse([](const GlimpseKind& kind) {
    return kind.has_candidates && kind.learning == Learning::backpropagation;
  });
  const Condition learns =
      of.glimpse([](const GlimpseKind& kind) { return kind.learning != Learning::none; });
  // The loss is derived by the location of a glimpse.
  const Condition derived = of.glimpse([](const GlimpseKind& kind) {
    return !kind.has_candidates && kind.learning == Learning::backpropagation;
  }) || when(&of.agent.reinforce.estimator, location_estimators(),
             [](const std::string& name) { return find_location_estimator(name).by_path; });
  Settings all = {{"attention.glimpse.kind", &glimpse.kind, glimpse_kinds(),
                   "Glimpse mechanism: who chooses where to look, and how that is learned"},
                  {"attention.glimpse.num_glimpses", &glimpse.num_glimpses, closed(1, 256),
                   "Number of glimpses in an episode", of.glimpses()},
                  {"attention.glimpse.first", &glimpse.first, first_glimpses(),
                   "Location of the first glimpse", learns && of.glimpses()}};
  append(all,
         {{"attention.glimpse.moves", &glimpse.moves, move_kinds(),
           "Meaning of an action: a location, or a step from the last location", of.glimpses()},
          {"attention.glimpse.max_step", &glimpse.max_step, closed(1e-3, 2),
           "Length of the longest step, in half canvases",
           when(&glimpse.moves, move_kinds(), moves_by_steps)}});
  append(all, describe_policy(glimpse, of));
  append(all, describe_grid(glimpse), grids);
  append(all,
         {{"attention.glimpse.expect", &glimpse.expect, expectations(),
           "Quantity whose expectation over the candidates is read"}},
         expects);
  append(all,
         {{"attention.glimpse.temperature", &glimpse.temperature, closed(1e-4, 1000),
           "Temperature by which the logits are divided"}},
         grids);
  append(all,
         {{"attention.glimpse.entropy", &glimpse.entropy, kLossWeight,
           "Weight of the bonus for the entropy of the candidates' weights"},
          {"attention.glimpse.coverage", &glimpse.coverage, kLossWeight,
           "Weight of the penalty on candidates that are looked at too little or too much"},
          {"attention.glimpse.row_penalty", &glimpse.row_penalty, kLossWeight,
           "Weight of the penalty on glimpses that are alike"}},
         expects);
  append(all, describe_stop(glimpse, of), of.glimpses());
  append(all, {{"attention.glimpse.filters", &glimpse.filters, closed(1, 128),
                "Number of Gaussian filters on a side of the window",
                of.glimpse([](const GlimpseKind& kind) { return kind.has_filters; })},
               {"attention.glimpse.detach_state", &glimpse.detach_state, kUnbounded,
                "Whether the gradient of a location ends at the locator's state", derived}});
  append(all,
         {{"attention.glimpse.size", &glimpse.size, closed(0, 2048),
           "Size (rows, cols) to which the canvas is shrunk, in pixels. [0, 0]: as it is"},
          {"attention.glimpse.order", &glimpse.order, reading_orders(),
           "Order in which the canvas is read"}},
         of.glimpse([](const GlimpseKind& kind) { return kind.has_order; }));
  append(all, describe(glimpse.own, "attention.glimpse", &glimpse.kind), of.recurrent());
  return all;
}

Settings describe_reinforce(ReinforceConfig& reinforce, const Conditions& of) {
  const Condition hidden = when(&reinforce.critic, critic_kinds(), critic_has_hidden);
  const Condition actions = of.actions();
  const Condition moves_entropy = of.glimpse([](const GlimpseKind& kind) {
    return kind.learning == Learning::reinforce && !kind.has_std;
  }) || when(&of.agent.glimpse.learn_std) ||
                                  of.samples_stops();
  const Condition traces =
      when(&reinforce.reward, reward_kinds(),
           [](const std::string& name) { return find_reward(name).by_step; }) ||
      of.advantage(&Advantage::traces);
  const Condition baseline = of.advantage(&Advantage::reads_baseline);
  Settings all = {
      {"reinforce.rollouts", &reinforce.rollouts, closed(1, 1024),
       "Number of episodes that share a scene"},
      {"reinforce.estimator", &reinforce.estimator, location_estimators(),
       "Estimator of the gradient of sampled locations",
       of.recurrent() && of.glimpse([](const GlimpseKind& kind) { return kind.has_path; }) &&
           of.reinforce()},
      {"reinforce.entropy", &reinforce.entropy, kLossWeight,
       "Weight of the bonus for the entropy of the policy of looks and stops",
       moves_entropy && of.reinforce()},
      {"reinforce.weight", &reinforce.weight, kLossWeight,
       "Weight of the REINFORCE term of looks and stops", of.looks_by_score()}};
  append(
      all,
      {{"reinforce.advantage", &reinforce.advantage, advantage_estimators(),
        "Estimator of the advantage"},
       {"reinforce.critic", &reinforce.critic, critic_kinds(), "Network that predicts the return",
        baseline},
       {"reinforce.critic_hidden", &reinforce.critic_hidden, kLayerWidth,
        "Width of the critic's hidden layer", baseline && hidden},
       {"reinforce.reward", &reinforce.reward, reward_kinds(), "Reward of an answer", of.answers()},
       {"reinforce.baseline_weight", &reinforce.baseline_weight, kLossWeight,
        "Weight of the critic's loss", baseline},
       {"reinforce.shared_baseline", &reinforce.shared_baseline, kUnbounded,
        "Whether the critic's loss trains the core", baseline},
       {"reinforce.constant", &reinforce.constant, closed(0, 1),
        "Baseline of the advantage `constant`", when(&reinforce.advantage, Names{"constant"})},
       {"reinforce.trace", &reinforce.trace, closed(0, 1), "Trace decay lambda of later rewards",
        traces},
       {"reinforce.discount", &reinforce.discount, closed(0, 1),
        "Discount factor of rewards, per step", actions},
       {"reinforce.action_entropy", &reinforce.action_entropy, kLossWeight,
        "Weight of the bonus for the entropy of the actions", actions},
       {"reinforce.ema_decay", &reinforce.ema_decay, kDecayRate,
        "Decay of the moving average of returns", of.advantage(&Advantage::averages)}},
      of.by_score());
  append(all, describe(reinforce.own, "reinforce", &reinforce.reward),
         of.by_score() && Needs(of.answers()));
  return all;
}

Settings describe_training(TrainingConfig& training, const Conditions& of) {
  Settings all = {{"training.episodes", &training.episodes, closed(1, kMaxEpisodes),
                   "Number of training episodes"},
                  {"training.batch_size", &training.batch_size, closed(1, 65536),
                   "Number of episodes in an update"},
                  {"training.lane_size", &training.lane_size, closed(1, 65536),
                   "Number of episodes that a thread takes at a time"}};
  append(all, describe(training.optimizer));
  append(
      all,
      {{"training.locator_factor", &training.locator_factor, closed(1e-6, 1000),
        "Factor on the learning rate of what places glimpses: the locator, or the scores of a grid",
        of.recurrent() && of.locator()},
       {"training.baseline_factor", &training.baseline_factor, closed(1e-6, 1000),
        "Factor on the learning rate of the critic",
        of.advantage(&Advantage::reads_baseline) && of.by_score()},
       {"training.freeze", &training.freeze, kUnbounded,
        "Parts that keep their first weights, by the beginnings of their names"},
       {"training.classifier_weight", &training.classifier_weight, kLossWeight,
        "Weight of the cross-entropy at the last step", of.answers()},
       {"training.step_loss", &training.step_loss, kLossWeight,
        "Weight of the mean cross-entropy of the earlier steps",
        of.recurrent() && of.one_class()}});
  return all;
}

}  // namespace

Settings describe(AgentConfig& agent, SceneConfig& scene) {
  const Conditions of{agent, scene};
  const Condition recurrent = of.recurrent();
  Settings all = describe_model(agent.model, of);
  append(all, describe_glimpse(agent.glimpse, of), recurrent);
  append(all, describe(agent.input), recurrent);
  append(all, describe(agent.hidden, of.one_class()), recurrent && of.answers());
  append(all,
         {{"decoder.core", &agent.decoder.core, recurrent_core_kinds(),
           "Recurrent network that writes the sequence"},
          {"decoder.hidden_size", &agent.decoder.hidden_size, kLayerWidth,
           "Width of the decoder's state"}},
         of.sequences());
  append(all, describe_reinforce(agent.reinforce, of));
  append(all, describe_training(agent.training, of));
  return all;
}

}  // namespace saccade
