#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/split.h"
#include "experiments/config/recording_formats.h"
#include "experiments/files/progress_bar.h"
#include "experiments/task/task.h"

namespace saccade {

/// An agent to record.
struct RecordedAgent {
  std::string name;
  const Task& task;
  std::span<const float> weights;             // one block of task.model.layout()
  Split split = Split::test;                  // the scenes, which must be the same for all agents:
  EvaluationConfig evaluation = {};           // those of an evaluation on a part of the data
  double progress = 1.0;                      // training progress, which sets std and temperature
  EnvironmentFactory environments = nullptr;  // other scenes instead of these,
  bool judged = true;                         // whose labels are known
};

/// Which scenes to record: all, or those that the first agent gets wrong or right.
enum class RecordedScenes { all, wrong, right };

struct RecordingRequest {
  std::filesystem::path target;  // its suffix is one of recording_formats()
  bool force = false;            // whether to overwrite an existing file
  // Whether to write directly: the target is already the path of an OutputFile.
  bool in_place = false;
  int scenes = 4;          // number of scenes, from scene 0; >= 1
  std::uint64_t seed = 0;  // of sampled policies
  RecordedScenes only = RecordedScenes::all;
  // Stops each agent once its highest class probability is above this; in (0, 1).
  std::optional<double> stop = {};
  double fps = 3.0;                        // glimpses per second
  int threads = 0;                         // 0: every processor this process may use
  ProgressCallback on_progress = nullptr;  // progress over the scenes drawn
};

/// What was recorded.
struct Recording {
  int scenes = 0;   // in the file
  int scanned = 0;  // that were played to find them
};

/// Most scenes to play in search of the requested ones.
constexpr int kMaxScanned = 100'000;

/// Throws InputError, beginning with `where`, unless the format (a name from recording_formats())
/// can be written on this machine.
void require_format(const std::string& format, const std::string& where);

/// Plays the scenes with the single deterministic pass of an evaluation, the same for all agents,
/// and writes a recording: a video (.mp4, .gif) with one frame per glimpse and two for the verdict,
/// the agents side by side; or a contact sheet (.png) with a row per scene and agent, a column per
/// glimpse, and a legend below. An agent that stops shows its verdict from then on; a sheet has no
/// further tiles of it. Memory use does not depend on the number of scenes (except that a
/// sheet is one picture). If asked to stop (base/stop.h), throws Stopped at the next scene and
/// leaves no file. The agents are played and drawn side by side, each by one thread.
///
/// Throws InputError for an invalid suffix, target, number of scenes, threshold or codec, for an
/// agent that is to stop and may not (may_stop) or answers a sequence, which it says only where it
/// stops by itself, and if none of kMaxScanned scenes is of the requested kind; throws
/// std::runtime_error for a file that is incomplete when read back. An existing file is left
/// unchanged then. The same agents and request give the same bytes of .gif and .png, for any number
/// of threads.
Recording write_recording(std::span<const RecordedAgent> agents, const RecordingRequest& request);

}  // namespace saccade
