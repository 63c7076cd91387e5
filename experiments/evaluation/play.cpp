#include "experiments/evaluation/play.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/stop.h"
#include "experiments/evaluation/evaluator.h"

namespace saccade {

AttentionWeights play(const Model& model, std::span<const float> parameters,
                      const EnvironmentFactory& environments, const PlayRequest& request,
                      Workers& workers) {
  AttentionWeights played(model, request.scenes, Kept::everything, request.facts);
  const int chunks = (request.scenes + kScenesAtATime - 1) / kScenesAtATime;
  const int players = std::min(workers.threads(), chunks);
  std::vector<std::unique_ptr<Rollout>> rollouts;
  for (int i = 0; i < players; ++i)
    rollouts.push_back(std::make_unique<Rollout>(model, environments(kScenesAtATime, 1)));

  workers.for_each(players, [&](int player) {
    Rollout& rollout = *rollouts[player];
    Tensor<3> canvases = zeros<3>(played.keeps("canvases") ? model.num_glimpses() : 0,
                                  kScenesAtATime, model.canvas().pixels());
    Tensor<2> baselines =
        zeros<2>(played.keeps("baselines") ? model.num_glimpses() : 0, kScenesAtATime);
    CriticMemory critic;
    if (baselines.size() > 0)
      critic = model.baseline->make_memory(model.num_glimpses(), kScenesAtATime);
    for (int chunk = player; chunk < chunks; chunk += players) {
      stop_if_asked();
      const int first = chunk * kScenesAtATime;
      RolloutRequest rollout_request = RolloutRequest::of_scenes(first, request.seed, request.pass);
      rollout_request.sampling = request.sampling;
      rollout_request.classify_every_step = true;
      rollout_request.beam = request.beam;
      if (canvases.size() > 0) rollout_request.canvases = &canvases;
      rollout.run(parameters, rollout_request);
      if (baselines.size() > 0) rollout.estimate_baselines(baselines, critic, parameters);
      for (int b = 0; b < kScenesAtATime && first + b < request.scenes; ++b) {
        played.record(rollout, b, first + b);
        played.record_baselines(baselines, b, first + b);
        played.record_canvases(canvases, b, first + b);
      }
    }
  });
  return played;
}

}  // namespace saccade
