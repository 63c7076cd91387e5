#pragma once

#include <memory>

#include "base/ranks.h"

namespace saccade {

/// The ranks of an MPI job, which this process joins; in builds with MPI alone. They are left when
/// this is destroyed, which waits for the others where all came to their end (part()); else whoever
/// started the job is to end it.
std::unique_ptr<Ranks> join_mpi();

}  // namespace saccade
