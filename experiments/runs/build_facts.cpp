#include "experiments/runs/build_facts.h"

#include <dnnl.h>
#include <fmt/format.h>
#include <tbb/version.h>

#include <opencv2/core/version.hpp>

#include "base/join_ranks.h"
#include "saccade_version.h"

namespace saccade {
namespace {

std::string instructions() {
#if defined(__AVX512F__)
  return "AVX-512";
#elif defined(__AVX2__)
  return "AVX2";
#else
  return "baseline of the processor family";
#endif
}

std::string checks() {
#ifdef SACCADE_CHECKS
  return "on";
#else
  return "off";
#endif
}

}  // namespace

std::string version() { return SACCADE_VERSION; }

std::vector<std::pair<std::string, std::string>> build_facts() {
  const dnnl_version_t* onednn = dnnl_version();
  return {{"version", SACCADE_VERSION},
          {"commit", SACCADE_COMMIT},
          {"compiler", __VERSION__},
          {"instructions", instructions()},
          {"internal checks", checks()},
          {"several ranks", built_with_mpi() ? "by MPI" : "no"},
          {"oneDNN", fmt::format("{}.{}.{}", onednn->major, onednn->minor, onednn->patch)},
          {"oneTBB", fmt::format("{}.{}", TBB_VERSION_MAJOR, TBB_VERSION_MINOR)},
          {"OpenCV", CV_VERSION}};
}

}  // namespace saccade
