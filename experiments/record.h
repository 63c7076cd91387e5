#pragma once

#include <filesystem>

namespace saccade {

/// `saccade record`
struct RecordOptions {
  std::filesystem::path run_folder;
  std::filesystem::path out;  // a .png that does not exist yet
  int scenes = 4;             // the first of the test scenes
};

/// Draws where a trained agent looks: a contact sheet of scenes x steps, each the canvas with the
/// squares of all scales, the path so far and, below, what the retina sees; green or red at the
/// end. Throws InputError for a folder that is no run, another suffix than .png, or a file that
/// exists.
void record(const RecordOptions& options);

}  // namespace saccade
