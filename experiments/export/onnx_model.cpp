#include "experiments/export/onnx_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "attention/gate.h"
#include "base/error.h"
#include "base/name_table.h"
#include "experiments/export/operations.h"
#include "experiments/export/parts.h"
#include "experiments/files/json_text.h"
#include "saccade_version.h"

namespace saccade {
namespace {

using LookMaker = std::unique_ptr<const ExportedLook> (*)(const Task& task,
                                                          std::span<const float> weights);

const NameTable<LookMaker>& exported_looks() {
  static const NameTable<LookMaker> table{"attention.glimpse.kind in an export",
                                          {{"hard_gaussian", export_points},
                                           {"hard_categorical", export_grid},
                                           {"soft_grid", export_grid},
                                           {"soft_gaussian", export_window},
                                           {"soft_point", export_points},
                                           {"whole", export_whole},
                                           {"random", export_points},
                                           {"center", export_points},
                                           {"scan", export_points},
                                           {"oracle", export_points}}};
  return table;
}

// Returns the smallest number of looks that may count in an episode: some episodes end after their
// last digit.
int least_length(const Task& task) {
  const SceneConfig& scene = task.config.scene;
  if (!task.kind.counts_digits) return task.model.num_glimpses();
  return scene.min_digits > 0 ? scene.min_digits : scene.num_digits;
}

void refuse_kind(const char* kind, const Task& task, const std::string& who,
                 const std::string& otherwise) {
  if (task.model.look().recurrent && task.config.agent.glimpse.kind == kind)
    throw InputError(
        fmt::format("attention.glimpse.kind: {} does not look by itself, as {} has to; allowed: "
                    "the other kinds{}",
                    kind, who, otherwise));
}

void require_exportable(const Task& task, OnnxExtent extent) {
  const Config& config = task.config;
  if (task.model.answer().spells)
    throw InputError(
        fmt::format("scene.kind: {} is answered with a sequence, by a decoder, which --onnx does "
                    "not write; allowed: tasks that are answered with one class or with actions",
                    config.scene.kind));
  if (extent == OnnxExtent::step) return;
  if (task.kind.moves())
    throw InputError(fmt::format(
        "scene.kind: {} changes while it is looked at, and --unrolled takes one canvas; "
        "allowed: tasks whose canvas stays the same, or a step (without --unrolled)",
        config.scene.kind));
  if (task.model.answer().stops)
    throw InputError(
        fmt::format("attention.glimpse.stop: {} ends each episode after a look of its own, and "
                    "--unrolled takes all looks; allowed: none, or a step (without --unrolled)",
                    config.agent.glimpse.stop));
  const std::string who = "--unrolled", otherwise = ", or a step (without --unrolled)";
  refuse_kind("random", task, who, otherwise);
  require_canvas_only(task, who, otherwise);
}

// Values passed from step to step.
struct Carried {
  Value state;              // (B, H): h
  std::vector<Value> core;  // further values that the core carries
  Value states;             // (B, n, H): all earlier states, if more than the last is read
};

// Builds the graph of an agent.
class AgentGraph {
 public:
  AgentGraph(const Task& task, std::span<const float> weights)
      : graph(task.model.layout(), weights),
        task_(task),
        config_(task.model.config()),
        look_(task.model.look().recurrent ? exported_looks().at(config_.glimpse.kind)(task, weights)
                                          : export_canvas(task, weights)),
        core_(task.model.look().recurrent ? export_core(config_, task.model.num_glimpses())
                                          : export_identity_core()) {}

  void add_step() {
    const ExportedObservation spec = look_->inputs(graph);
    const Value count = look_->counts_looks()
                            ? graph.input("step", {std::int64_t{1}},
                                          "the number of this look, from 0 on", Element::int64)
                            : "";
    const std::vector<Value> seen = {spec.glimpse, spec.weights, spec.feature, spec.canvas};
    const Value like = *std::ranges::find_if(seen, [](const Value& v) { return !v.empty(); });
    Carried carried = carried_inputs();
    advance(carried, spec);
    const Value answer = put_answer(carried, "this");
    if (const Value stop = export_stop(graph, carried.state, answer); !stop.empty())
      graph.output("stop", stop, {"batch", std::int64_t{1}},
                   "the probability of stopping after this look, having come so far");
    if (const Value baseline = export_baseline(graph, task_.model, carried.state);
        !baseline.empty())
      graph.output("baseline", baseline, {"batch", std::int64_t{1}},
                   "what is expected to be earned from the next look on");
    put_choice("next", look_->next(graph, carried.state, spec, count));
    if (!look_->draws_first()) put_choice("first", look_->first(graph, like, spec));
    carried_outputs(carried);
  }

  void add_episode() {
    const Value canvas = canvas_input(graph, task_);
    const ExportedObservation begin = look_->begin(graph, canvas);
    ExportedChoice choice = look_->first(graph, canvas, begin);
    Carried carried = nothing_yet(canvas);
    std::vector<Value> locations;
    for (int t = 0; t < task_.model.num_glimpses(); ++t) {
      const ExportedObservation spec = look_->see(graph, canvas, choice, begin, t);
      if (!choice.location.empty()) locations.push_back(onnx_unsqueeze(graph, choice.location, 1));
      advance(carried, spec);
      if (t + 1 < task_.model.num_glimpses())
        choice = look_->next(graph, carried.state, spec,
                             look_->counts_looks() ? graph.integers({1}, {t}) : "");
    }
    put_answer(carried, "the last");
    if (!locations.empty())
      graph.output("locations", onnx_concat(graph, locations, 1),
                   {"batch", std::int64_t{task_.model.num_glimpses()},
                    std::int64_t{task_.model.look().location_size}},
                   location_text(task_) + " of each look");
  }

