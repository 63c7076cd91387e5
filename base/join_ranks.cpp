#include "base/join_ranks.h"

#include <fmt/format.h>

#include <cstdlib>

#ifdef SACCADE_MPI
#include "base/mpi_ranks.h"
#endif

namespace saccade {
namespace {

// Open MPI; MPICH and Intel MPI, also through Slurm's PMI; PMIx through Slurm.
struct VariableNames {
  const char *rank, *count;
};
constexpr VariableNames kNames[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                    {"PMI_RANK", "PMI_SIZE"},
                                    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}};

}  // namespace

Launch launch() {
  for (const VariableNames& names : kNames) {
    const char *rank = std::getenv(names.rank), *count = std::getenv(names.count);
    if (rank != nullptr && count != nullptr) return {std::atoi(rank), std::atoi(count)};
  }
  return {};
}

bool built_with_mpi() {
#ifdef SACCADE_MPI
  return true;
#else
  return false;
#endif
}

std::unique_ptr<Ranks> join_ranks(const Launch& launch) {
  if (launch.count == 1) return nullptr;
#ifdef SACCADE_MPI
  std::unique_ptr<Ranks> ranks = join_mpi();
  if (ranks->count() == launch.count) return ranks;
  throw InputError(
      fmt::format("started as one of {} ranks, of which MPI knows {}: start them by "
                  "the mpirun of the MPI that this program was built with",
                  launch.count, ranks->count()));
#else
  throw InputError(fmt::format(
      "started as one of {} ranks, but built without MPI: install libopenmpi-dev and openmpi-bin "
      "(scripts/install-deps --mpi), then configure and build again; allowed: 1 rank",
      launch.count));
#endif
}

}  // namespace saccade
