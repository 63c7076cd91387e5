#include "experiments/runs/trained.h"

#include <fmt/format.h>

#include "experiments/runs/run_folder.h"
#include "nn/error.h"

namespace saccade {
std::filesystem::path find_checkpoint(const std::filesystem::path& run_folder) {
  if (run_folder.extension() == ".safetensors") return run_folder;
  const RunFolder folder(run_folder);
  for (const auto& path : {folder.best_checkpoint(), folder.last_checkpoint()})
    if (std::filesystem::exists(path)) return path;
  throw InputError(fmt::format("{}: no run folder with a checkpoint (looked for {})",
                               run_folder.string(), folder.best_checkpoint().string()));
}

namespace {

Tensor<1> averaged(const Checkpoint& checkpoint, const ParameterLayout& layout) {
  Tensor<1> weights = zeros<1>(layout.size());
  checkpoint.restore_averaged(weights, layout);
  return weights;
}

}  // namespace

Trained::Trained(const std::filesystem::path& run_folder)
    : Trained(Checkpoint(find_checkpoint(run_folder)), run_folder.string()) {}

Trained::Trained(const Checkpoint& checkpoint, const std::string& origin)
    : task(parse_config(checkpoint.config_yaml(), origin)),
      weights(averaged(checkpoint, task.model.layout())) {}

}  // namespace saccade
