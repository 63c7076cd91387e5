// Settings without an effect.
#include "experiments/config/unused_settings.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "experiments/files/shipped.h"
#include "experiments/runs/study.h"
#include "experiments/training/run.h"
#include "tests/experiments/config_messages.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

Names keys_of(const std::vector<UnusedSetting>& unused) {
  Names keys;
  for (const UnusedSetting& setting : unused) keys.push_back(setting.key);
  return keys;
}

Names unused_in(const std::string& text, const Overrides& overrides = {}) {
  return keys_of(parse_config(text, "x.yaml", overrides).unused);
}

Names unused_in_study(const std::string& text, const Overrides& overrides = {}) {
  const Study study = parse_study(text, "x.yaml", {}, overrides);
  CHECK_FALSE(study.single);
  return keys_of(unused_in_all(configs_of(study)));
}

TEST_CASE("an unused setting is reported with its location and the reason") {
  const std::vector<UnusedSetting> unused =
      parse_config("model: {core: lstm,\n  heads: 2}\n", "x.yaml",
                   Names{"attention.hidden.score=dot"})
          .unused;
  REQUIRE(unused.size() == 2);
  CHECK(unused[0] == UnusedSetting{"model.heads", "x.yaml:2:3", "model.core is lstm"});
  CHECK(unused[1] == UnusedSetting{"attention.hidden.score",
                                   "override 'attention.hidden.score=dot'",
                                   "attention.hidden.kind is last"});
  CHECK(to_lines(unused)[0] == "x.yaml:2:3: model.heads has no effect while model.core is lstm");
}

TEST_CASE("a setting of other tasks, networks or ways of looking is reported") {
  const std::string kCatch =
      "scene: {kind: catch, canvas: [24, 24]}\nattention: {glimpse: {num_glimpses: 23}}";
  const std::string cases[][3] = {
      {"reinforce: {estimator: pathwise}", "reinforce.weight", "2"},
      {"reinforce: {estimator: pathwise}", "reinforce.advantage", "none"},
      {kCatch + "\nreinforce: {estimator: pathwise}", "reinforce.weight", "2"},
      {"reinforce: {estimator: pathwise}", "training.baseline_factor", "2"},
      {"attention: {hidden: {kind: attend, score: dot}}", "attention.hidden.score_hidden", "32"},
      {kCatch, "scene.border", "2"},
      {"scene: {kind: circle_square, canvas: [28, 28]}", "scene.border", "2"},
      {"scene: {kind: digits_to_words}\nattention: {glimpse: {kind: whole}}", "scene.canvas",
       "[20, 30]"},
      {kCatch, "training.step_loss", "0.5"},
      {"scene: {kind: transcribe}", "training.step_loss", "0.5"},
      {"model: {kind: cnn}", "training.step_loss", "0.5"},
      {kCatch, "training.classifier_weight", "0.5"},
      {"attention: {glimpse: {kind: soft_point}}", "evaluation.rollouts", "3"},
      {"model: {kind: cnn}", "evaluation.rollouts", "3"},
      {"scene: {kind: transcribe}\nattention: {hidden: {kind: attend}}", "attention.hidden.query",
       "mean"},
      {"scene: {kind: transcribe}\nattention: {hidden: {kind: attend}}", "attention.hidden.output",
       "context"},
      {"scene: {kind: cluttered}", "data.augmentation.distractors", "false"}};
  for (const auto& [text, key, value] : cases) {
    CAPTURE(text);
    CAPTURE(key);
    const Names unused = unused_in(text, {key + "=" + value});
    CHECK(std::ranges::find(unused, key) != unused.end());
  }
  CHECK(unused_in("scene: {kind: cluttered}\ndata: {augmentation: {shear: 0.1}}",
                  {"data.augmentation.distractors=false"}) == Names{});
  CHECK(unused_in("attention: {glimpse: {kind: soft_grid}}", {"evaluation.rollouts=3"}) == Names{});
}

TEST_CASE("a setting that has an effect for one reason of several is not reported") {
  const std::string cases[][2] = {
      {"model: {kind: mlp}", "model.feature_size=64"},
      {"model: {kind: cnn}", "model.feature_size=64"},
      {"attention: {hidden: {kind: self}}", "attention.hidden.score_hidden=32"},
      {"attention: {hidden: {kind: attend, score: additive}}", "attention.hidden.score_hidden=32"},
      {"attention: {hidden: {kind: attend, area: local, position: predicted}}",
       "attention.hidden.score_hidden=32"},
      {"reinforce: {estimator: both}", "reinforce.weight=2"},
      {"reinforce: {estimator: pathwise}\nscene: {kind: catch, canvas: [24, 24]}\n"
       "attention: {glimpse: {num_glimpses: 23}}",
       "reinforce.advantage=none"},
      {"reinforce: {estimator: pathwise}\nattention: {glimpse: {learn_std: true}}",
       "reinforce.entropy=0.1"}};
  for (const auto& [text, override] : cases) {
    CAPTURE(text);
    CHECK(unused_in(text, Names{override}) == Names{});
  }
}

