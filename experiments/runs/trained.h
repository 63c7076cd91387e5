#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agent/learning/checkpoint.h"
#include "experiments/runs/other_scenes.h"
#include "experiments/task/own_parts.h"
#include "experiments/task/task.h"

namespace saccade {

/// Returns the run folder, or that of the shipped trained agent of this name ("soft60").
std::filesystem::path find_run_folder(const std::filesystem::path& given);

/// Returns the best checkpoint of a run folder or trained agent, or the last one if there is no
/// best yet; a .safetensors file is returned as it is. Throws InputError for a folder without
/// either.
std::filesystem::path find_checkpoint(const std::filesystem::path& run_folder);

/// The share of its training, in [0, 1], after which a checkpoint was saved.
double progress_of(const Checkpoint& checkpoint, const Config& config);

/// The configuration of a checkpoint, with the exploration held as it was then: an agent is tested
/// as it was validated. `origin` stands for the file's name in messages.
Config config_of(const Checkpoint& checkpoint, const std::string& origin);

/// The checksums of the data that a checkpoint was trained on, by file; empty if it has none.
std::map<std::string, std::string> data_checksums(const Checkpoint& checkpoint);

/// What a trained agent is tested on: as it was trained, apart from what is given here.
struct TestedOn {
  std::string data = {};       // a name of digit_sources(): digits of that source
  SceneOverrides scenes = {};  // as far as with_scenes() and check_same_agent() allow
  int test_scenes = 0;         // evaluation.scenes; 0: as its configuration says
  int draws = 0;               // evaluation.draws; likewise
  OwnParts own = {};
};

/// The task of a trained agent as it is tested.
struct TestedTask {
  /// `shared` may be null. `checksums` are those of the data of the training; empty: not compared.
  /// Throws InputError for what an agent of the configuration `trained` may not be tested on.
  TestedTask(const Config& trained, const TestedOn& on, SharedDatasets* shared = nullptr,
             const std::map<std::string, std::string>& checksums = {});

 private:
  TestedTask(const Config& trained, const Config& tested, const OwnParts& own,
             SharedDatasets* shared, const std::map<std::string, std::string>& checksums);

  OwnSources sources_;

 public:
  const Task task;
  // scene_differences() of `task`, and data_differences() unless other data were asked for.
  const std::vector<Difference> from_training;
};

/// A trained agent loaded from its run folder: the task it learned and the weights that were best
/// on the validation scenes (the last ones if there is no best yet), averaged as for evaluation.
struct Trained : TestedTask {
  /// Throws InputError for a folder without a checkpoint, a checkpoint that cannot be used, and
  /// what it may not be tested on.
  explicit Trained(const std::filesystem::path& run_folder, const TestedOn& on = {});

  const Tensor<1> weights;  // one block of task.model.layout()

 private:
  Trained(const Checkpoint& checkpoint, const std::filesystem::path& run_folder,
          const TestedOn& on);
};

}  // namespace saccade
