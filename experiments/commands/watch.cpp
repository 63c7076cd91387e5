#include "experiments/watch/watch.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/stop.h"
#include "experiments/commands/command.h"

namespace saccade {

Command watch_command() {
  const auto request = std::make_shared<WatchRequest>();
  return {
      .name = "watch",
      .group = "Studies on many machines",
      .about = "Show what is training in a browser: curves, recordings, states",
      .options = {{"folders", &request->folders, "Folders of runs or of studies (default: runs)"},
                  {"--port", &request->port, "Port on 127.0.0.1 (default: one that is free)",
                   Range{0, 65535}}},
      .call =
          [request](const Call& call) {
            if (request->folders.empty()) request->folders = {"runs"};
            const bool gone = unless_stopped(call.stop_flag(), [&] {
              watch(*request, [](const std::string& url) {
                say(url + "\n");
                std::fflush(stdout);
              });
            });
            if (!gone) return Ending::stopped;
            say("no folder is left to watch\n");
            return Ending::done;
          },
      .examples = {"saccade watch runs/hard_vs_soft", "saccade watch runs --port 8080"}};
}

}  // namespace saccade
