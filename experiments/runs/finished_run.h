#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/files/metrics.h"
#include "experiments/runs/run_folder.h"

namespace saccade {

/// How much the looks of an episode expose each part of the canvas, mean over scenes and seeds.
struct LookMap {
  int rows = 0;
  int cols = 0;
  std::vector<double> exposure;  // (rows, cols), >= 0
  int cell = 1;                  // side of a cell in canvas pixels
};

/// A share of the test scenes, and where it may lie by the draw of these: a 95 % interval (Wilson).
struct SceneShare {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// The errors of a test's controls: the same weights made to look where they do in another scene,
/// at the centre and at random. What attention is good for is what they lose.
inline constexpr std::array<Metric, 3> kControls = {"test/error_shuffled", "test/error_center",
                                                    "test/error_random"};

/// What a finished run left in its folder. Shares are fractions.
struct FinishedRun {
  std::filesystem::path folder;
  Config config;
  std::string command;
  std::map<std::string, std::string> checksums;  // of its data files

  double valid_error = 0.0;  // the least, which chose the checkpoint
  double episodes = 0.0;
  double gflop_per_episode = 0.0;
  double canvas_pixels = 0.0;
  double seconds = 0.0;

  std::vector<ValidPoint> curve;  // on the validation scenes

  // Of the test:
  double error = 0.0;            // single deterministic pass
  SceneShare error_over_scenes;  // the same; of runs that kept no interval nothing but itself
  std::map<Metric, SceneShare> controls;  // those of kControls that it has
  std::optional<double> on_target;        // of models that look about
  std::vector<std::string> class_names;
  std::vector<double> on_target_by_glimpse;  // (T)
  std::vector<double> error_by_glimpse;      // (T)
  std::vector<double> confusion;             // (C, C): counts
  LookMap look_map;
};

/// Whether a run has come to its end, test included. Throws InputError for a summary.json that is
/// none.
bool is_finished(const RunFolder& folder);

/// All but what its test found, which is not looked at. Throws InputError for a folder whose run is
/// not finished, and as run_document.h and read_curve() do: a run is read whole or not at all.
FinishedRun read_trained_run(const std::filesystem::path& folder);
/// Adds what its test found, in the sizes that go together. Throws InputError likewise.
void read_test(FinishedRun& run);
/// Both.
FinishedRun read_finished_run(const std::filesystem::path& folder);

/// In a study's folder: its run folders relative to it, a line each, in the order of the study.
inline const char* const kStudyFile = "study.txt";

/// The run folders at or below a folder, or that of a trained agent by its name: in the order of a
/// study, and others by name, numbers by their value. Throws InputError where there is none.
std::vector<std::filesystem::path> find_runs(const std::filesystem::path& folder);

}  // namespace saccade
