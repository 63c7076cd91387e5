#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/experiments/program.h"

namespace saccade {

TEST_CASE("the program's start loads no library of videos or image files of OpenCV") {
  const TemporaryFolder folder;
  const TemporaryVariable only_list("LD_TRACE_LOADED_OBJECTS", "1");  // as ldd does
  const Program::Result listed = run_saccade(folder.path, {"--help"});
  REQUIRE(contains(listed.out, "libopencv_core.so"));
  for (const char* library :
       {"imgcodecs", "videoio", "libav", "libgdal", "libgstreamer", "libgtk", "saccade_mp4"}) {
    CAPTURE(library);
    CHECK_FALSE(contains(listed.out, library));
  }
  constexpr int kMost = 100;  // 258 with OpenCV's imgcodecs and videoio
  CHECK(std::ranges::count(listed.out, '\n') < kMost);
}

TEST_CASE("the program finds the module of videos beside it, and says what works without it") {
  const TinyExperiment tiny;
  tiny.train("out");
  const auto record = [&](const std::filesystem::path& program) {
    return Program(tiny.path, {program.string(), "record", "out", "--scenes", "1", "--out", "a.mp4",
                               "--force"})
        .finish();
  };
  const std::filesystem::path binary = saccade_binary(), module = "saccade_mp4.so";
  const std::filesystem::path installed = tiny.path / "prefix" / "bin" / "saccade",
                              modules = tiny.path / "prefix" / SACCADE_MODULE_FOLDER;
  std::filesystem::create_directories(installed.parent_path());
  std::filesystem::create_directories(modules);
  std::filesystem::copy_file(binary, installed);
  // As a part of another project the program finds the module wherever it is.
  constexpr bool kNeedsModule = SACCADE_IS_TOP_LEVEL;
  if (kNeedsModule) {
    const TemporaryVariable no_program("SACCADE_FFMPEG", "no-encoder");
    check_contains(record(installed).err,
                   {"saccade: a.mp4: neither saccade_mp4.so nor the program no-encoder works here",
                    "; formats that work: .gif, .png\n"});
    CHECK_FALSE(std::filesystem::exists(tiny.path / "a.mp4"));
  }
  std::filesystem::copy_file(binary.parent_path() / SACCADE_MODULE_FOLDER / module,
                             modules / module);
  check_done(record(installed));
  CHECK(std::filesystem::exists(tiny.path / "a.mp4"));
  std::ofstream(modules / module, std::ios::trunc) << "no library";
  CHECK(record(installed).code == (kNeedsModule ? 2 : 0));
}

}  // namespace saccade
