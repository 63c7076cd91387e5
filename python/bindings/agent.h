#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/learning/checkpoint.h"
#include "env/given_environment.h"
#include "experiments/evaluation/play.h"
#include "experiments/pictures/recording.h"
#include "experiments/runs/trained.h"
#include "python/bindings/agent_steps.h"
#include "python/bindings/agent_trace.h"
#include "python/bindings/canvases.h"

namespace saccade::python {

/// A trained agent: its task, and weights that can be modified. The readout of a method is
/// "deterministic", "sampled" or "argmax". What is played is a dictionary of NumPy arrays, as
/// saccade.Agent documents them.
class Agent {
 public:
  Agent(const std::string& path, int threads);

  const Task& task() const { return *task_; }
  std::string config_yaml() const;

  /// Name -> (rows, cols), views of the weights' memory.
  nanobind::dict parameters(nanobind::handle self);

  /// Returns whether the weights differ from the loaded ones.
  bool edited() const;

  /// Saves the weights as a checkpoint.
  void save(const std::string& path, bool force) const;

  /// Plays scenes of its own task, or of what `on` has.
  nanobind::dict play_scenes(const TestedOn& on, int scenes, Split split,
                             const std::string& readout, std::optional<std::uint64_t> seed,
                             int pass, int beam, bool canvases);
  nanobind::dict play_canvases(const Canvases& canvases, const std::string& readout,
                               std::uint64_t seed, int pass, int beam);

  /// Episodes that are played look by look, on canvases or on glimpses that are handed to it.
  std::unique_ptr<AgentSteps> step_canvases(Canvases canvases, const std::string& readout,
                                            std::uint64_t seed);
  std::unique_ptr<AgentSteps> step_glimpses(int count, const std::string& readout,
                                            std::uint64_t seed);
  /// Returns whether the steps are of the weights as they are now.
  bool plays(const AgentSteps& steps) const;

  nanobind::dict saliency_of_scenes(int scenes, std::optional<int> step);
  nanobind::dict saliency_of_canvases(const Canvases& canvases, std::optional<int> step);

  std::unique_ptr<AgentTrace> trace(Canvases canvases, const std::string& readout,
                                    std::uint64_t seed, int pass);

  /// Returns the figures of saccade::gradients().
  nanobind::dict gradients(int scenes, int samples, int rollouts);

  /// Returns its task with what `on` has; null if that is no other.
  std::unique_ptr<const TestedTask> tested_task(const TestedOn& on) const;

  /// Returns the agent set up for recording: looking at the canvases, or at test scenes of `task`
  /// if there are none.
  RecordedAgent filmed(const std::string& name, const Task& task,
                       const std::optional<Canvases>& canvases,
                       const EvaluationConfig& evaluation) const;

 private:
  Agent(const Checkpoint& checkpoint, const std::string& origin, int threads);

  AnswerSpec answer_spec() const;
  EnvironmentFactory environments_of(const Canvases& canvases) const;
  /// Of episodes that are played. Canvases are (..., channels, rows, cols).
  std::vector<NpzArray> arrays_of(const Task& task, const EnvironmentFactory& environments,
                                  const PlayRequest& request);
  nanobind::dict saliency_in(const EnvironmentFactory& environments, int scenes, std::uint64_t seed,
                             std::optional<int> step);

  const std::unique_ptr<const Task> task_;
  const std::string origin_;  // where it is from, for messages
  const std::map<std::string, std::string> metadata_;
  Tensor<1> weights_, loaded_;  // one block of the model's layout; the weights as loaded
  Workers workers_;
};

}  // namespace saccade::python
