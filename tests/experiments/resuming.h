// Runs that are stopped and continued.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "experiments/training/run.h"
#include "experiments/training/train.h"
#include "tests/experiments/support.h"

namespace saccade {

/// The same request, continued.
inline RunRequest resumed(RunRequest options) {
  options.resume = true;
  return options;
}

/// Continues training without a screen; `progress` sets `stop` at some moment.
inline bool run_until(const RunRequest& options, Progress& progress,
                      const std::atomic<bool>& stop) {
  return train(read_config(options.config, options.overrides), RunFolder(options.out),
               {.resume = options.resume, .threads = 2, .command = options.command}, progress,
               stop);
}

/// Stops in the update that reaches `episodes`.
struct StopsAt : Progress {
  explicit StopsAt(std::int64_t episodes) : at(episodes) {}
  void update(std::int64_t episodes, double, double) override { stop = stop || episodes == at; }
  void note(const std::string& text) override { notes += text; }
  std::int64_t at;
  std::string notes;
  std::atomic<bool> stop = false;
};

/// What running these options refuses with.
inline std::string resume_fault(const RunRequest& options) {
  return message_of<InputError>([&] { run(options, false); });
}

}  // namespace saccade
