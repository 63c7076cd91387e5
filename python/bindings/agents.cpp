#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "agent/looking/context_network.h"
#include "base/error.h"
#include "experiments/config/variants.h"
#include "python/bindings/agent.h"
#include "python/bindings/calls.h"
#include "python/bindings/module.h"
#include "python/bindings/own_parts.h"
#include "python/bindings/runs.h"
#include "python/bindings/worlds.h"

namespace saccade::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

Canvases canvases_of(const Pixels& pixels, const std::optional<Labels>& labels) {
  Canvases canvases{pixels, {}};
  if (labels)
    for (std::size_t i = 0; i < labels->size(); ++i)
      canvases.labels.push_back(static_cast<int>(labels->data()[i]));
  return canvases;
}

// Records agents side by side.
void record(const std::vector<Agent*>& agents, const std::vector<std::string>& names,
            const std::string& target, const std::optional<Pixels>& images,
            const std::optional<Labels>& labels, int scenes, std::optional<std::uint64_t> seed,
            double fps, bool force, std::optional<double> stop, int threads,
            const SceneOverrides& other_scenes, nb::handle own_parts) {
  require_allowed_threads(threads);
  std::optional<Canvases> canvases;
  if (images) canvases = canvases_of(*images, labels);
  const PythonParts own(own_parts);
  require_threads();
  compute_until_stopped([&] {
    std::vector<std::unique_ptr<const TestedTask>> others;
    std::vector<RecordedAgent> filmed;
    for (const Agent* agent : agents) {
      others.push_back(agent->tested_task(
          {.scenes = other_scenes, .test_scenes = scenes, .draws = 1, .own = own.get()}));
      const Task& task = others.back() ? others.back()->task : agent->task();
      EvaluationConfig evaluation = filmed.empty() ? task.config.evaluation : filmed[0].evaluation;
      evaluation.seed = seed.value_or(evaluation.seed);
      filmed.push_back(agent->filmed(names[filmed.size()], task, canvases, evaluation));
      const Task& first = filmed[0].task;
      const std::string why =
          task_difference(first.config, first.digits.checksums, task.config, task.digits.checksums);
      if (!canvases && !why.empty())
        throw InputError(
            fmt::format("agents: {}; agents side by side need the same scenes, or images", why));
    }
    write_recording(filmed, {.target = target,
                             .force = force,
                             .scenes = scenes,
                             .seed = filmed[0].evaluation.seed,
                             .stop = stop,
                             .fps = fps,
                             .threads = threads});
  });
}

}  // namespace

void bind_agents(nb::module_& m) {
  nb::class_<AgentTrace>(m, "AgentTrace", "Episodes to differentiate; see saccade.Trace.")
      .def("logits", &AgentTrace::logits)
      .def("backward", &AgentTrace::backward, "dlogits"_a.noconvert());
  nb::class_<AgentSteps>(m, "AgentSteps", "Episodes in the midst of being played; see Agent.step.")
      .def("rewind", &AgentSteps::rewind, "looks"_a)
      .def("take", &AgentSteps::take, "locations"_a.noconvert().none(),
           "glimpses"_a.noconvert().none())
      .def("look", &AgentSteps::look);
  nb::class_<Agent>(m, "Agent", "A trained agent; see saccade.Agent.")
      .def(nb::init<const std::string&, int>(), "path"_a, "threads"_a)
      .def_prop_ro("config_yaml", &Agent::config_yaml)
      .def_prop_ro("parameters",
                   [](nb::handle self) { return nb::cast<Agent&>(self).parameters(self); })
      .def_prop_ro("edited", &Agent::edited)
      .def("save", &Agent::save, "path"_a, "force"_a)
      .def_prop_ro("facts",
                   [](const Agent& agent) {
                     const Task& task = agent.task();
                     const Model& model = task.model;
                     const CanvasSize canvas = model.canvas();
                     nb::dict facts;
                     facts["canvas"] = nb::make_tuple(canvas.rows, canvas.cols, canvas.channels);
                     facts["num_glimpses"] = model.num_glimpses();
                     facts["class_names"] = task.class_names();
                     const LookTraits& look = model.look();
                     facts["points"] = look.looks && look.retina && look.num_candidates == 0;
                     facts["handed"] = look.looks && look.retina && look.num_candidates == 0 &&
                                       !has_context(model.config().model) && !model.answer().acts;
                     facts["location_size"] = look.location_size;
                     facts["pictures"] = model.look().pictures;
                     facts["picture_side"] = model.look().picture_side;
                     facts["glimpse_size"] = task.spec.glimpse_size;
                     facts["spells"] = model.answer().spells;
                     facts["scenes"] = task.config.evaluation.scenes;
                     facts["seed"] = task.config.evaluation.seed;
                     return facts;
                   })
      .def(
          "play_scenes",
          [](Agent& agent, int scenes, const std::string& split, const std::string& sampling,
             std::optional<std::uint64_t> seed, int pass, int beam, bool canvases,
             const SceneOverrides& other_scenes, nb::handle own_parts) {
            const PythonParts own(own_parts);
            return agent.play_scenes(
                {.scenes = other_scenes, .test_scenes = scenes, .draws = 1, .own = own.get()},
                scenes, split_named(split), sampling, seed, pass, beam, canvases);
          },
          "scenes"_a, "split"_a, "readout"_a, "seed"_a.none(), "sample"_a, "beam"_a, "canvases"_a,
          "other_scenes"_a, "own_parts"_a)
      .def(
          "play_canvases",
          [](Agent& agent, const Pixels& images, const std::optional<Labels>& labels,
             const std::string& sampling, std::uint64_t seed, int pass, int beam) {
            return agent.play_canvases(canvases_of(images, labels), sampling, seed, pass, beam);
          },
          "images"_a, "labels"_a.none(), "readout"_a, "seed"_a, "sample"_a, "beam"_a)
      .def(
          "step_canvases",
          [](Agent& agent, const Pixels& images, const std::string& sampling, std::uint64_t seed) {
            return agent.step_canvases(canvases_of(images, {}), sampling, seed);
          },
          "images"_a, "readout"_a, "seed"_a, nb::keep_alive<0, 1>())
      .def("step_glimpses", &Agent::step_glimpses, "count"_a, "readout"_a, "seed"_a,
           nb::keep_alive<0, 1>())
      .def("plays", &Agent::plays, "steps"_a)
      .def(
          "trace",
          [](Agent& agent, const Pixels& images, const std::string& sampling, std::uint64_t seed,
             int pass) { return agent.trace(canvases_of(images, {}), sampling, seed, pass); },
          "images"_a, "readout"_a, "seed"_a, "sample"_a, nb::keep_alive<0, 1>())
      .def("gradients", &Agent::gradients, "scenes"_a, "samples"_a, "rollouts"_a)
      .def("saliency_of_scenes", &Agent::saliency_of_scenes, "scenes"_a, "step"_a.none())
      .def(
          "saliency_of_canvases",
          [](Agent& agent, const Pixels& images, std::optional<int> step) {
            return agent.saliency_of_canvases(canvases_of(images, {}), step);
          },
          "images"_a, "step"_a.none());
  m.def("record", record, "agents"_a, "names"_a, "target"_a, "images"_a.none(), "labels"_a.none(),
        "scenes"_a, "seed"_a.none(), "fps"_a, "force"_a, "stop"_a.none(), "threads"_a,
        "other_scenes"_a, "own_parts"_a);
}

}  // namespace saccade::python
