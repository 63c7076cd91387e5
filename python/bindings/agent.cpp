#include "python/bindings/agent.h"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/name_table.h"
#include "base/output.h"
#include "experiments/analysis/gradients.h"
#include "experiments/evaluation/saliency_arrays.h"
#include "python/bindings/arrays.h"
#include "python/bindings/calls.h"
#include "python/bindings/runs.h"
#include "python/bindings/worlds.h"

namespace saccade::python {

namespace nb = nanobind;

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

KeptFacts facts_of(const Task& task, bool canvases) {
  const TaskKind& kind = task.kind;
  return {.canvases = canvases && task.model.canvas().pixels() > 0,
          .boxes = kind.gives_glimpses ? 0
                   : kind.has_digits   ? task.config.scene.num_digits
                   : kind.is_own       ? kMaxDigits
                   : kind.moves()      ? 1
                                       : 0,
          .moves = kind.moves()};
}

}  // namespace

Agent::Agent(const std::string& path, int threads)
    : Agent(Checkpoint(find_checkpoint(path)), path, threads) {}

std::string Agent::config_yaml() const { return to_yaml(task_->config); }

nb::dict Agent::parameters(nb::handle self) {
  nb::dict all;
  for (const Parameter& p : task_->model.layout().parameters())
    all[p.name.c_str()] = nb::ndarray<nb::numpy, float, nb::c_contig>(
        weights_.data() + p.offset,
        {static_cast<std::size_t>(p.rows), static_cast<std::size_t>(p.cols)}, self);
  return all;
}

bool Agent::edited() const { return !std::ranges::equal(weights_, loaded_); }

void Agent::save(const std::string& path, bool force) const {
  OutputFile file(path, force, "--force writes over it, another path keeps it");
  write_averaged(file.path(), flat(weights_), task_->model.layout(), metadata_);
  file.commit();
}

nb::dict Agent::play_scenes(const TestedOn& on, int scenes, Split split, const std::string& readout,
                            std::optional<std::uint64_t> seed, int pass, int beam, bool canvases) {
  const SamplingMode mode = sampling_mode_named(readout);
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

nb::dict Agent::play_canvases(const Canvases& canvases, const std::string& readout,
                              std::uint64_t seed, int pass, int beam) {
  const PlayRequest request{.scenes = static_cast<int>(canvases.pixels.shape(0)),
                            .sampling = sampling_mode_named(readout),
                            .seed = seed,
                            .pass = pass,
                            .beam = beam};
  const EnvironmentFactory environments = environments_of(canvases);
  return to_dict(computed([&] { return arrays_of(*task_, environments, request); }));
}

std::unique_ptr<AgentSteps> Agent::step_canvases(Canvases canvases, const std::string& readout,
                                                 std::uint64_t seed) {
  auto steps = std::make_unique<AgentSteps>(task_->model, std::move(canvases));
  steps->start(flat(weights_), environments_of(steps->canvases()),
               {.scenes = static_cast<int>(steps->canvases().pixels.shape(0)),
                .sampling = sampling_mode_named(readout),
                .seed = seed},
               workers_);
  return steps;
}

std::unique_ptr<AgentSteps> Agent::step_glimpses(int count, const std::string& readout,
                                                 std::uint64_t seed) {
  const Model& model = task_->model;
  auto steps = std::make_unique<AgentSteps>(model, count, task_->spec.glimpse_size);
  const auto environments = [&](int episodes, int) {
    return std::make_unique<GlimpseArrayEnvironment>(
        steps->glimpses(), model.canvas(), answer_spec(), episodes, model.look().location_size);
  };
  steps->start(flat(weights_), environments,
               {.scenes = count, .sampling = sampling_mode_named(readout), .seed = seed}, workers_);
  return steps;
}

bool Agent::plays(const AgentSteps& steps) const { return steps.plays(flat(weights_)); }

nb::dict Agent::saliency_of_scenes(int scenes, std::optional<int> step) {
  return saliency_in(task_->environments(Split::test), scenes, task_->config.evaluation.seed, step);
}

nb::dict Agent::saliency_of_canvases(const Canvases& canvases, std::optional<int> step) {
  return saliency_in(environments_of(canvases), static_cast<int>(canvases.pixels.shape(0)),
                     task_->config.evaluation.seed, step);
}

std::unique_ptr<AgentTrace> Agent::trace(Canvases canvases, const std::string& readout,
                                         std::uint64_t seed, int pass) {
  require_traceable(task_->model, task_->config.retina);
  auto traced = std::make_unique<AgentTrace>(std::move(canvases), task_->model);
  const TracedPlayRequest request{.scenes = static_cast<int>(traced->canvases().pixels.shape(0)),
                                  .sampling = sampling_mode_named(readout),
                                  .seed = seed,
                                  .pass = pass};
  traced->play(flat(weights_), environments_of(traced->canvases()), request, workers_);
  return traced;
}

nb::dict Agent::gradients(int scenes, int samples, int rollouts) {
  require_allowed("scenes", GradientsRequest::kScenes, scenes);
  require_allowed("samples", GradientsRequest::kSamples, samples);
  require_allowed("rollouts", GradientsRequest::kRollouts, rollouts);
  const GradientsRequest request{
      .agent = origin_, .scenes = scenes, .samples = samples, .rollouts = rollouts};
  return to_python(to_json(
      computed([&] { return saccade::gradients(*task_, flat(weights_), request, workers_); })));
}

std::unique_ptr<const TestedTask> Agent::tested_task(const TestedOn& on) const {
  if (on.scenes.empty()) return nullptr;
  auto other = std::make_unique<const TestedTask>(task_->config, on, &shared_datasets());
  check_same_agent(*task_, other->task);
  return other;
}

RecordedAgent Agent::filmed(const std::string& name, const Task& task,
                            const std::optional<Canvases>& canvases,
                            const EvaluationConfig& evaluation) const {
  RecordedAgent agent{name, task, flat(weights_), Split::test, evaluation};
  if (canvases) {
    agent.environments = environments_of(*canvases);
    agent.judged = !canvases->labels.empty();
  }
  return agent;
}

Agent::Agent(const Checkpoint& checkpoint, const std::string& origin, int threads)
    : task_(std::make_unique<const Task>(config_of(checkpoint, origin), &shared_datasets())),
      origin_(origin),
      metadata_(checkpoint.metadata()),
      weights_(zeros<1>(task_->model.layout().size())),
      workers_(threads) {
  checkpoint.restore_averaged(weights_, task_->model.layout());
  loaded_ = weights_;
}

AnswerSpec Agent::answer_spec() const {
  const Model& model = task_->model;
  return {task_->kind.answer, model.num_classes(),
          model.answer().spells ? model.answer().outputs : 0};
}

EnvironmentFactory Agent::environments_of(const Canvases& canvases) const {
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

std::vector<NpzArray> Agent::arrays_of(const Task& task, const EnvironmentFactory& environments,
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

nb::dict Agent::saliency_in(const EnvironmentFactory& environments, int scenes, std::uint64_t seed,
                            std::optional<int> step) {
  require_traceable(task_->model, task_->config.retina);
  const std::vector<int> outputs = followed_outputs(task_->model, step, "step");
  return to_dict(computed([&] {
    return saliency_arrays(task_->model, flat(weights_), environments, scenes, seed, outputs,
                           workers_);
  }));
}

}  // namespace saccade::python
