#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "experiments/files/progress_bar.h"

namespace saccade {

/// `saccade saliency`
struct SaliencyOptions {
  std::filesystem::path run_folder = {};
  std::filesystem::path out = {};  // a folder: made where there is none
  int scenes = 8;                  // the first ones of the test set; 1 to kMaxSheetScenes
  // K, counted from 1: of a class the answer after glimpse K, of actions the one after glimpse K,
  // of a sequence its symbol K. Default: the last answer; of a sequence every symbol.
  std::optional<int> step = {};
  std::string data = {};  // see Trained
  bool force = false;     // whether files there are written over
};

/// Implicit attention: how what a trained agent said would change with what it saw, which is the
/// sequential Jacobian of agent/learning/jacobian.h, with all that is held constant there. The test
/// scenes are played as in the single deterministic pass of an evaluation. Two files are written
/// into `out`:
///   saliency.png  a row a scene: where it looked, |d logit / d canvas| as heat over the canvas for
///                 each of the O logits, |d logit / d g_t| of each step t, and beside it the
///                 explicit attention over the same steps, where there is any
///   saliency.npz  canvas_jacobian (N, O, channels rows cols), glimpse_jacobian (N, O, T, D) where
///                 there are single glimpses, feature_jacobian (N, O, T, F), logits (N, O), chosen
///                 (N, O): the class, symbol or action whose logit it is
/// O is 1, or of a sequence the longest there is, where chosen is -1 and all else 0 after the end
/// mark. g_t is the glimpse, or the feature where there are none.
///
/// Returns the paths of both, a line each. Throws InputError for a folder that is no run, a step or
/// a number of scenes out of range, and files that are there already.
std::string saliency(const SaliencyOptions& options, const Told& told = nullptr);

}  // namespace saccade
