#pragma once

#include <filesystem>
#include <string>

namespace saccade {

/// `saccade export`
struct ExportOptions {
  std::filesystem::path run_folder;  // or a .safetensors file
  std::filesystem::path npz = {};    // to be written; empty: not
  std::filesystem::path onnx = {};   // the same
  std::filesystem::path agent = {};  // the same, a folder
  bool unrolled = false;             // the .onnx file has whole episodes, else one step
  bool force = false;                // whether files that are there are written over
};

/// Writes the averaged weights of a run's best checkpoint (its last, where there is no best yet)
/// for other programs, and returns the paths, a line each. `npz`: an array (rows, cols) for each
/// parameter, by its name. `onnx`: the agent that computes with them (onnx_model.h). `agent`: what
/// others need of the run, as a folder that every verb takes (shared_agent.h). Throws InputError
/// before anything is written where nothing or another suffix is asked for, where there is a file
/// already, or where the agent cannot be said in ONNX.
std::string export_agent(const ExportOptions& options);

}  // namespace saccade