  Graph graph;

 private:
  bool reads_all() const {
    return task_.kind.answer == AnswerKind::one_class && hidden_weighs(config_.hidden.kind);
  }
  bool carries_state() const { return core_->reads_state() || input_has_gate(config_.input.kind); }
  std::int64_t width() const { return task_.model.state_size(); }

  // The dimensions of a state; `steps` names those that grow.
  static Sides sides_of(const std::vector<std::int64_t>& sides, const std::string& steps) {
    Sides all = {"batch"};
    for (const std::int64_t side : sides) all.push_back(side == 0 ? Side(steps) : Side(side));
    return all;
  }

  Carried carried_inputs() {
    Carried carried;
    if (carries_state())
      carried.state = graph.input("state", {"batch", width()},
                                  "the core's state h; zeros before the first step");
    for (const ExportedState& state : core_->states())
      carried.core.push_back(graph.input(state.name, sides_of(state.sides, "steps"), state.about));
    if (reads_all())
      carried.states = graph.input("states", {"batch", "steps", width()},
                                   "the core's states of the steps before, in their order");
    return carried;
  }

  void carried_outputs(const Carried& carried) {
    graph.output("next_state", carried.state, {"batch", width()},
                 "the core's state behind the step");
    const std::vector<ExportedState> states = core_->states();
    for (std::size_t i = 0; i < states.size(); ++i)
      graph.output("next_" + states[i].name, carried.core[i],
                   sides_of(states[i].sides, "next_steps"),
                   fmt::format("{} of the next step", states[i].name));
    if (reads_all())
      graph.output("next_states", carried.states, {"batch", "next_steps", width()},
                   "states of the next step");
  }

  Carried nothing_yet(const Value& canvas) {
    Carried carried{
        .state = onnx_zeros_like_batch(graph, canvas, {width()}), .core = {}, .states = {}};
    for (const ExportedState& state : core_->states())
      carried.core.push_back(onnx_zeros_like_batch(graph, canvas, state.sides));
    if (reads_all()) carried.states = onnx_zeros_like_batch(graph, canvas, {0, width()});
    return carried;
  }

  void advance(Carried& carried, const ExportedObservation& spec) {
    const Value feature = export_gate(graph, config_, look_->feature(graph, spec), carried.state);
    carried.state = core_->step(graph, feature, carried.state, carried.core);
    if (reads_all())
      carried.states =
          onnx_concat(graph, {carried.states, onnx_unsqueeze(graph, carried.state, 1)}, 1);
  }

  // Returns the log probabilities. `when`: after which look.
  Value put_answer(const Carried& carried, const char* when) {
    const Value read = reads_all()
                           ? export_read(graph, config_.hidden, carried.states,
                                         static_cast<int>(width()), task_.model.num_glimpses())
                           : carried.state;
    const Value answer = graph.node("LogSoftmax", {onnx_linear(graph, read, "classifier")},
                                    {{"axis", std::int64_t{-1}}});
    graph.output("log_probabilities", answer, {"batch", std::int64_t{task_.model.num_classes()}},
                 fmt::format("of the classes or actions, after {} look", when));
    return answer;
  }

  void put_choice(const std::string& which, const ExportedChoice& choice) {
    const std::int64_t candidates = task_.model.look().num_candidates;
    const auto put = [&](const char* what, const Value& value, std::int64_t count,
                         const char* about) {
      if (!value.empty())
        graph.output(fmt::format("{}_{}", which, what), value, {"batch", count},
                     fmt::format("of the {} look: {}", which, about));
    };
    const LookTraits& look = task_.model.look();
    put("location", choice.location, look.location_size,
        look.zoom.is_point() ? "(x, y) in [-1, 1], y down"
                             : "(x, y, zoom) in [-1, 1], y down, the widest zoom 1");
    put("weights", choice.weights, candidates, "the weights of the candidates");
    if (choice.weights.empty())
      put("probabilities", choice.chances, candidates, "the probabilities of the candidates");
    put("window", choice.window, 5,
        "the window of Gaussian filters: centre x and y, log variance, log stride, log intensity");
  }

  const Task& task_;
  const AgentConfig& config_;
  std::unique_ptr<const ExportedLook> look_;
  std::unique_ptr<const ExportedCore> core_;
};

void put_metadata(Graph& graph, const Task& task) {
  graph.set_metadata("saccade.version", SACCADE_VERSION);
  graph.set_metadata("saccade.config", to_yaml(task.config));
  graph.set_metadata("saccade.classes", json_text(nlohmann::json(task.class_names())));
  graph.set_metadata("saccade.num_glimpses", std::to_string(task.model.num_glimpses()));
}

}  // namespace

void require_canvas_only(const Task& task, const std::string& who, const std::string& otherwise) {
  refuse_kind("oracle", task, who, otherwise);
  if (const int least = least_length(task), looks = task.model.num_glimpses(); least < looks)
    throw InputError(fmt::format(
        "attention.glimpse.num_glimpses: {}, where an episode of scene.kind: {} counts as many "
        "looks as it has digits, {} and more, and {} takes all; allowed: up to {}{}",
        looks, task.config.scene.kind, least, who, least, otherwise));
}

std::string onnx_model(const Task& task, std::span<const float> weights, OnnxExtent extent) {
  require_exportable(task, extent);
  AgentGraph agent(task, weights);
  if (extent == OnnxExtent::step) {
    agent.graph.set_origin(SACCADE_VERSION, "One step of a recurrent attention agent");
    agent.add_step();
  } else {
    agent.graph.set_origin(SACCADE_VERSION, "A recurrent attention agent, from canvas to answer");
    agent.add_episode();
  }
  put_metadata(agent.graph, task);
  return agent.graph.bytes();
}

}  // namespace saccade