TEST_CASE("the reason names every setting that could give the setting an effect") {
  const std::vector<UnusedSetting> unused =
      parse_config("reinforce: {trace: 0.5}", "x.yaml").unused;
  REQUIRE(unused.size() == 1);
  CHECK(unused[0].reason == "reinforce.reward is correct and reinforce.advantage is learned");
}

TEST_CASE("a setting equal to its default is not reported") {
  CHECK(unused_in("model: {core: lstm, heads: 4}") == Names{});
  CHECK(unused_in("") == Names{});
}

TEST_CASE("an ignored setting has its default, and so have those that only it would use") {
  const Config config = parse_config(
      "model: {context: thumbnail, context_size: 14}\nattention: {glimpse: {kind: soft_grid}}\n",
      "x.yaml");
  CHECK(config.agent.model.context == "none");
  CHECK(config.agent.model.context_size == ModelConfig().context_size);
  CHECK(keys_of(config.unused) == Names{"model.context", "model.context_size"});
  CHECK(config.given.size() == 1);
}

TEST_CASE("unused settings of a kind that an override replaced share a line") {
  const std::string hard = "attention: {glimpse: {std: 0.3}}\nreinforce: {trace: 1, constant: 0.2}";
  const std::string soft = "attention.glimpse.kind=soft_point";
  CHECK(unused_in(hard) == Names{"reinforce.constant"});
  const Config config = parse_config(hard, "x.yaml", Names{soft});
  CHECK(keys_of(config.unused) == Names{"attention.glimpse.std", "reinforce.constant"});
  CHECK(to_lines(config.unused).back() ==
        "settings of the file that have no effect with these overrides: attention.glimpse.std");
  CHECK(to_lines(config.unused).size() == 2);
}

TEST_CASE("a study reports settings that no variant uses") {
  const std::string vary = "vary: {model.core: [lstm, attention]}\nseeds: 2\n";
  CHECK(unused_in_study("model: {heads: 2}\n" + vary) == Names{});
  CHECK(unused_in_study("model: {heads: 2, channels: [3, 4]}\n" + vary) == Names{"model.channels"});
  CHECK(unused_in_study("vary: [{model.core: lstm, model.heads: 2}, {model.core: gru}]") ==
        Names{"model.heads"});
  CHECK(unused_in_study("vary: [{model.core: lstm, model.heads: 2},"
                        " {model.core: attention, model.heads: 8}]") == Names{});
}

TEST_CASE("no preset has unused settings") {
  const Names names = shipped_experiments();
  REQUIRE(names.size() > 20);
  for (const std::string& name : names) {
    CAPTURE(name);
    const Study study = read_study(name, {});
    CHECK(keys_of(unused_in_all(configs_of(study))) == Names{});
  }
}

TEST_CASE("many unused settings are reported in few lines") {
  const std::vector<UnusedSetting> many(50, {"a.b", "x.yaml:1:1", "c is e"});
  const Names lines = to_lines(many);
  REQUIRE(lines.size() == 9);
  CHECK(lines.back() == "42 more settings have no effect");
}

TEST_CASE("--strict refuses unused settings before anything is made") {
  const TinyExperiment tiny;
  RunRequest options;
  options.config = tiny.yaml;
  options.overrides = {"decoder.core=lstm"};
  options.out = tiny.path / "run";
  options.quiet = options.strict = true;
  const std::atomic<bool> stop = false;
  const std::string message = message_of<InputError>([&] { run(options, stop); });
  check_contains(message, {"--strict", "decoder.core has no effect while scene.kind is cluttered"});
  CHECK_FALSE(fs::exists(tiny.path / "run"));
}

}  // namespace
TEST_CASE("commands that do not train warn, too") {
  const TinyExperiment tiny;
  const std::string unused = "attention.glimpse.grid=[2, 3]";
  for (const CommandWords& words :
       {CommandWords{"bench", "tiny.yaml", unused, "--seconds", "0.1", "--threads", "1"},
        {"data", "preview", "tiny.yaml", unused, "--out", "scenes.png"},
        {"slurm", "tiny.yaml", "seeds=2", unused}}) {
    CAPTURE(words[0]);
    const Program::Result result = run_saccade(tiny.path, words);
    CHECK(result.code == 0);
    CHECK(contains(result.err, "saccade: warning: override 'attention.glimpse.grid=[2, 3]'"));
  }
}

}  // namespace saccade
