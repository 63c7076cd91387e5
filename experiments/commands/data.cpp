#include "experiments/commands/data.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/name_table.h"
#include "env/digits.h"
#include "experiments/analysis/preview.h"
#include "experiments/commands/command.h"
#include "experiments/download/fetch.h"
#include "experiments/files/progress_bar.h"
#include "experiments/task/data_summary.h"
#include "experiments/training/warn_unused.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPreview = "preview";

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

/// A progress bar on a terminal, and a permanent line for each file.
class ScreenDownload final : public DownloadProgress {
 public:
  void begin(const std::string& name, std::int64_t bytes) override {
    name_ = name;
    total_ = bytes;
    begin_ = last_draw_ = Clock::now();
    first_.reset();
  }

  void update(std::int64_t bytes) override {
    constexpr double kRedraw = 0.2;  // seconds
    if (!first_) first_ = bytes;
    if (!screen_.terminal || seconds_since(last_draw_) < kRedraw) return;
    last_draw_ = Clock::now();
    const double per_second =
        static_cast<double>(bytes - *first_) / std::max(seconds_since(begin_), kRedraw);
    const double left = per_second > 0 ? static_cast<double>(total_ - bytes) / per_second : 0.0;
    const std::string text = fmt::format(
        "{:>3} %  {} of {}  {}/s  left {}", 100 * bytes / total_, name_, megabytes(total_),
        megabytes(static_cast<std::int64_t>(per_second)), clock_time(left));
    const double share = static_cast<double>(bytes) / static_cast<double>(total_);
    screen_.write(kClearLine + with_bar(text, share, screen_.columns()));
  }

  void end(bool whole, const std::string& url) override {
    if (screen_.terminal) screen_.write(kClearLine);
    if (whole)
      screen_.write(
          fmt::format("{}  {}{}{}\n", name_, megabytes(total_), url.empty() ? "" : "  from ", url));
  }

  void note(const std::string& text) override { screen_.write(text + "\n"); }

 private:
  const Screen screen_ = screen_of(stdout);
  std::string name_;
  std::int64_t total_ = 0;
  std::optional<std::int64_t> first_;  // bytes present at the start
  Clock::time_point begin_, last_draw_;
};

fs::path folder_of(const DataOptions& options) {
  if (!options.out.empty()) return options.out;
  if (cache_folder().empty())
    throw InputError("--out: needed, as neither XDG_CACHE_HOME nor HOME names a cache folder");
  return cache_folder() / options.name;
}

}  // namespace

bool download_data(const DataOptions& options, const std::atomic<bool>& stop) {
  const std::vector<PublishedFile>& files = published_files(options.name);
  const fs::path folder = folder_of(options);
  ScreenDownload progress;
  if (!fetch(files, folder, options.mirror, options.force, progress, stop)) return false;
  progress.note(folder.string());
  return true;
}

namespace {

/// A command line and what it does.
struct DataLine {
  std::string what;
  std::vector<std::string> arguments;
  DataOptions download;
  PreviewRequest preview;
  fs::path out;
  std::optional<int> scenes;
  bool force = false;
};

Ending call_preview(DataLine& line) {
  if (!line.download.mirror.empty())
    throw InputError("--mirror: has no effect with preview, which downloads nothing");
  if (line.arguments.empty())
    throw InputError("config is required: saccade data preview CONFIG [key=value ...] --out FILE");
  line.preview.config = line.arguments.front();
  line.preview.overrides.assign(line.arguments.begin() + 1, line.arguments.end());
  line.preview.out = line.out;
  line.preview.scenes = line.scenes.value_or(line.preview.scenes);
  line.preview.force = line.force;
  const std::unique_ptr<const World> world = preview(line.preview);
  warn_of_unused(world->config, Unused::warn);
  say(line.out.string() + "\n");
  if (!world->kind.has_digits) return Ending::done;
  const PixelConfig pixels = pixels_of(world->digits.train);
  say(data_summary(world->config, world->digits) +
      fmt::format("data.mean=[{:.4f}] data.deviation=[{:.4f}] of the training images\n",
                  fmt::join(pixels.mean, ", "), fmt::join(pixels.deviation, ", ")));
  return Ending::done;
}

Ending call_download(DataLine& line, const Call& call) {
  if (!line.arguments.empty())
    throw InputError(fmt::format("'{}': allowed after the name of a digit set: nothing",
                                 line.arguments.front()));
  if (line.scenes) throw InputError("--scenes: has no effect without preview");
  line.download.name = line.what;
  line.download.out = line.out;
  line.download.force = line.force;
  if (download_data(line.download, call.stop_flag())) return Ending::done;
  fmt::print(stderr, "stopped; the same command continues the download\n");
  return Ending::stopped;
}

}  // namespace

Command data_command() {
  const auto line = std::make_shared<DataLine>();
  return {.name = "data",
          .group = "Experiments",
          .about = "Download a digit set, or draw what an experiment trains on",
          .options =
              {{"what", &line->what,
                fmt::format("What to download ({}), or preview", join(published_sets())),
                Option::kRequired},
               {"arguments", &line->arguments,
                "preview: an experiment (YAML), and key.path=value over the file"},
               {"--out", &line->out,
                "The folder (default: where it is looked for, in the cache folder); preview: the "
                "sheet, .png"},
               {"--mirror", &line->download.mirror,
                "http://... or https://...: a folder that has the files, in place of where they "
                "are published"},
               {"--scenes", &line->scenes,
                fmt::format("preview: number of scenes (default {})", line->preview.scenes),
                PreviewRequest::kScenes},
               force_option(&line->force)},
          .call =
              [line](const Call& call) {
                return line->what == kPreview ? call_preview(*line) : call_download(*line, call);
              },
          .examples = {"saccade data mnist", "saccade data preview cluttered60 --out scenes.png"}};
}

}  // namespace saccade
