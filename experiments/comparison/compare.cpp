#include "experiments/comparison/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/output.h"
#include "base/read_text.h"
#include "base/system_reason.h"
#include "experiments/analysis/evaluate.h"
#include "experiments/analysis/record.h"
#include "experiments/comparison/gather.h"
#include "experiments/comparison/report_files.h"
#include "experiments/comparison/tables.h"
#include "experiments/pictures/video.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr int kRecordedScenes = 6;
constexpr std::size_t kRecordedAgents = 6;  // so many fit beside each other

fs::path out_folder(const CompareRequest& request) {
  if (!request.out.empty()) return request.out;
  const bool own = request.folders.size() == 1 && request.other_scenes.empty() &&
                   fs::exists(request.folders[0]);  // not the name of a shipped agent
  return own ? request.folders[0] / "comparison" : fs::path("comparison");
}

// What every run is tested on again and recorded on, if there are other scenes.
TestedOn again_on(const CompareRequest& request) {
  return {.scenes = request.other_scenes, .own = request.own};
}

// Throws InputError if one of `files` would be written over.
void require_free(const std::vector<fs::path>& files, bool force) {
  for (const fs::path& file : files)
    if (!force && fs::exists(file))
      throw InputError(
          fmt::format("{}: exists already; --force writes over it, --out DIR chooses "
                      "another folder",
                      file.string()));
}

// Removes what an older comparison had and this one has not: charts, such as looks_3.png of a third
// variant, and the recording.
void remove_older(const fs::path& out, const std::vector<fs::path>& files) {
  std::vector<fs::path> older;
  for (const fs::directory_entry& chart : fs::directory_iterator(out / "charts"))
    if (chart.path().extension() == ".png" && is_chart_id(chart.path().stem().string()))
      older.push_back(chart.path());
  for (const std::string& format : video_formats()) older.push_back(out / ("recording" + format));
  for (const fs::path& file : older)
    if (std::ranges::find(files, file) == files.end()) fs::remove(file);
}

// Files that take their places together, when all are whole. What fails before leaves what was
// there, and no folder that was not.
class Outputs {
 public:
  explicit Outputs(const fs::path& folder) : folder_(folder), charts_(folder / "charts") {
    for (const fs::path& each : {folder_, charts_}) {
      if (fs::is_symlink(fs::symlink_status(each)))
        throw InputError(each.string() + ": is a symbolic link, which is not followed");
      if (!fs::exists(each)) made_.push_back(each);
    }
    std::error_code error;
    fs::create_directories(charts_, error);
    if (error) throw_refused(folder_.string() + ": the folder cannot be made", error.value());
  }
  ~Outputs() {
    files_.clear();
    std::error_code not_empty;
    for (auto each = made_.rbegin(); each != made_.rend(); ++each) fs::remove(*each, not_empty);
  }
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  void take(std::unique_ptr<OutputFile> file) { files_.push_back(std::move(file)); }
  // Where a file is to be written.
  fs::path add(const fs::path& target) {
    take(std::make_unique<OutputFile>(target, /*force=*/true));
    return files_.back()->path();
  }
  std::vector<fs::path> add(const std::vector<fs::path>& targets) {
    std::vector<fs::path> parts;
    for (const fs::path& target : targets) parts.push_back(add(target));
    return parts;
  }
  void commit() {
    for (const auto& file : files_) file->commit();
  }

 private:
  fs::path folder_, charts_;
  std::vector<fs::path> made_;
  std::vector<std::unique_ptr<OutputFile>> files_;
};

// The first run of each variant, side by side on the same scenes. Nothing where that cannot be -
// the data are not there any more, say - which the comparison then names.
std::optional<EmbeddedRecording> record_variants(Comparison& comparison, const fs::path& file,
                                                 const CompareRequest& request, Outputs& outputs,
                                                 const ProgressCallback& on_progress) {
  auto output = std::make_unique<OutputFile>(file, /*force=*/true);
  std::vector<fs::path> folders;
  for (const Variant& variant : comparison.variants)
    if (folders.size() < kRecordedAgents) folders.push_back(variant.folders[0]);
  try {
    const TrainedAgents agents(folders, again_on(request));
    write_recording(agents.on_scenes(agents.seed()), {.target = output->path(),
                                                      .in_place = true,
                                                      .scenes = kRecordedScenes,
                                                      .seed = agents.seed(),
                                                      .threads = request.threads,
                                                      .on_progress = on_progress});
  } catch (const std::exception& error) {
    comparison.left_out.push_back({file, error.what()});
    return std::nullopt;
  }
  const bool mp4 = file.extension() == ".mp4";
  const VideoShape shape = mp4 ? shape_of_mp4(output->path()) : VideoShape{};
  EmbeddedRecording recording{.media_type = mp4 ? "video/mp4" : "image/gif",
                              .bytes = read_text(output->path()),
                              .title = {},
                              .rows = shape.rows,
                              .cols = shape.cols};
  outputs.take(std::move(output));
  const bool all = folders.size() == comparison.variants.size();
  recording.title = fmt::format(
      "Where the first run of {} looks: {} test scenes",
      all ? "each variant" : fmt::format("each of the first {} variants", kRecordedAgents),
      kRecordedScenes);
  return recording;
}

// Writes the results of a test on other scenes.
void test_again(FinishedRun& run, const CompareRequest& request) {
  const TestFigures figures =
      evaluate({.run_folder = run.folder, .on = again_on(request), .threads = request.threads});
  read_test(run, to_json(figures).dump(), figures.details);
}

}  // namespace

ComparedRuns compare(const CompareRequest& request, const ProgressCallback& on_progress) {
  const fs::path out = out_folder(request);
  const fs::path markdown = out / "compare.md", csv = out / "compare.csv",
                 video = out / ("recording" + video_formats().front());
  std::vector<fs::path> files = {markdown, csv, video};
  require_free(files, request.force);  // before the work
  require_free(report_files(out, {}), request.force);
  Workers workers(request.threads);
  RunAgain again{
      .stopping = [&](const FinishedRun& run) { return measure_stopping(run.folder, workers); }};
  if (!request.other_scenes.empty())
    again.test = [&](FinishedRun& run) { test_again(run, request); };
  Comparison comparison = gather(request.folders, request.tuned_by, on_progress,
                                 request.stop_target, again, request.other_scenes);
  if (std::ranges::find(comparison.commands, request.command) == comparison.commands.end())
    comparison.commands.push_back(request.command);
  const std::vector<Chart> charts = charts_of(comparison);
  const std::vector<fs::path> report = report_files(out, charts);
  files.insert(files.end(), report.begin(), report.end());
  require_free(report, request.force);
  const bool writes_over = fs::exists(report[0]);

  Outputs outputs(out);
  const std::optional<EmbeddedRecording> recording =
      record_variants(comparison, video, request, outputs, on_progress);
  write_text(outputs.add(markdown), to_markdown(comparison));
  write_text(outputs.add(csv), to_csv(comparison));
  write_report(outputs.add(report), comparison, charts, recording);
  outputs.commit();
  if (!recording) std::erase(files, video);
  if (request.force && writes_over) remove_older(out, files);
  return {std::move(comparison), report[0], recording ? video : fs::path()};
}

std::string to_text(const ComparedRuns& compared) {
  return fmt::format(
      "{}\n{}the report, to open in a browser:  {}\n", to_table(compared.comparison),
      compared.video.empty() ? "" : fmt::format("the video:  {}\n", compared.video.string()),
      compared.report.string());
}

}  // namespace saccade
