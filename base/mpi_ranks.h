#pragma once

#include <memory>

#include "base/ranks.h"

namespace saccade {

/// Joins the ranks of an MPI job; only in builds with MPI. The destructor leaves them: it waits for
/// the others if all ranks reached their end (announce_end()), otherwise the launcher has to end
/// the job.
std::unique_ptr<Ranks> join_mpi();

}  // namespace saccade
