#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/files/metrics.h"
#include "experiments/files/stop_curves.h"
#include "experiments/runs/metrics_file.h"
#include "experiments/runs/run_folder.h"

namespace saccade {

/// Exposure of each part of the canvas to the looks of an episode, averaged over scenes and seeds.
struct LookMap {
  int rows = 0;
  int cols = 0;
  std::vector<double> exposure;  // (rows, cols), >= 0
  int cell = 1;                  // side of a cell in canvas pixels
};

/// A share of the test scenes with its 95 % interval over the draw of scenes (Wilson).
struct SceneShare {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// Errors of the controls in a test: the same weights made to look where they do in another scene,
/// at the centre, and at random. The increase in error is what attention contributes.
inline constexpr std::array<Metric, 3> kControls = {"test/error_shuffled", "test/error_center",
                                                    "test/error_random"};

/// Contents of the folder of a finished run. Shares are fractions.
struct FinishedRun {
  /// Of an agent that stops by itself: its threshold, and error and mean looks there.
  struct OwnStop {
    double threshold = 0.0;
    StopPoint point = {};
  };

  std::filesystem::path folder;
  Config config;
  Config tested = {};  // with the scenes of the test; those of `config`, unless it was done again
  std::string command;
  std::map<std::string, std::string> checksums;  // of its data files

  double valid_error = 0.0;  // lowest, which selected the checkpoint
  double episodes = 0.0;
  double gflop_per_episode = 0.0;
  double canvas_pixels = 0.0;
  double seconds = 0.0;

  std::vector<ValidPoint> curve;  // on the validation scenes

  // Of the test:
  int scenes = 0;                         // draws of the same digits included
  double error = 0.0;                     // single deterministic pass
  SceneShare error_over_scenes;           // the same; only the value if the run kept no interval
  std::map<Metric, SceneShare> controls;  // those of kControls that were measured
  std::optional<double> on_target;        // only for models that look
  std::vector<std::string> class_names;
  std::vector<double> on_target_by_glimpse;  // (T)
  std::vector<double> error_by_glimpse;      // (T)
  std::vector<double> confusion;             // (C, C): counts
  LookMap look_map;
  std::optional<StopCurves> stopping;  // if the agent may stop before its last look; runs of older
                                       // versions kept none
  std::optional<OwnStop> own_stop;
};

/// Returns whether a run has finished, test included. Throws InputError for an invalid
/// summary.json.
bool is_finished(const RunFolder& folder);

/// Whether the run's agent stops looking by itself.
bool stops_by_itself(const FinishedRun& run);

/// Reads everything except the test results. Throws InputError if the run is not finished, and as
/// run_document.h and read_curve() do: a run is read completely or not at all.
FinishedRun read_trained_run(const std::filesystem::path& folder);
/// Adds the test results, after checking that their sizes agree. Throws InputError likewise.
void read_test(FinishedRun& run);
/// Adds other test results: the text of a summary.json and of a test.json.
void read_test(FinishedRun& run, const std::string& summary, const std::string& details);
/// Reads both.
FinishedRun read_finished_run(const std::filesystem::path& folder);

/// Returns the run folders at or below a folder, or the folder of a trained agent given by name.
/// They are in study order, otherwise sorted by name with numbers compared by value. Symbolic links
/// below the folder are passed over. Throws InputError if there is none.
std::vector<std::filesystem::path> find_runs(const std::filesystem::path& folder);

}  // namespace saccade
