// training.teachers: a training that learns from the beliefs of trained agents.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/experiments/setting_moves.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

Overrides taught_by(const fs::path& agent) {
  return {"training.teachers=[" + agent.string() + "]"};
}

}  // namespace

TEST_CASE("teachers see the scenes of the learner with a network and a retina of their own") {
  const TinyExperiment tiny;
  const auto untaught = bytes_of(tiny.train("untaught") / kLast);
  const std::map<std::string, Overrides> teachers = {
      {"whole", kCnn},
      {"soft", kSoftGrid},
      {"other_retina", {"retina.patch_size=5", "retina.scales=1", "model.core=gru"}},
      {"other_scenes", {"scene.canvas=[16, 17]", "scene.num_distractors=0", "seed=9"}},
      {"other_pixels", {"data.mean=0.3", "data.deviation=0.4"}}};
  std::set<std::string> ends = {untaught};
  for (const auto& [name, overrides] : teachers) {
    CAPTURE(name);
    const auto teacher = tiny.train(name, overrides);
    const auto taught = tiny.train("by_" + name, taught_by(teacher));
    CHECK(contains(bytes_of(taught / "config.yaml"), "teachers: [" + teacher.string() + "]"));
    CHECK(ends.insert(bytes_of(taught / kLast)).second);
    CHECK(read_json(taught / "summary.json").at("episode/gflop") >
          read_json(tiny.path / "untaught" / "summary.json").at("episode/gflop"));
  }
}

TEST_CASE(
    "a taught training that was stopped continues with the same bits, and the same teachers") {
  const TinyExperiment tiny;
  const auto teacher = tiny.train("teacher", kCnn);
  const auto whole = tiny.train("whole", taught_by(teacher));
  RunRequest options = tiny.options("stopped", taught_by(teacher));
  CHECK_FALSE(run_one_update(options));
  options.resume = true;
  const auto other = tiny.train("other", with(kCnn, {"seed=8"}));
  const std::string best = bytes_of(teacher / kBest);
  put_bytes(teacher / kBest, bytes_of(other / kBest));
  check_contains(
      message_of<InputError>([&] { run(options, false); }),
      {"last.safetensors: training.teachers: had other weights: checksums [\"", " there, "});
  put_bytes(teacher / kBest, best);
  CHECK(run(options, false));
  CHECK((bytes_of(tiny.path / "stopped" / kLast) == bytes_of(whole / kLast)));
}

TEST_CASE(
    "a teacher that cannot see the scenes or answers otherwise is refused, and no folder made") {
  const TinyExperiment tiny;
  const auto fault = [&](const Overrides& overrides) {
    const std::string message =
        message_of<InputError>([&] { run(tiny.options("taught", overrides), false); });
    CHECK(!fs::exists(tiny.path / "taught"));
    return message;
  };
  check_contains(fault(taught_by("nowhere")),
                 {"training.teachers: nowhere: ", "no run folder with a checkpoint"});
  const auto cnn = tiny.train("cnn", kCnn);
  check_contains(fault(with(taught_by(cnn), {"scene.canvas=[16, 17]"})),
                 {"training.teachers: ", "scene.canvas: [16, 17]: the network would have "});
  const auto pairs = tiny.train("pairs", {"scene.num_digits=2", "scene.label=sum"});
  check_contains(fault(taught_by(pairs)),
                 {"training.teachers: ", " answers, and the agent knows "});
  const auto words = tiny.train("words", kSequenceTask);
  check_contains(fault(taught_by(words)), {"training.teachers: ", "another kind of task"});
  check_contains(fault(with(kSequenceTask, taught_by(words))),
                 {"training.teachers: of an agent that does not answer one class"});
}

TEST_CASE("teachers see the scenes that a program gives") {
  const TinyExperiment tiny;
  const auto train_on = [&](const std::string& out, const Overrides& overrides) {
    const Config config = read_config(tiny.yaml, with(kOwn, overrides));
    ShadedScenes shades(config.scene);
    const OwnScenes scenes{shades, shades, shades};
    Progress unseen;
    CHECK(train(config, RunFolder(tiny.path / out), {.threads = 2, .own = {.scenes = &scenes}},
                unseen, false));
    return tiny.path / out;
  };
  const auto teacher = train_on("teacher", {});
  const auto taught = train_on("taught", taught_by(teacher));
  CHECK_FALSE((bytes_of(taught / kLast) == bytes_of(teacher / kLast)));
}

}  // namespace saccade
