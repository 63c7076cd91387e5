// The presets for colour photographs, on small files in the published formats.
#include <doctest/doctest.h>

#include "experiments/task/task.h"
#include "tests/env/photo_files.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

TEST_CASE("the photograph presets train on files in the published formats") {
  for (const std::string name : {"svhn", "cifar10"}) {
    CAPTURE(name);
    const TemporaryFolder folder;
    fs::create_directory(folder.path / "data");
    name == "svhn" ? write_svhn(folder.path / "data", 60) : write_cifar10(folder.path / "data", 12);
    const RunRequest options = {
        .config = source_folder() / "experiments" / (name + ".yaml"),
        .overrides = {"data.path=" + (folder.path / "data").string(), "training.episodes=64",
                      "training.batch_size=32", "training.lane_size=16", "evaluation.every=64",
                      "evaluation.scenes=20", "evaluation.rollouts=1", "log.every=64"},
        .out = folder.path / "run",
        .threads = 1,
        .quiet = true,
        .command = "saccade run"};
    CHECK(run(options, false));
    CHECK(read_json(folder.path / "run/summary.json").contains("test/error"));

    const Config config = read_config(options.config, options.overrides);
    const Task task(config);
    CHECK(task.model.canvas().channels == 3);
    CHECK(task.retina->glimpse_size() == 2 * 3 * 8 * 8);
    CHECK(task.class_name(9) == (name == "svhn" ? "9" : "truck"));
  }
}

}  // namespace
}  // namespace saccade
