#include "experiments/commands/export.h"
#include "experiments/commands/command.h"

#include <fmt/format.h>

#include <memory>
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

std::string export_agent(const ExportOptions& options) {
  if (options.npz.empty() && options.onnx.empty() && options.agent.empty())
    throw InputError(
        "saccade export: nothing to write; allowed: --npz FILE, --onnx FILE, --agent DIR");
  if (options.unrolled && options.onnx.empty())
    throw InputError("--unrolled: says what is in the file of --onnx, which is not asked for");
  require_suffix("--npz", options.npz, ".npz");
  require_suffix("--onnx", options.onnx, ".onnx");
  const Trained trained(options.run_folder);
  const std::span<const float> weights = flat(trained.weights);

  std::optional<OutputFile> npz, onnx;
  const auto open = [&](std::optional<OutputFile>& file, const fs::path& path) {
    if (!path.empty())
      file.emplace(path, options.force, "--force writes over it, or name another file");
  };
  open(npz, options.npz);
  open(onnx, options.onnx);
  if (npz) write_npz(npz->path(), arrays_of(trained.task.model.layout(), weights));
  if (onnx)
    write_text(onnx->path(), onnx_model(trained.task, weights,
                                        options.unrolled ? OnnxExtent::episode : OnnxExtent::step));
  if (!options.agent.empty()) write_shared_agent(options.run_folder, options.agent);
  std::string written;
  if (npz) npz->commit();
  if (onnx) onnx->commit();
  for (const fs::path& path : {options.npz, options.onnx, options.agent})
    if (!path.empty()) written += path.string() + "\n";
  return written;
}

Command export_command() {
  const auto options = std::make_shared<ExportOptions>();
  return {
      .name = "export",
      .group = "Look at agents",
      .about = "Write an agent for other programs: NumPy, ONNX, a folder",
      .options = {run_folder_option(&options->run_folder),
                  {"--npz", &options->npz, "A new .npz file: an array for each parameter"},
                  {"--agent", &options->agent,
                   "A new folder: configuration, figures and averaged weights, which every command "
                   "takes for a run folder"},
                  {"--onnx", &options->onnx,
                   "A new .onnx file: one step, from a glimpse and the state to the answer and "
                   "where to look next"},
                  {"--unrolled", &options->unrolled,
                   "The .onnx file has whole episodes, from the canvas to the answer"},
                  force_option(&options->force)},
      .call =
          [options](const Call&) {
            say(export_agent(*options));
            return Ending::done;
          },
      .examples = {"saccade export soft60 --onnx agent.onnx --unrolled",
                   "saccade export runs/quickstart/base/seed-1 --npz weights.npz"}};
}

}  // namespace saccade
