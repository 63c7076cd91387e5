#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

// Shipped files are in `share/saccade` beside the `bin` of the installed program, in the source
// tree it was built in, or where a host program says. Shipped libraries are in `lib/saccade` beside
// that `bin`, or in the build tree.

/// For libraries that are loaded into another program: sets the folder that has `experiments/`,
/// `models/` and the shipped libraries. Call before any threads exist.
void set_shipped_root(std::filesystem::path root);

/// Names of the shipped experiments (experiments/<name>.yaml) and of the trained agents (run
/// folders models/<name>), sorted.
std::vector<std::string> shipped_experiments();
std::vector<std::string> shipped_agents();

/// Returns the file of a shipped experiment or the run folder of a shipped agent; empty if the name
/// is unknown.
std::filesystem::path shipped_experiment(const std::string& name);
std::filesystem::path shipped_agent(const std::string& name);

/// Returns the folder of the web page and its module; empty if the program came without them.
std::filesystem::path shipped_page();

/// Loads a shipped library (dlopen) that is never unloaded; null if it cannot be loaded. A program
/// that lies elsewhere, linked with the installed package, finds it by the path in its DT_RUNPATH.
void* open_shipped_library(const std::string& name);

}  // namespace saccade
