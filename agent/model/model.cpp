#include "agent/model/model.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "agent/credit/advantage.h"

namespace saccade {
namespace {

// Order of the parameters in a block, and in every checkpoint, by name prefix.
constexpr std::array<std::string_view, 12> kOrder = {
    "canvas.",     "glimpse.", "gate.", "core.",     "locator.",      "hidden.",
    "classifier.", "decoder.", "stop.", "baseline.", "locator.first", "locator.log_std"};

AgentConfig settled(AgentConfig config) {
  settle(config.glimpse);
  if (!takes_glimpses(config)) config.glimpse.stop = "none";
  return config;
}

std::unique_ptr<const Core> core_of(const ModelConfig& model, const LookTraits& look,
                                    ParameterLayout& layout) {
  if (!look.recurrent) return make_identity_core(look.feature_size);
  return make_core(model.core, "core",
                   {.features = look.feature_size,
                    .hidden = model.hidden_size,
                    .heads = model.heads,
                    .depth = model.depth},
                   layout);
}

}  // namespace

Model::Model(const AgentConfig& config, const ObservationSpec& spec)
    : config_(settled(config)),
      spec_(spec),
      looking(make_looking(config_, spec, layout_)),
      gate(input_has_gate(config_.input.kind)
               ? std::optional<InputGate>(std::in_place, config_.input, "gate", look().feature_size,
                                          config_.model.hidden_size, layout_)
               : std::optional<InputGate>()),
      core(core_of(config_.model, look(), layout_)),
      answering(make_answering(config_, spec, state_size(), num_glimpses(), layout_)),
      baseline(first_decision() < look().steps || (look().looks && !look().differentiable)
                   ? std::optional<Critic>(std::in_place, config_.reinforce, state_size(),
                                           num_classes(), layout_)
                   : std::optional<Critic>()) {
  layout_.arrange(kOrder);
}

int Model::first_decision() const {
  if (answer().acts) return 0;
  return answer().samples_stops ? std::min(look().first_action, 1) : look().first_action;
}

bool Model::learns_baseline() const {
  return first_decision() < num_glimpses() &&
         find_advantage(config_.reinforce.advantage).reads_baseline;
}

int Model::state_size() const {
  return look().recurrent ? config_.model.hidden_size : look().feature_size;
}

Work Model::work() const {
  const int steps = num_glimpses();
  const int judged = steps - std::max(first_decision(), 1);  // the first has no state to read
  Work total = looking->work() + core->work(steps) + answering->work();
  if (learns_baseline()) total = total + baseline->work() * judged;
  if (gate) total = total + gate->work(steps);
  return total;
}

std::int64_t Model::play_work() const {
  return work().forward - answering->work().forward + answering->play_work();
}

double Model::gflop_per_episode() const {
  const Work total = work();
  return 2e-9 * static_cast<double>(total.forward + total.backward);
}

}  // namespace saccade
