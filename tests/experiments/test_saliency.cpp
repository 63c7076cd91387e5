#include "experiments/analysis/saliency.h"

#include <doctest/doctest.h>

#include <cmath>
#include <opencv2/imgcodecs.hpp>

#include "tests/experiments/npz.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

std::string saliency_fault(const SaliencyRequest& options) {
  return message_of<InputError>([&] { saliency(options); });
}

}  // namespace

TEST_CASE("saliency writes a sheet and the Jacobians of the requested number of scenes") {
  const TinyExperiment tiny;
  const fs::path run = tiny.train("out"), out = tiny.path / "maps";
  CHECK(saliency({.run_folder = run, .out = out, .scenes = 11}).paths ==
        std::vector{out / "saliency.png", out / "saliency.npz"});
  CHECK(cv::imread((out / "saliency.png").string()).rows > 11 * 100);
  const ReadNpz read(out / "saliency.npz");
  const auto canvas = read.get("canvas_jacobian"), glimpses = read.get("glimpse_jacobian");
  CHECK(shape_of(canvas) == NpzShape{11, 1, 13 * 15});
  CHECK(shape_of(glimpses) == NpzShape{11, 1, 3, 32});
  CHECK(shape_of(read.get("feature_jacobian")) == NpzShape{11, 1, 3, 8});
  CHECK(shape_of(read.get("logits")) == NpzShape{11, 1});
  for (std::size_t n = 0; n < 11; ++n) {
    double by_canvas = 0.0, by_glimpses = 0.0;
    for (std::size_t i = 0; i < 13 * 15; ++i) by_canvas += std::abs(canvas(n, 0, i));
    for (std::size_t i = 0; i < 32; ++i) by_glimpses += std::abs(glimpses(n, 0, 2, i));
    CHECK((by_canvas > 0.0 && by_glimpses > 0.0));
  }
  CHECK(contents(out).size() == 2);
}

TEST_CASE("saliency covers every symbol of a sequence, or the requested one") {
  const TrainedTiny tiny(kWordTask);
  saliency({.run_folder = tiny.run, .out = tiny.path / "all", .scenes = 3});
  saliency({.run_folder = tiny.run, .out = tiny.path / "one", .scenes = 3, .step = 1});
  const ReadNpz all(tiny.path / "all/saliency.npz"), one(tiny.path / "one/saliency.npz");
  const auto chosen = all.get<int>("chosen");
  const auto every = all.get("canvas_jacobian"), first = one.get("canvas_jacobian");
  CHECK(shape_of(first) == NpzShape{3, 1, 20});
  REQUIRE(shape_of(every) == NpzShape{3, chosen.shape()[1], 20});
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t i = 0; i < 20; ++i) CHECK(first(n, 0, i) == every(n, 0, i));
    for (std::size_t j = 0; j < chosen.shape()[1]; ++j)
      if (chosen(n, j) < 0) CHECK(every(n, j, 0) == 0.0F);
  }
  CHECK(saliency_fault({.run_folder = tiny.run, .out = tiny.path / "x", .step = 9}) ==
        "--step 9: allowed: 1 to 3, the symbols of an episode");
}

TEST_CASE("saliency can be drawn for every way of looking, core and answer") {
  const TinyExperiment tiny;
  const std::vector<Overrides> kinds = {
      with(kSoftGrid, {"attention.hidden.kind=self"}),
      {"attention.glimpse.kind=soft_gaussian", "attention.hidden.kind=mean", "retina.pooling=max"},
      {"attention.glimpse.kind=soft_point", "attention.hidden.kind=attend"},
      {"attention.glimpse.kind=whole", "attention.input.kind=gate"},
      {"model.core=attention", "model.heads=2"},
      {"model.kind=cnn", "retina.pooling=max"},
      kCatchTask,
      with(kCatchTask, {"attention.glimpse.kind=soft_point"})};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CAPTURE(i);
    const fs::path run = tiny.train("run" + std::to_string(i), kinds[i]);
    const fs::path out = tiny.path / ("out" + std::to_string(i));
    saliency({.run_folder = run, .out = out, .scenes = 2});
    CHECK(!cv::imread((out / "saliency.png").string()).empty());
    for (const float value : ReadNpz(out / "saliency.npz").get("canvas_jacobian"))
      REQUIRE(std::isfinite(value));
  }
}

TEST_CASE("saliency of an agent that stops by itself needs a step") {
  const TinyExperiment tiny;
  const fs::path run = tiny.train("stops", {"attention.glimpse.stop=confidence"});
  CHECK(saliency_fault({.run_folder = run, .out = tiny.path / "x"}) ==
        "--step: not given, and this agent answers after as many glimpses as "
        "attention.glimpse.stop says; allowed: --step of 1 to 3");
  saliency({.run_folder = run, .out = tiny.path / "one", .scenes = 2, .step = 2});
  CHECK(fs::exists(tiny.path / "one/saliency.png"));
}

TEST_CASE("saliency refuses steps and scenes out of range, and existing files") {
  const TinyExperiment tiny;
  const fs::path run = tiny.train("out"), out = tiny.path / "maps";
  CHECK(saliency_fault({.run_folder = run, .out = out, .step = 4}) ==
        "--step 4: allowed: 1 to 3, the glimpses of an episode");
  CHECK(saliency_fault({.run_folder = run, .out = out, .scenes = 101}) ==
        "--scenes 101: allowed: 1 to 100");
  const fs::path pooled = tiny.train("pooled", {"retina.pooling=max"});
  CHECK(saliency_fault({.run_folder = pooled, .out = out}) ==
        "retina.pooling: max has no gradient by the canvas; allowed with saliency: mean");
  CHECK(!fs::exists(out));
  CHECK(contains(saliency_fault({.run_folder = run, .out = tiny.yaml}),
                 "no folder can be made there"));
  fs::create_directories(out);
  put_bytes(out / "saliency.npz", "old");
  CHECK(contains(saliency_fault({.run_folder = run, .out = out, .scenes = 1}), "exists already"));
  CHECK(bytes_of(out / "saliency.npz") == "old");
  saliency({.run_folder = run, .out = out, .scenes = 1, .force = true});
  CHECK(bytes_of(out / "saliency.npz") != "old");
}

}  // namespace saccade
