#include "experiments/pictures/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "agent/model/rollout.h"
#include "base/error.h"
#include "base/name_table.h"
#include "base/output.h"
#include "base/read_text.h"
#include "base/stop.h"
#include "experiments/evaluation/stopping.h"
#include "experiments/pictures/colours.h"
#include "experiments/pictures/episode_picture.h"
#include "experiments/pictures/legend.h"
#include "experiments/pictures/video.h"
#include "nn/parallel.h"

namespace saccade {
namespace {

constexpr int kChunk = 8;  // scenes played at a time
constexpr double kLeastFps = 0.1, kMostFps = 60.0;
constexpr int kVerdictFrames = 2;
constexpr int kPanelsInRow = 3;
constexpr int kSheetMargin = 12;
constexpr std::int64_t kMaxSheetPixels = 200'000'000;

// The suffix without its dot.
std::string format_of(const std::filesystem::path& target) {
  const std::string suffix = target.extension().string();
  const std::vector<std::string> formats = recording_formats();
  if (suffix.empty() || std::ranges::find(formats, suffix.substr(1)) == formats.end())
    throw InputError(fmt::format("{}: unknown suffix '{}'; allowed: .{}", target.string(), suffix,
                                 fmt::join(formats, ", .")));
  return suffix.substr(1);
}

// Plays chunks of scenes with one agent.
class FilmedAgent {
 public:
  FilmedAgent(const RecordedAgent& agent, const RecordingRequest& request)
      : agent_(agent),
        seed_(request.seed),
        stop_(request.stop),
        rollout_(agent.task.model, environments_of(agent)(kChunk, 1)),
        canvases_(zeros<3>(rollout_.core.steps, kChunk, agent.task.model.canvas().pixels())) {}

  void play(int first) {
    RolloutRequest request = RolloutRequest::of_scenes(first, seed_);
    request.progress = agent_.progress;
    request.sampling = SamplingMode::deterministic;
    request.classify_every_step = true;
    request.canvases = &canvases_;
    rollout_.run(agent_.weights, request);
  }
  Episode episode(int b) {
    Episode episode{rollout_, canvases_, b, agent_.judged};
    if (stop_) {
      std::vector<float> sureness;  // (T)
      for (int t = 0; t < rollout_.core.steps; ++t)
        sureness.push_back(rollout_.answer->sureness(t, b));
      episode.stop_after(looks_until_sure(sureness, *stop_));
    } else if (agent_.task.model.answer().stops) {
      episode.end_after(rollout_.stopped_at(b));
    }
    return episode;
  }

 private:
  static EnvironmentFactory environments_of(const RecordedAgent& agent) {
    return agent.environments ? agent.environments
                              : agent.task.environments(agent.split, agent.evaluation);
  }

  const RecordedAgent& agent_;
  std::uint64_t seed_;
  std::optional<double> stop_;
  Rollout rollout_;
  Tensor<3> canvases_;  // (T, kChunk, pixels)
};

// Draws one scene as played by all agents; `n` counts the scenes drawn.
using DrawScene = std::function<void(int n, std::span<const Episode> episodes)>;

// Plays chunk after chunk and passes on the requested scenes.
Recording play_scenes(std::span<const RecordedAgent> agents, const RecordingRequest& request,
                      Workers& workers, const DrawScene& draw) {
  std::vector<std::unique_ptr<FilmedAgent>> players;
  for (const RecordedAgent& agent : agents)
    players.push_back(std::make_unique<FilmedAgent>(agent, request));
  const bool all = request.only == RecordedScenes::all;
  const auto wanted = [&](int b) {
    return all || players[0]->episode(b).right() == (request.only == RecordedScenes::right);
  };

  if (request.on_progress) request.on_progress(0, request.scenes);
  Recording result;
  while (result.scenes < request.scenes && (all || result.scanned < kMaxScanned)) {
    const int first = result.scanned;
    players[0]->play(first);
    bool others_played = false;
    for (int b = 0; b < kChunk && result.scenes < request.scenes; ++b, ++result.scanned) {
      stop_if_asked();
      if (!wanted(b)) continue;
      if (!others_played)
        workers.for_each(static_cast<int>(players.size()) - 1,
                         [&](int i) { players[i + 1]->play(first); });
      others_played = true;
      std::vector<Episode> episodes;
      for (const auto& player : players) episodes.push_back(player->episode(b));
      draw(result.scenes++, episodes);
      if (request.on_progress) request.on_progress(result.scenes, request.scenes);
    }
  }
  if (result.scenes == 0)
    throw InputError(fmt::format("--only {}: there is none among the first {} scenes",
                                 request.only == RecordedScenes::right ? "right" : "wrong",
                                 result.scanned));
  return result;
}

// Panels side by side; more than three in a square grid.
class PanelGrid {
 public:
  explicit PanelGrid(std::span<const RecordedAgent> agents) {
    for (const RecordedAgent& agent : agents) {
      panels_.emplace_back(agent.task, agent.name);
      steps_.push_back(agent.task.model.num_glimpses());
      cell_rows_ = std::max(cell_rows_, panels_.back().rows());
      cell_cols_ = std::max(cell_cols_, panels_.back().cols());
    }
    const int count = static_cast<int>(panels_.size());
    across_ = count <= kPanelsInRow ? count : static_cast<int>(std::ceil(std::sqrt(count)));
    down_ = (count + across_ - 1) / across_;
  }

  int rows() const { return down_ * cell_rows_; }
  int cols() const { return across_ * cell_cols_; }
  int num_steps() const { return *std::ranges::max_element(steps_); }

