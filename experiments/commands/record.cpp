#include "experiments/analysis/record.h"

#include <fmt/format.h>

#include <memory>

#include "experiments/commands/command.h"

namespace saccade {
namespace {

std::string call_record(const RecordRequest& request, const ProgressCallback& on_progress) {
  const auto [path, wanted, recording, from_training] = record(request, on_progress);
  std::string text = path.string() + "\n" + from_training;
  if (recording.scenes < wanted)
    text +=
        fmt::format("{} scenes of {} are {}\n", recording.scenes, recording.scanned, request.only);
  return text;
}

}  // namespace

Command record_command() {
  const auto request = std::make_shared<RecordRequest>();
  return {
      .name = "record",
      .group = "Look at agents",
      .about = "Record videos of where trained agents look",
      .options =
          {{"run_dirs", &request->run_folders,
            std::string("Run folders or names of trained agents, side by side") + kOtherScenes,
            Option::kRequired},
           {"--out", &request->out,
            "What to write: .mp4, .gif or .png (default: recording.mp4 in the run "
            "folder; here, for several)"},
           {"--scenes", &request->scenes, "Test scenes (default 8; 4 on a .png)",
            RecordRequest::kScenes},
           {"--seed", &request->seed, "Of the scenes (default evaluation.seed)"},
           {"--only", &request->only, "wrong, right: scenes that the first agent answers so"},
           {"--stop", &request->stop,
            "Stop looking once the highest class probability is above this, between 0 and 1"},
           {"--fps", &request->fps, "Glimpses a second (default 3)"},
           data_option(&request->on.data),
           threads_option(&request->threads),
           force_option(&request->force)},
      .call =
          [request](const Call& call) {
            request->on.scenes = take_overrides(request->run_folders);
            return say_unless_stopped(call, "scenes", [&](const ProgressCallback& on_progress) {
              return call_record(*request, on_progress);
            });
          },
      .examples = {"saccade record soft60 cluttered60 scene.num_distractors=16 --out both.mp4",
                   "saccade record runs/quickstart/base/seed-1 --out mistakes.gif --only wrong"}};
}

}  // namespace saccade
