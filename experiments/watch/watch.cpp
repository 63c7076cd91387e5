#include "experiments/watch/watch.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <system_error>
#include <thread>

#include "base/stop.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/trained.h"
#include "experiments/watch/page_server.h"
#include "experiments/watch/watch_assets.h"
#include "experiments/watch/watch_page.h"
#include "experiments/watch/watched.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// Only these paths exist, so that none leads to another file.
std::optional<PageReply> answer(std::span<const fs::path> folders, const std::string& path) {
  if (path.empty()) return PageReply{"text/html; charset=utf-8", watch_page(watched_now(folders))};
  if (path == "watch.js")
    return PageReply{"text/javascript; charset=utf-8", std::string(watch_script())};
  for (const WatchedRecording& recording : recordings_below(folders))
    if (recording.path == path) {
      if (auto bytes = read_recording(recording))
        return PageReply{recording.media_type, std::move(*bytes)};
      return std::nullopt;
    }
  return std::nullopt;
}

bool is_there(const fs::path& folder) {
  std::error_code none;
  return fs::is_directory(folder, none);
}

}  // namespace

void watch(const WatchRequest& request,
           const std::function<void(const std::string& url)>& on_ready) {
  std::vector<fs::path> folders;
  for (const fs::path& given : request.folders) {
    find_runs(given);
    folders.push_back(find_run_folder(given));
  }
  const PageServer server(request.port,
                          [&](const std::string& path) { return answer(folders, path); });
  on_ready(server.url());
  while (std::ranges::any_of(folders, is_there)) {
    stop_if_asked();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace saccade
