#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/analysis/bench.h"
#include "experiments/commands/command.h"
#include "experiments/training/warn_unused.h"

namespace saccade {

Command bench_command() {
  struct Line {
    BenchRequest request;
    bool json = false;
  };
  const auto line = std::make_shared<Line>();
  BenchRequest& request = line->request;
  return {.name = "bench",
          .group = "Experiments",
          .about = "Measure the speed of an experiment",
          .options = {config_option(&request.config),
                      overrides_option(&request.overrides),
                      {"--seconds", &request.seconds, "How long in all (default 10)"},
                      threads_option(&request.threads),
                      {"--profile", &request.profile, "And where the time goes, stage by stage"},
                      json_option(&line->json)},
          .call =
              [line](const Call& call) {
                warn_of_unused(read_config(line->request.config, line->request.overrides),
                               Unused::warn);
                return say_unless_stopped(
                    call, "measured", [&](const ProgressCallback& on_progress) {
                      const nlohmann::ordered_json figures = bench(line->request, on_progress);
                      return line->json ? figures.dump(2) + "\n" : bench_table(figures);
                    });
              },
          .examples = {"saccade bench cluttered60 --profile",
                       "saccade bench ram60 training.batch_size=1024 --seconds 4 --json"}};
}

}  // namespace saccade
