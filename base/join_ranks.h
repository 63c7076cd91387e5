#pragma once

#include <memory>

#include "base/ranks.h"

namespace saccade {

/// The rank and count that the launcher (mpirun, mpiexec, srun --mpi=...) gave this process.
struct Launch {
  int rank = 0;
  int count = 1;
};
Launch launch();

/// Whether this build supports several ranks.
bool built_with_mpi();

/// Joins the ranks of a launch; returns null if there is only one. Throws InputError in a build
/// without MPI. Call once, before any other thread starts.
std::unique_ptr<Ranks> join_ranks(const Launch& launch);

}  // namespace saccade
