#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/range.h"
#include "experiments/files/progress_bar.h"
#include "experiments/pictures/recording.h"
#include "experiments/runs/trained.h"

namespace saccade {

struct RecordRequest {
  static constexpr Range kScenes{1, 100'000'000};

  std::vector<std::filesystem::path> run_folders = {};  // at least one
  std::filesystem::path out = {};                       // .mp4, .gif or .png; empty: see record()
  std::optional<int> scenes = {};                       // default: 4 for a .png, 8 for a video
  std::optional<std::uint64_t> seed = {};               // of the scenes; default: evaluation.seed
  std::string only = {};                                // "wrong", "right"; empty: every scene
  std::optional<double> stop = {};                      // threshold: see RecordingRequest
  double fps = 3.0;                                     // glimpses per second
  TestedOn on = {};
  int threads = 0;     // 0: every processor this process may use
  bool force = false;  // whether to overwrite a file at `out`
};

/// What record() wrote.
struct RecordedFile {
  std::filesystem::path path;
  int wanted;  // scenes
  Recording recording;
  std::string from_training;  // TrainedAgents::from_training()
};

/// Records where trained agents look at test scenes, side by side. Without `out` the file is
/// recording.mp4 in the run folder, or in the working directory for several runs, for a trained
/// agent given by name and for other scenes (.gif if there is no H.264 encoder).
///
/// Throws InputError as TrainedAgents and write_recording.
RecordedFile record(const RecordRequest& request, const ProgressCallback& on_progress = nullptr);

/// Trained agents of the same task, for recording them side by side.
class TrainedAgents {
 public:
  /// Throws InputError for a folder that is not a run and for runs of different tasks (scene.*,
  /// data.source, data.size, the data's checksums).
  explicit TrainedAgents(const std::vector<std::filesystem::path>& run_folders,
                         const TestedOn& on = {});

  /// evaluation.seed of the first one.
  std::uint64_t seed() const { return runs_.front()->task.config.evaluation.seed; }
  /// Refers to this object. `seed`: of the test scenes.
  std::vector<RecordedAgent> on_scenes(std::uint64_t seed) const;
  /// A line for each agent whose scenes are not those of its training: in what they differ.
  std::string from_training() const;

 private:
  std::vector<std::unique_ptr<Trained>> runs_;
  std::vector<std::string> names_;
};

/// Returns short, distinct names for agents: their variant_labels(), or if these are not distinct
/// the ends of their folder paths.
std::vector<std::string> agent_names(std::span<const Config* const> configs,
                                     std::span<const std::filesystem::path> folders);

}  // namespace saccade
