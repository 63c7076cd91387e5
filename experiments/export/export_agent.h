#pragma once

#include <filesystem>
#include <vector>

namespace saccade {

struct ExportRequest {
  std::filesystem::path run_folder;  // or a .safetensors file
  std::filesystem::path npz = {};    // target; empty: none
  std::filesystem::path onnx = {};   // the same
  std::filesystem::path agent = {};  // the same, a folder
  bool half = false;                 // the folder has its weights in half precision
  bool unrolled = false;             // export whole episodes to the .onnx file, otherwise one step
  bool force = false;                // whether to overwrite existing files
};

/// Exports the averaged weights of a run's best checkpoint (the last if there is no best yet) for
/// other programs, and returns the paths. `npz`: an array (rows, cols) for each
/// parameter, by name. `onnx`: the agent as a computation graph (onnx_model.h). `agent`: what
/// others need of the run, as a folder that every command accepts (shared_agent.h). Throws
/// InputError before writing anything if no target or a wrong suffix is given, a file exists
/// already, the run folder has a symbolic link, or the agent cannot be expressed in ONNX.
std::vector<std::filesystem::path> export_agent(const ExportRequest& request);

}  // namespace saccade
