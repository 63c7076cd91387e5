#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "env/split.h"
#include "experiments/config/recording_formats.h"
#include "experiments/files/progress_bar.h"
#include "experiments/task/task.h"

namespace saccade {

/// An agent whose looks are recorded.
struct RecordedAgent {
  std::string name;
  const Task& task;
  std::span<const float> weights;             // one block of task.model.layout()
  Split split = Split::test;                  // the scenes, which must be the same for all agents:
  EvaluationConfig evaluation = {};           //   those of an evaluation on a part of the data
  double progress = 1.0;                      // of the training: places std and temperature
  EnvironmentFactory environments = nullptr;  // other scenes in place of these,
  bool judged = true;                         //   of which the truth is told
};

/// The scenes that are recorded: all, or those that the first agent gets wrong or right.
enum class RecordedScenes { all, wrong, right };

struct RecordingRequest {
  std::filesystem::path target;  // its suffix is one of recording_formats()
  bool force = false;            // whether a file there is written over
  // Whether it is written there from the start: the target is the path of an OutputFile.
  bool in_place = false;
  int scenes = 4;          // so many, from scene 0 on; >= 1
  std::uint64_t seed = 0;  // of the policies, where they draw
  RecordedScenes only = RecordedScenes::all;
  double fps = 3.0;     // glimpses a second
  bool dark = false;    // of a video: for dark pages
  Told told = nullptr;  // of the scenes that are drawn
};

/// What was recorded.
struct Recording {
  int scenes = 0;   // in the file
  int scanned = 0;  // that were played to find them
};

/// So many scenes are played to find those that are asked for.
constexpr int kMaxScanned = 100'000;

/// Throws InputError, beginning with `where`, unless the format (a name of recording_formats()) can
/// be written on this machine.
void require_format(const std::string& format, const std::string& where);

/// Plays the scenes with the single deterministic pass of an evaluation, all agents the same, and
/// writes how they look: a video (.mp4, .gif) of one frame for each glimpse and two of the verdict,
/// the agents side by side; or a contact sheet (.png) of a row for each scene and agent, a column
/// for each glimpse, and a legend below. The memory it takes does not depend on the number of
/// scenes (a sheet is one picture, though). Throws Stopped at the next scene where it is asked to
/// stop (base/stop.h), and leaves no file then.
///
/// Throws InputError for a suffix, a target, a number of scenes or a codec that cannot be, and if
/// there is no scene of the kind asked for among kMaxScanned, and std::runtime_error for a file
/// that is not whole when it is read back; what was there is left then. The same agents and request
/// give the same bytes of .gif and .png.
Recording write_recording(std::span<const RecordedAgent> agents, const RecordingRequest& request);

}  // namespace saccade