  /// At step t; an agent with fewer glimpses stays at its last, and one that has stopped shows its
  /// verdict.
  Picture frame(std::span<const Episode> episodes, int t, bool verdict, Workers& workers) const {
    const int count = static_cast<int>(panels_.size());
    std::vector<Picture> drawn(count, Picture(0, 0, kPaper));
    workers.for_each(count, [&](int i) {
      const std::optional<int>& stopped = episodes[i].stopped_after();
      const int last = stopped.value_or(steps_[i]) - 1;
      drawn[i] = panels_[i].panel(episodes[i], std::min(t, last), verdict || (stopped && t > last));
    });
    Picture frame(rows(), cols(), kPaper);
    for (int i = 0; i < count; ++i)
      frame.paste(drawn[i], {i % across_ * cell_cols_, i / across_ * cell_rows_});
    return frame;
  }

 private:
  std::vector<EpisodePicture> panels_;
  std::vector<int> steps_;
  int cell_rows_ = 0, cell_cols_ = 0;
  int across_ = 1, down_ = 1;
};

Recording write_video(std::span<const RecordedAgent> agents, const RecordingRequest& request,
                      const std::filesystem::path& path, Workers& workers) {
  const PanelGrid grid(agents);
  const auto video = open_video(
      path, {.rows = grid.rows(), .cols = grid.cols(), .fps = request.fps}, request.target);
  const Recording result =
      play_scenes(agents, request, workers, [&](int, std::span<const Episode> episodes) {
        const int last = grid.num_steps() - 1;
        for (int t = 0; t <= last; ++t)
          video->add(grid.frame(episodes, t, /*verdict=*/false, workers));
        const Picture verdict = grid.frame(episodes, last, /*verdict=*/true, workers);
        for (int i = 0; i < kVerdictFrames; ++i) video->add(verdict);
      });
  video->close();
  return result;
}

// Returns the top rows of a picture.
Picture cropped(const Picture& picture, int rows) {
  Picture part(rows, picture.cols(), kPaper);
  part.paste(picture, {0, 0});
  return part;
}

Recording write_sheet(std::span<const RecordedAgent> agents, const RecordingRequest& request,
                      const std::filesystem::path& path, Workers& workers) {
  std::vector<EpisodeStrip> strips;
  std::vector<LegendEntry> legend;
  int scene_rows = 0, cols = 0;  // over all agents' strips
  for (const RecordedAgent& agent : agents) {
    strips.emplace_back(agent.task, agent.name);
    add_entries(legend, sheet_legend(agent.task));
    scene_rows += strips.back().rows() + kSheetMargin;
    cols = std::max(cols, strips.back().cols());
  }
  const int below = legend_rows(legend, cols);
  cols += 2 * kSheetMargin;
  const std::int64_t rows = std::int64_t{request.scenes} * scene_rows + kSheetMargin + below;
  if (request.scenes > kMaxSheetScenes || rows * cols > kMaxSheetPixels)
    throw InputError(fmt::format(
        "--scenes {}: a sheet of {} x {} pixels is too large; allowed: at most {} scenes and {} "
        "million pixels, or a video",
        request.scenes, cols, rows, kMaxSheetScenes, kMaxSheetPixels / 1'000'000));

  Picture sheet(static_cast<int>(rows), cols, kPaper);
  const Recording result =
      play_scenes(agents, request, workers, [&](int n, std::span<const Episode> episodes) {
        std::vector<Picture> drawn(strips.size(), Picture(0, 0, kPaper));
        workers.for_each(static_cast<int>(strips.size()),
                         [&](int i) { drawn[i] = strips[i].strip(episodes[i], n + 1); });
        int top = kSheetMargin + n * scene_rows;
        for (std::size_t i = 0; i < strips.size(); ++i) {
          sheet.paste(drawn[i], {kSheetMargin, top});
          top += strips[i].rows() + kSheetMargin;
        }
      });
  const int end = kSheetMargin + result.scenes * scene_rows;
  draw_legend(sheet, legend, {kSheetMargin, end}, cols - 2 * kSheetMargin);
  const std::string png = to_png(cropped(sheet, end + below));
  write_text(path, png);
  if (read_text(path) != png)
    throw std::runtime_error(
        fmt::format("{}: cannot be written: other bytes are there", request.target.string()));
  return result;
}

}  // namespace

void require_format(const std::string& format, const std::string& where) {
  if (format == "png") return;
  const std::vector<std::string> videos = video_formats();
  if (std::ranges::find(videos, "." + format) == videos.end())
    throw InputError(
        fmt::format("{}: {}; formats that work: {}, .png", where, mp4_fault(), join(videos)));
}

Recording write_recording(std::span<const RecordedAgent> agents, const RecordingRequest& request) {
  if (!(request.fps >= kLeastFps && request.fps <= kMostFps))
    throw InputError(fmt::format("--fps {}: allowed: {} to {}", request.fps, kLeastFps, kMostFps));
  if (request.stop) {
    check_threshold(*request.stop, "--stop");
    for (const RecordedAgent& agent : agents) {
      const std::string given = fmt::format("--stop {}: {}", *request.stop, agent.name);
      require_may_stop(agent.task.model, given);
      if (agent.task.model.answer().spells)
        throw InputError(given +
                         " says a sequence only where it stops by itself; allowed: without --stop");
    }
  }
  const std::string format = format_of(request.target);
  require_format(format, request.target.string());
  const auto write = format == "png" ? write_sheet : write_video;
  Workers workers(request.threads);
  if (request.in_place) return write(agents, request, request.target, workers);
  OutputFile output(request.target, request.force);
  const Recording result = write(agents, request, output.path(), workers);
  output.commit();
  return result;
}

}  // namespace saccade
