#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

// What comes with the program lies in `share/saccade` beside the `bin` that it was installed in, in
// the sources that it was built in, or where a host says that it put it.

/// For libraries that are loaded into another program: the folder that has `experiments/` and
/// `models/`. To be called before there are threads.
void set_shipped_root(std::filesystem::path root);

/// The names of the experiments that are shipped (experiments/<name>.yaml), and of the trained
/// agents (the run folders models/<name>), sorted.
std::vector<std::string> shipped_experiments();
std::vector<std::string> shipped_agents();

/// The file of a shipped experiment, the run folder of a shipped agent; empty if none has the name.
std::filesystem::path shipped_experiment(const std::string& name);
std::filesystem::path shipped_agent(const std::string& name);

}  // namespace saccade
