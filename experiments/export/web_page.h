#pragma once

#include <filesystem>
#include <vector>

namespace saccade {

struct WebPageRequest {
  std::vector<std::filesystem::path>
      agents;                    // run folders or names of trained agents, at least one
  std::filesystem::path target;  // a new folder; with `single`, a new .html file
  bool single = false;           // everything in one file, which needs no server
};

/// Writes a page on which people play with the agents in a browser: static files, which ask no
/// other host for anything. Scenes are made of test digits of each agent's own dataset; of
/// synthetic ones where that dataset is not here, and then the page says no test error. Throws
/// InputError before writing anything if the target exists, an agent has no still pictures or
/// follows facts of a scene that its canvas does not show (require_canvas_only), or the program
/// came without the module (`make web` builds it).
void write_web_page(const WebPageRequest& request);

}  // namespace saccade
