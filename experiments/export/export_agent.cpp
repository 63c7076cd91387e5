#include "experiments/export/export_agent.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/output.h"
#include "experiments/export/onnx_model.h"
#include "experiments/files/npz.h"
#include "experiments/runs/shared_agent.h"
#include "experiments/runs/trained.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

void require_suffix(const char* option, const fs::path& path, const char* suffix) {
  if (!path.empty() && path.extension() != suffix)
    throw InputError(fmt::format("{} {}: unknown suffix '{}'; allowed: {}", option, path.string(),
                                 path.extension().string(), suffix));
}

std::vector<NpzArray> arrays_of(const ParameterLayout& layout, std::span<const float> weights) {
  std::vector<NpzArray> arrays;
  for (const Parameter& p : layout.parameters()) {
    const std::span<const float> numbers = weights.subspan(p.offset, p.size());
    arrays.push_back({p.name,
                      {static_cast<std::size_t>(p.rows), static_cast<std::size_t>(p.cols)},
                      std::vector<float>(numbers.begin(), numbers.end())});
  }
  return arrays;
}

}  // namespace

std::vector<fs::path> export_agent(const ExportRequest& request) {
  if (request.npz.empty() && request.onnx.empty() && request.agent.empty())
    throw InputError("nothing to write; allowed: --npz FILE, --onnx FILE, --agent DIR, --web DIR");
  if (request.unrolled && request.onnx.empty())
    throw InputError("--unrolled: has no effect without --onnx");
  if (request.half && request.agent.empty())
    throw InputError("--half: has no effect without --agent");
  require_suffix("--npz", request.npz, ".npz");
  require_suffix("--onnx", request.onnx, ".onnx");
  require_no_links(request.run_folder);
  const Trained trained(request.run_folder);
  const std::span<const float> weights = flat(trained.weights);

  std::optional<OutputFile> npz, onnx;
  const auto open = [&](std::optional<OutputFile>& file, const fs::path& path) {
    if (!path.empty())
      file.emplace(path, request.force, "--force writes over it, or name another file");
  };
  open(npz, request.npz);
  open(onnx, request.onnx);
  if (npz) write_npz(npz->path(), arrays_of(trained.task.model.layout(), weights));
  if (onnx)
    write_text(onnx->path(), onnx_model(trained.task, weights,
                                        request.unrolled ? OnnxExtent::episode : OnnxExtent::step));
  if (!request.agent.empty()) write_shared_agent(request.run_folder, request.agent, request.half);
  if (npz) npz->commit();
  if (onnx) onnx->commit();
  std::vector<fs::path> written = {request.npz, request.onnx, request.agent};
  std::erase_if(written, [](const fs::path& path) { return path.empty(); });
  return written;
}

}  // namespace saccade
