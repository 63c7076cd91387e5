#include <doctest/doctest.h>

#include <opencv2/imgcodecs.hpp>
#include <thread>

#include "experiments/analysis/record.h"
#include "tests/experiments/gif.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"
#include "tests/limited_files.h"

namespace saccade {
namespace {

// Three glimpses and two frames for the verdict.
constexpr int kFramesOfScene = 5;

std::string record_fault(const RecordRequest& options) {
  return message_of<InputError>([&] { record(options); });
}

}  // namespace

TEST_CASE("an impossible recording is refused and nothing is overwritten") {
  const TrainedTiny tiny;
  put_bytes(tiny.path / "mine.png", "mine");
  put_bytes(tiny.path / "mine.gif", "mine");
  put_bytes(tiny.path / "mine.mp4", "mine");
  fs::create_directory(tiny.path / "folder.gif");
  const auto before = contents(tiny.path);
  const auto refused = [&](const fs::path& folder, const std::string& out) {
    return record_fault({.run_folders = {folder}, .out = tiny.path / out});
  };
  for (const char* suffix : {"png", "gif", "mp4"}) {
    CHECK(contains(refused(tiny.run, std::string("mine.") + suffix), "exists already"));
    CHECK(
        contains(refused(tiny.run, std::string("none/a.") + suffix), "cannot be written: No such"));
    CHECK(contains(refused(tiny.path / "none", std::string("a.") + suffix), "no run folder"));
  }
  CHECK(contains(refused(tiny.run, "a.bmp"), "unknown suffix '.bmp'; allowed: .mp4, .gif, .png"));
  CHECK(contains(refused(tiny.run, "a"), "unknown suffix ''"));
  CHECK(contains(
      record_fault({.run_folders = {tiny.run}, .out = tiny.path / "folder.gif", .force = true}),
      "is a folder"));
  CHECK(
      contains(record_fault({.run_folders = {tiny.run}, .out = tiny.path / "a.png", .scenes = 101}),
               "--scenes 101: "));
  CHECK(record_fault({.run_folders = {tiny.run}, .out = tiny.path / "a.gif", .fps = 0.0}) ==
        "--fps 0: allowed: 0.1 to 60");
  CHECK(record_fault({.run_folders = {tiny.run}, .out = tiny.path / "a.gif", .only = "some"}) ==
        "--only some: allowed: wrong, right");
  CHECK(contents(tiny.path) == before);

  record({.run_folders = {tiny.run}, .out = tiny.path / "mine.png", .scenes = 1, .force = true});
  CHECK(!cv::imread((tiny.path / "mine.png").string()).empty());
}

TEST_CASE("a recording that fails on a full disk leaves the previous file") {
  const TinyExperiment tiny;
  tiny.train("out");
  for (const char* name : {"a.png", "a.gif", "a.mp4"}) put_bytes(tiny.path / name, "mine");
  const auto before = contents(tiny.path);
  const auto check_failed = [&](const std::string& name, rlim_t most_bytes) {
    CAPTURE(name);
    CAPTURE(most_bytes);
    const Program::Result result = [&] {
      const LimitedFiles limited(most_bytes);
      return run_saccade(tiny.path, {"record", "out", "--out", name, "--force", "--scenes", "4"});
    }();
    CHECK(result.code == 1);
    CHECK(result.out == "");  // nor does FFmpeg say there that a film was cut short
    check_contains(result.err, {"saccade: ", ": cannot be written: File too large\n"});
    if (name != "a.png") CHECK(result.err.starts_with("saccade: " + name + ": "));
    CHECK((contents(tiny.path) == before));
  };
  for (const char* name : {"a.png", "a.gif", "a.mp4"})
    for (const rlim_t most_bytes : {1500, 3000})  // LLVM's OpenMP begins with a kilobyte
      check_failed(name, most_bytes);
}

TEST_CASE("a comparison that fails on a full disk leaves the previous one, or nothing") {
  const TinyExperiment tiny;
  tiny.train("out");
  const auto limited = [&](rlim_t most_bytes, const CommandWords& words) {
    const LimitedFiles limit(most_bytes);
    return run_saccade(tiny.path, words);
  };
  const auto before = contents(tiny.path);
  const Program::Result none = limited(3000, {"compare", "out"});
  CHECK(none.code == 1);
  CHECK(contains(none.err, "cannot be written: File too large\n"));
  CHECK(!fs::exists(tiny.path / "out/comparison"));
  CHECK((contents(tiny.path) == before));

  check_done(run_saccade(tiny.path, {"compare", "out"}));
  const auto whole = contents(tiny.path);
  CHECK(limited(3000, {"compare", "out", "--force"}).code == 1);
  CHECK((contents(tiny.path) == whole));
}

TEST_CASE("agents with different tasks cannot be recorded together") {
  const TinyExperiment tiny;
  const fs::path run = tiny.train("out"), wide = tiny.train("wide", {"scene.canvas=[13, 16]"});
  CHECK(record_fault({.run_folders = {run, wide}, .out = tiny.path / "a.gif"}) ==
        fmt::format("mixed tasks: scene.canvas is [13, 15] and [13, 16] in {} and {}; agents side "
                    "by side need the same scenes",
                    run.string(), wide.string()));
  write_digits(tiny.path / "other", 41);
  const fs::path other = tiny.train("others", {"data.path=" + (tiny.path / "other").string()});
  CHECK(contains(record_fault({.run_folders = {run, other}, .out = tiny.path / "a.gif"}),
                 "mixed tasks: the checksums of the data differ in "));
}

TEST_CASE("a stopped recording leaves nothing behind") {
  const TrainedTiny tiny;
  const auto before = contents(tiny.path);
  Program program(tiny.path, {saccade_binary(), "record", "out", "--scenes", "1000000"});
  while (!has_name_beside(tiny.run)) std::this_thread::yield();
  program.send(SIGINT);
  const Program::Result result = program.finish();
  CHECK(result.code == 130);
  CHECK(result.err == "stopped; nothing was written\n");
  CHECK(contents(tiny.path) == before);
}

TEST_CASE("without a codec the program lists what works, and defaults to GIF") {
  const TinyExperiment tiny;
  tiny.train("out");
  const TemporaryVariable without_ffmpeg("OPENCV_VIDEOIO_PRIORITY_FFMPEG", "0");
  const auto recorded = [&](Names words) {
    words.insert(words.begin(), {saccade_binary(), "record", "out", "--scenes", "1"});
    return Program(tiny.path, words).finish();
  };
  const Program::Result refused = recorded({"--out", "a.mp4"});
  CHECK(refused.code == 2);
  CHECK(refused.err ==
        "saccade: a.mp4: OpenCV's FFmpeg has no encoder of H.264 here; formats that work: .gif, "
        ".png\n");
  const Program::Result made = recorded({});
  CHECK(made.err == "");
  CHECK(made.out == "out/recording.gif\n");
  CHECK(read_gif(tiny.path / "out/recording.gif").frames.size() == kFramesOfScene);
}

TEST_CASE("a recording refuses a threshold out of range, and agents that may not stop") {
  const TrainedTiny tiny;
  const fs::path once = tiny.train("once", {"attention.glimpse.num_glimpses=1"});
  const auto refused = [&](const std::vector<fs::path>& runs, double stop) {
    return record_fault({.run_folders = runs, .out = tiny.path / "a.gif", .stop = stop});
  };
  for (const double stop : {0.0, 1.0, 2.0, -1.0})
    CHECK(refused({tiny.run}, stop) ==
          fmt::format("--stop {}: allowed: above 0 and below 1", stop));
  CHECK(contains(refused({tiny.run, once}, 0.9), "--stop 0.9: "));
  CHECK(contains(refused({tiny.run, once}, 0.9), "the agent looks once"));
  CHECK(!fs::exists(tiny.path / "a.gif"));
}

}  // namespace saccade
