#pragma once

#include <optional>
#include <string>

#include "experiments/runs/run_folder.h"

namespace saccade {

/// Why the last training of a run failed, as recorded in failed.txt, which the next training
/// removes.
struct RunFailure {
  std::string origin;   // process and time, one line
  std::string message;  // the error message

  friend bool operator==(const RunFailure&, const RunFailure&) = default;
};

/// Returns nothing if the run has not failed, or has been restarted since.
std::optional<RunFailure> read_failure(const RunFolder& folder);

/// Records the current failure, unless the folder holds something other than a run. For the holder
/// of the folder's lock. Does not throw: a worse error is already being handled.
void keep_failure(const RunFolder& folder, const std::string& message);

}  // namespace saccade
