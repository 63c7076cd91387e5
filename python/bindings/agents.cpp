#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "agent/learning/checkpoint.h"
#include "base/error.h"
#include "base/name_table.h"
#include "base/output.h"
#include "env/given_environment.h"
#include "experiments/analysis/gradients.h"
#include "experiments/config/variants.h"
#include "experiments/evaluation/play.h"
#include "experiments/evaluation/saliency_arrays.h"
#include "experiments/pictures/recording.h"
#include "experiments/runs/trained.h"
#include "python/bindings/agent_steps.h"
#include "python/bindings/agent_trace.h"
#include "python/bindings/arrays.h"
#include "python/bindings/calls.h"
#include "python/bindings/canvases.h"
#include "python/bindings/module.h"
#include "python/bindings/own_parts.h"
#include "python/bindings/runs.h"
#include "python/bindings/worlds.h"

namespace saccade::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

SamplingMode sampling_mode_named(const std::string& name) {
  static const NameTable<SamplingMode> table("readout",
                                             {{"deterministic", SamplingMode::deterministic},
                                              {"sampled", SamplingMode::sample},
                                              {"argmax", SamplingMode::argmax}});
  return table.at(name);
}

// Returns a dictionary of NumPy arrays that own their memory.
nb::dict to_dict(std::vector<NpzArray> arrays) {
  nb::dict all;
  for (NpzArray& array : arrays)
    std::visit(
        [&](auto& values) {
          using T = typename std::decay_t<decltype(values)>::value_type;
          auto* owned = new std::vector<T>(std::move(values));
          const nb::capsule owner(owned,
                                  [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
          all[array.name.c_str()] =
              Array<T>(owned->data(), array.shape.size(), array.shape.data(), owner);
        },
        array.values);
  return all;
}

/// A trained agent: its task, and weights that can be modified.
class Agent {
 public:
  Agent(const std::string& path, int threads)
      : Agent(Checkpoint(find_checkpoint(path)), path, threads) {}

  const Task& task() const { return *task_; }
  std::string config_yaml() const { return to_yaml(task_->config); }

  /// Name -> (rows, cols), views of the weights' memory.
  nb::dict parameters(nb::handle self) {
    nb::dict all;
    for (const Parameter& p : task_->model.layout().parameters())
      all[p.name.c_str()] = nb::ndarray<nb::numpy, float, nb::c_contig>(
          weights_.data() + p.offset,
          {static_cast<std::size_t>(p.rows), static_cast<std::size_t>(p.cols)}, self);
    return all;
  }

  /// Returns whether the weights differ from the loaded ones.
  bool edited() const { return !std::ranges::equal(weights_, loaded_); }

  /// Saves the weights as a checkpoint.
  void save(const std::string& path, bool force) const {
    OutputFile file(path, force, "--force writes over it, another path keeps it");
    write_averaged(file.path(), flat(weights_), task_->model.layout(), metadata_);
    file.commit();
  }

  /// Plays scenes of its own task, or of what `on` has.
  nb::dict play_scenes(const TestedOn& on, int scenes, Split split, const std::string& sampling,
                       std::optional<std::uint64_t> seed, int pass, int beam, bool canvases) {
    const SamplingMode mode = sampling_mode_named(sampling);
    return to_dict(computed([&] {
      const std::unique_ptr<const TestedTask> other = tested_task(on);
      const Task& task = other ? other->task : *task_;
      EvaluationConfig evaluation = task.config.evaluation;
      evaluation.scenes = scenes;
      evaluation.seed = seed.value_or(evaluation.seed);
      return arrays_of(task, task.environments(split, evaluation),
                       {.scenes = scenes,
                        .sampling = mode,
                        .seed = evaluation.seed,
                        .pass = pass,
                        .beam = beam,
                        .facts = facts_of(task, canvases)});
    }));
  }

  nb::dict play_canvases(const Canvases& canvases, const std::string& sampling, std::uint64_t seed,
                         int pass, int beam) {
    const PlayRequest request{.scenes = static_cast<int>(canvases.pixels.shape(0)),
                              .sampling = sampling_mode_named(sampling),
                              .seed = seed,
                              .pass = pass,
                              .beam = beam};
    const EnvironmentFactory environments = environments_of(canvases);
    return to_dict(computed([&] { return arrays_of(*task_, environments, request); }));
  }

  std::unique_ptr<AgentSteps> step_canvases(Canvases canvases, const std::string& sampling,
                                            std::uint64_t seed) {
    auto steps = std::make_unique<AgentSteps>(task_->model, std::move(canvases));
    steps->start(flat(weights_), environments_of(steps->canvases()),
                 {.scenes = static_cast<int>(steps->canvases().pixels.shape(0)),
                  .sampling = sampling_mode_named(sampling),
                  .seed = seed},
                 workers_);
    return steps;
  }

  std::unique_ptr<AgentSteps> step_glimpses(int count, const std::string& sampling,
                                            std::uint64_t seed) {
    const Model& model = task_->model;
    auto steps = std::make_unique<AgentSteps>(model, count, task_->spec.glimpse_size);
    const auto environments = [&](int episodes, int) {
      return std::make_unique<GlimpseArrayEnvironment>(
          steps->glimpses(), model.canvas(), answer_spec(), episodes, model.look().location_size);
    };
    steps->start(flat(weights_), environments,
                 {.scenes = count, .sampling = sampling_mode_named(sampling), .seed = seed},
                 workers_);
    return steps;
  }

  bool plays(const AgentSteps& steps) const { return steps.plays(flat(weights_)); }

  nb::dict saliency_of_scenes(int scenes, std::optional<int> step) {
    return saliency_in(task_->environments(Split::test), scenes, task_->config.evaluation.seed,
                       step);
  }
  nb::dict saliency_of_canvases(const Canvases& canvases, std::optional<int> step) {
    return saliency_in(environments_of(canvases), static_cast<int>(canvases.pixels.shape(0)),
                       task_->config.evaluation.seed, step);
  }

  std::unique_ptr<AgentTrace> trace(Canvases canvases, const std::string& sampling,
                                    std::uint64_t seed, int pass) {
    require_traceable(task_->model, task_->config.retina);
    auto traced = std::make_unique<AgentTrace>(std::move(canvases), task_->model);
    const TracedPlayRequest request{.scenes = static_cast<int>(traced->canvases().pixels.shape(0)),
                                    .sampling = sampling_mode_named(sampling),
                                    .seed = seed,
                                    .pass = pass};
    traced->play(flat(weights_), environments_of(traced->canvases()), request, workers_);
    return traced;
  }

  /// Returns the figures of gradients().
  nb::dict gradients(int scenes, int samples, int rollouts) {
    require_allowed("scenes", GradientsRequest::kScenes, scenes);
    require_allowed("samples", GradientsRequest::kSamples, samples);
    require_allowed("rollouts", GradientsRequest::kRollouts, rollouts);
    const GradientsRequest request{
        .agent = origin_, .scenes = scenes, .samples = samples, .rollouts = rollouts};
    return to_python(to_json(
        computed([&] { return saccade::gradients(*task_, flat(weights_), request, workers_); })));
  }

  /// Returns its task with what `on` has; null if that is no other.
  std::unique_ptr<const TestedTask> tested_task(const TestedOn& on) const {
    if (on.scenes.empty()) return nullptr;
    auto other = std::make_unique<const TestedTask>(task_->config, on, &shared_datasets());
    check_same_agent(*task_, other->task);
    return other;
  }

  /// Returns the agent set up for recording: looking at the canvases, or at test scenes of `task`
  /// if there are none.
  RecordedAgent filmed(const std::string& name, const Task& task,
                       const std::optional<Canvases>& canvases,
                       const EvaluationConfig& evaluation) const {
    RecordedAgent agent{name, task, flat(weights_), Split::test, evaluation};
    if (canvases) {
      agent.environments = environments_of(*canvases);
      agent.judged = !canvases->labels.empty();
    }
    return agent;
  }

 private:
  Agent(const Checkpoint& checkpoint, const std::string& origin, int threads)
      : task_(std::make_unique<const Task>(parse_config(checkpoint.config_yaml(), origin),
                                           &shared_datasets())),
        origin_(origin),
        metadata_(checkpoint.metadata()),
        weights_(zeros<1>(task_->model.layout().size())),
        workers_(threads) {
    checkpoint.restore_averaged(weights_, task_->model.layout());
    loaded_ = weights_;
  }

  static KeptFacts facts_of(const Task& task, bool canvases) {
    const TaskKind& kind = task.kind;
    return {.canvases = canvases && task.model.canvas().pixels() > 0,
            .boxes = kind.gives_glimpses ? 0
                     : kind.has_digits   ? task.config.scene.num_digits
                     : kind.is_own       ? kMaxDigits
                     : kind.moves()      ? 1
                                         : 0,
            .moves = kind.moves()};
  }

  AnswerSpec answer_spec() const {
    const Model& model = task_->model;
    return {task_->kind.answer, model.num_classes(),
            model.answer().spells ? model.answer().outputs : 0};
  }

  EnvironmentFactory environments_of(const Canvases& canvases) const {
    const CanvasSize size = task_->model.canvas();
    if (!task_->retina || task_->kind.moves())
      throw InputError(fmt::format("images: none can be shown to an agent of scene.kind: {}",
                                   task_->config.scene.kind));
    const auto shape = [&](int axis) { return static_cast<int>(canvases.pixels.shape(axis)); };
    if (shape(0) < 1 || shape(1) != size.channels || shape(2) != size.rows || shape(3) != size.cols)
      throw InputError(fmt::format(
          "images: {} of {} x {} pixels and {} channels; allowed: one and more of {} x {} and {}, "
          "what this agent looks at",
          shape(0), shape(2), shape(3), shape(1), size.rows, size.cols, size.channels));
    return [this, size, &canvases](int episodes, int) {
      return std::make_unique<CanvasEnvironment>(
          std::span(canvases.pixels.data(), canvases.pixels.size()), canvases.labels, size,
          *task_->retina, answer_spec(), episodes);
    };
  }

  /// Of episodes that are played. Canvases are (..., channels, rows, cols).
  std::vector<NpzArray> arrays_of(const Task& task, const EnvironmentFactory& environments,
                                  const PlayRequest& request) {
    std::vector<NpzArray> arrays =
        play(task.model, flat(weights_), environments, request, workers_).take();
    const CanvasSize size = task.model.canvas();
    for (NpzArray& array : arrays)
      if (array.name == "canvases") {
        array.shape.pop_back();
        for (const int side : {size.channels, size.rows, size.cols})
          array.shape.push_back(static_cast<std::size_t>(side));
      }
    return arrays;
  }

  nb::dict saliency_in(const EnvironmentFactory& environments, int scenes, std::uint64_t seed,
                       std::optional<int> step) {
    require_traceable(task_->model, task_->config.retina);
    const std::vector<int> outputs = followed_outputs(task_->model, step, "step");
    return to_dict(computed([&] {
      return saliency_arrays(task_->model, flat(weights_), environments, scenes, seed, outputs,
                             workers_);
    }));
  }

  const std::unique_ptr<const Task> task_;
  const std::string origin_;  // where it is from, for messages
  const std::map<std::string, std::string> metadata_;
  Tensor<1> weights_, loaded_;  // one block of the model's layout; the weights as loaded
  Workers workers_;
};

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
                                       model.config().model.context == "none" &&
                                       !model.answer().acts;
                     facts["location_size"] = look.location_size;
                     facts["pictures"] = model.look().pictures;
                     facts["picture_side"] = model.look().picture_side;
                     facts["glimpse_size"] = task.spec.glimpse_size;
                     facts["spells"] = model.answer().spells;
                     facts["acts"] = model.answer().acts;
                     facts["scenes"] = task.config.evaluation.scenes;
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
