#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/range.h"
#include "experiments/config/config.h"
#include "experiments/config/recording_formats.h"
#include "experiments/files/progress_bar.h"

namespace saccade {

struct SaliencyRequest {
  static constexpr Range kScenes{1, kMaxSheetScenes};

  std::filesystem::path run_folder = {};
  std::filesystem::path out = {};  // a folder, made if missing
  int scenes = 8;                  // the first ones of the test set
  // K, counted from 1: for a class or actions the answer after glimpse K, for a sequence its symbol
  // K. Default: the last answer, or every symbol of a sequence.
  std::optional<int> step = {};
  std::string data = {};  // see Trained
  bool force = false;     // whether to overwrite existing files
};

/// The files that saliency() wrote.
struct SaliencyFiles {
  std::vector<std::filesystem::path> paths;
  std::vector<Difference> from_training;  // in what the digits differ from those of training
};

/// Implicit attention: how a trained agent's outputs depend on its observations, i.e. the
/// sequential Jacobian of agent/learning/jacobian.h, which states what is held constant. The test
/// scenes are played as in the single deterministic pass of an evaluation. Writes two files into
/// `out`:
///   saliency.png  a row per scene: where it looked, |d logit / d canvas| as heat over the canvas
///                 for each of the O logits, |d logit / d g_t| of each step t, and beside it the
///                 explicit attention over the same steps, if any
///   saliency.npz  canvas_jacobian (N, O, channels rows cols), glimpse_jacobian (N, O, T, D) if
///                 there are single glimpses, feature_jacobian (N, O, T, F), logits (N, O), chosen
///                 (N, O): the class, symbol or action of the logit
/// O is 1, or for a sequence its maximum length; after the end mark chosen is -1 and everything
/// else 0. g_t is the glimpse, or the feature if there are no single glimpses.
///
/// Throws InputError for a folder that is not a run, a step or number of scenes out of range, and
/// existing files.
SaliencyFiles saliency(const SaliencyRequest& request,
                       const ProgressCallback& on_progress = nullptr);

}  // namespace saccade
