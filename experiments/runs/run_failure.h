#pragma once

#include <optional>
#include <string>

#include "experiments/runs/run_folder.h"

namespace saccade {

/// Why the last training of a run came to no good end: its failed.txt, which the next one removes.
struct RunFailure {
  std::string origin;   // by whom and when, a line
  std::string message;  // what was said

  friend bool operator==(const RunFailure&, const RunFailure&) = default;
};

/// Nothing where the run has not failed, or was begun again since.
std::optional<RunFailure> read_failure(const RunFolder& folder);

/// Keeps what went wrong just now, unless the folder is one of other things than a run. For who has
/// the folder's lock. Throws nothing: there is a worse fault already.
void keep_failure(const RunFolder& folder, const std::string& message);

}  // namespace saccade
