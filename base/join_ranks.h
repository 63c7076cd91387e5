#pragma once

#include <memory>

#include "base/ranks.h"

namespace saccade {

/// What whoever started this process says of it: mpirun, mpiexec, srun --mpi=...
struct Launch {
  int rank = 0;
  int count = 1;
};
Launch launch();

/// Whether this build can have several ranks.
bool built_with_mpi();

/// Joins the ranks of a launch of several; nothing of one. Throws InputError in a build without
/// MPI. To be called once, while there are no other threads.
std::unique_ptr<Ranks> join_ranks(const Launch& launch);

}  // namespace saccade
