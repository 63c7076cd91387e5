// Settings that must be consistent with each other.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "experiments/config/config.h"
#include "tests/experiments/config_messages.h"

namespace saccade {

namespace {

// Overrides that break a rule, the last one being the one reported. The rules themselves are tested
// in the library.
const std::vector<Overrides> kBroken = {
    {"data.source=idx"},
    {"data.source=folder", "data.path=null"},
    {"scene.num_digits=5"},
    {"scene.kind=bag", "scene.num_digits=3", "scene.min_digits=4"},
    {"scene.num_digits=3", "scene.label=pair"},
    {"model.core=attention", "model.heads=3"},
    {"model.core=attention", "model.hidden_size=6"},
    {"attention.glimpse.std={from: 1, to: 2}", "attention.glimpse.learn_std=true"},
    {"attention.glimpse.zoom=2"},
    {"attention.glimpse.kind=soft_grid", "attention.glimpse.moves=relative"},
    {"attention.glimpse.kind=soft_gaussian", "attention.glimpse.moves=relative"},
    {"attention.glimpse.kind=hard_categorical", "attention.glimpse.addressing=content",
     "attention.glimpse.moves=relative"},
    {"attention.glimpse.kind=hard_categorical", "attention.glimpse.moves=relative",
     "attention.glimpse.grid=[3, 4]"},
    {"attention.glimpse.kind=soft_grid", "model.hidden_size=96", "attention.glimpse.score=dot"},
    {"attention.glimpse.kind=soft_grid", "model.feature_size=9", "attention.glimpse.score=dot"},
    {"scene.kind=catch", "attention.glimpse.num_glimpses=60", "model.context=thumbnail"},
    {"attention.hidden.kind=attend", "attention.hidden.query=none"},
    {"attention.hidden.kind=attend", "attention.hidden.score=location_free"},
    {"attention.hidden.kind=attend", "attention.hidden.query=none", "attention.hidden.area=local",
     "attention.hidden.score=location_free", "attention.hidden.position=predicted"},
    {"scene.kind=transcribe", "attention.hidden.kind=self"},
    {"scene.kind=catch", "attention.glimpse.num_glimpses=60", "attention.glimpse.stop=confidence"},
    {"scene.kind=transcribe", "attention.hidden.kind=attend", "attention.hidden.mask='01111111'",
     "attention.glimpse.stop=sampled"},
    {"attention.glimpse.num_glimpses=1", "attention.glimpse.stop=sampled"},
    {"scene.kind=transcribe", "attention.hidden.kind=attend", "decoder.hidden_size=96",
     "attention.hidden.score=dot"},
    {"reinforce.advantage=leave_one_out"},
    {"scene.kind=transcribe", "reinforce.critic=privileged"},
    {"scene.kind=transcribe", "attention.hidden.kind=attend", "attention.hidden.mask='01111111'",
     "reinforce.reward=gain"},
    {"training.batch_size=100"},
    {"training.lane_size=100"},
    {"reinforce.rollouts=3"},
    {"training.learning_rate=1e-4", "training.final_learning_rate=1e-3"},
    {"training.schedule=exponential", "training.final_learning_rate=0"},
    {"scene.kind=bag", "scene.num_digits=4", "attention.glimpse.kind=scan",
     "attention.glimpse.num_glimpses=6"},
    {"scene.kind=catch", "attention.glimpse.num_glimpses=8"},
    {"scene.kind=catch", "attention.glimpse.num_glimpses=60", "model.kind=mlp"},
    {"scene.kind=catch", "attention.glimpse.num_glimpses=60", "attention.glimpse.kind=whole"},
    {"scene.kind=search", "model.kind=mlp"},
    {"scene.kind=search", "attention.glimpse.kind=whole"},
    {"scene.kind=search", "attention.glimpse.kind=soft_gaussian"},
    {"scene.kind=search", "attention.glimpse.kind=soft_grid"},
    {"scene.kind=search", "attention.glimpse.addressing=content",
     "attention.glimpse.kind=hard_categorical"},
    {"scene.kind=search", "model.context=thumbnail", "attention.glimpse.first=learned"},
    {"scene.kind=search", "attention.glimpse.num_glimpses=1"},
    {"scene.kind=search", "scene.num_digits=3", "scene.min_digits=4"},
    {"scene.kind=digits_to_words", "attention.glimpse.kind=scan"},
    {"scene.kind=digits_to_words", "attention.glimpse.kind=whole", "model.kind=mlp"},
};

// Overrides whose last one has no effect.
const std::vector<Overrides> kUnread = {
    {"data.source=synthetic", "data.path=x"},
    {"data.source=synthetic", "data.size=20"},
    {"scene.kind=translated", "scene.num_distractors=2"},
    {"scene.min_digits=1"},
    {"scene.kind=bag", "scene.label=pair"},
    {"scene.kind=bag", "scene.target=brightness"},
    {"scene.kind=search", "scene.label=pair"},
    {"attention.glimpse.kind=random", "attention.glimpse.first=learned"},
    {"attention.glimpse.kind=scan", "attention.glimpse.learn_std=true"},
    {"attention.glimpse.kind=oracle", "attention.glimpse.addressing=content"},
    {"attention.glimpse.kind=soft_point", "attention.glimpse.std=0.5"},
    {"attention.glimpse.kind=soft_grid", "attention.glimpse.spread=0.5"},
    {"attention.glimpse.kind=hard_categorical", "attention.glimpse.expect=pixels"},
    {"attention.glimpse.kind=soft_grid", "attention.glimpse.zoom={from: 1, to: 4}"},
    {"attention.glimpse.zoom_std=0.3"},
    {"attention.glimpse.zoom={from: 1, to: 4}", "attention.glimpse.kind=soft_point",
     "attention.glimpse.zoom_std=0.3"},
    {"attention.glimpse.kind=whole", "attention.glimpse.stop=expected"},
    {"attention.glimpse.stop_price=0.5"},
    {"attention.glimpse.stop=sampled", "attention.glimpse.stop_prior=0.2"},
    {"attention.glimpse.entropy=0.5"},
    {"attention.glimpse.coverage=0.5"},
    {"attention.glimpse.row_penalty=0.5"},
    {"model.kind=cnn", "attention.input.kind=gate"},
    {"model.kind=mlp", "model.context=thumbnail"},
    {"attention.glimpse.kind=oracle", "model.context=thumbnail"},
    {"attention.glimpse.kind=whole", "model.context=thumbnail"},
    {"attention.glimpse.kind=soft_grid", "model.context=thumbnail"},
    {"model.kind=mlp", "attention.hidden.kind=mean"},
    {"reinforce.trace=0.5"},
    {"reinforce.advantage=ema", "reinforce.critic=mlp"},
    {"reinforce.entropy=0.1"},
    {"attention.glimpse.kind=hard_categorical", "reinforce.estimator=pathwise"},
    {"attention.glimpse.kind=soft_point", "reinforce.estimator=both"},
    {"model.kind=mlp", "reinforce.estimator=both"},
    {"scene.kind=catch", "attention.glimpse.num_glimpses=60", "attention.hidden.kind=mean"},
    {"scene.kind=catch", "attention.glimpse.num_glimpses=60", "reinforce.reward=probability"},
    {"scene.kind=catch", "attention.glimpse.num_glimpses=60", "reinforce.reward=gain"},
};

bool names_a_setting(const std::string& text) {
  const Names keys = setting_keys();
  return std::ranges::any_of(
      keys, [&](const std::string& key) { return contains(key, ".") && contains(text, key); });
}

}  // namespace

TEST_CASE("a broken rule reports the responsible setting and its location") {
  for (const Overrides& broken : kBroken) {
    const std::string place = "override '" + broken.back() + "': ";
    const Overrides reversed(broken.rbegin(), broken.rend());
    for (const std::string& text : {message("", broken), message("", reversed)}) {
      check_starts(text, place);
      CHECK(names_a_setting(text.substr(std::min(place.size(), text.size()))));
    }
  }
}

TEST_CASE("settings that the chosen kinds do not use are ignored, not refused") {
  for (const Overrides& overrides : kUnread)
    for (const bool reversed : {false, true}) {
      Overrides given = overrides;
      if (reversed) std::ranges::reverse(given);
      const Config config = parse_config("", "x.yaml", given);
      REQUIRE(config.unused.size() == 1);
      CHECK(config.unused[0].place == "override '" + overrides.back() + "'");
    }
}

TEST_CASE(
    "the reported location is that of the first setting in the message that was set explicitly") {
  CHECK(message("training:\n  batch_size: 100\n") ==
        "x.yaml:2:3: training.batch_size: 100 is not a multiple of training.lane_size: 64");
  CHECK(message("training: {lane_size: 100}\n") ==
        "x.yaml:1:12: training.batch_size: 256 is not a multiple of training.lane_size: 100");
  CHECK(override_message("reinforce.rollouts=3") ==
        "override 'reinforce.rollouts=3': training.lane_size: 64 is not a multiple of "
        "reinforce.rollouts: 3");
  CHECK(message("scene:\n  label: pair\n") ==
        "x.yaml:2:3: scene.label: pair needs scene.num_digits: 2, not 1");
  CHECK(message("training: {learning_rate: 1e-4, final_learning_rate: 1e-3}") ==
        "x.yaml:1:33: training.final_learning_rate: 0.001 is above training.learning_rate: 0.0001");
  check_starts(message("training: {schedule: exponential, final_learning_rate: 0}"),
               "x.yaml:1:35: training.final_learning_rate: 0 is never reached by "
               "training.schedule: exponential");
  check_starts(message("data: {source: idx}"), "x.yaml:1:8: data.path: null, but data.source: idx");
  check_starts(message("data: {source: folder, path: null}"),
               "x.yaml:1:24: data.path: null, but data.source: folder");
  // A key that is a prefix of another, and words that are keys elsewhere.
  check_starts(message("name: a\nseed: 2\nattention: {hidden: {score_hidden: 3, kind: attend, "
                       "query: none}}"),
               "x.yaml:3:53: attention.hidden.query: none, but attention.hidden.score: general");
}

TEST_CASE("consistent settings are accepted") {
  const std::vector<Overrides> together = {
      {"model.core=attention", "model.heads=3", "model.hidden_size=6"},
      {"model.core=gru", "model.heads=3"},
      {"attention.glimpse.kind=soft_grid", "attention.glimpse.addressing=location",
       "attention.glimpse.score=dot", "model.feature_size=96"},
      {"attention.glimpse.kind=soft_grid", "attention.glimpse.score=general",
       "model.feature_size=96"},
      {"attention.glimpse.kind=hard_categorical", "attention.glimpse.addressing=content",
       "attention.glimpse.score=dot", "model.hidden_size=96", "model.feature_size=96"}};
  for (const Overrides& overrides : together) CHECK(message("", overrides) == "nothing thrown");
  parse(
      "training: {batch_size: 96, lane_size: 48}\nreinforce: {rollouts: 3, advantage: "
      "leave_one_out}");
  parse("reinforce: {entropy: 0.1}\nattention: {glimpse: {learn_std: true}}");
  parse("data: {source: folder, path: /digits, size: 20}");
  parse("scene: {kind: centered, num_distractors: 0, num_digits: 2, label: pair}");
  const Config slow = parse("training: {learning_rate: 1e-6, schedule: exponential}");
  CHECK(slow.agent.training.optimizer.final_learning_rate == doctest::Approx(1e-8));
}

TEST_CASE("attention over states, its score and the task must be consistent") {
  const auto fault = [](const std::string& scene, const Overrides& more) {
    return message("", with({"scene.kind=" + scene}, more));
  };
  const std::string attend = "attention.hidden.kind=attend";
  check_starts(fault("cluttered", {attend, "attention.hidden.query=none"}),
               "override 'attention.hidden.query=none': attention.hidden.query: none, but "
               "attention.hidden.score: general needs one");
  check_starts(fault("cluttered", {attend, "attention.hidden.score=location_free"}),
               "override 'attention.hidden.score=location_free': attention.hidden.query: last, "
               "but attention.hidden.score: location_free takes none");
  CHECK(fault("cluttered", {attend, "attention.hidden.score=location_free",
                            "attention.hidden.query=none"}) == "nothing thrown");
  CHECK(fault("transcribe", {attend, "attention.hidden.score=location_free"}) == "nothing thrown");

  const std::string whole = "attention.glimpse.kind=whole";
  for (const std::string score : {"dot", "scaled_dot"}) {
    const Overrides unequal = {whole, attend, "attention.hidden.score=" + score,
                               "decoder.hidden_size=96"};
    CHECK(fault("digits_to_words", unequal) ==
          fmt::format("override 'attention.hidden.score={0}': attention.hidden.score: {0} needs "
                      "decoder.hidden_size: 96 and model.hidden_size: 256 to be equal; allowed "
                      "where they are not: general, additive, location_free",
                      score));
  }
  check_starts(fault("digits_to_words", {whole, "attention.hidden.kind=self"}),
               "override 'attention.hidden.kind=self': attention.hidden.kind: self reads once");
  check_starts(
      fault("digits_to_words", {}),
      "override 'scene.kind=digits_to_words': attention.glimpse.kind: hard_gaussian cannot "
      "look at");
}

TEST_CASE("a scan of a bag has one glimpse per digit") {
  const auto fault = [](const std::string& glimpses, const std::string& kind) {
    return message("", {"scene.kind=bag", "scene.num_digits=4", "attention.glimpse.kind=" + kind,
                        "attention.glimpse.num_glimpses=" + glimpses});
  };
  CHECK(fault("4", "scan") == "nothing thrown");
  CHECK(fault("6", "hard_gaussian") == "nothing thrown");
  check_starts(fault("6", "scan"),
               "override 'attention.glimpse.num_glimpses=6': attention.glimpse.num_glimpses: 6 of "
               "attention.glimpse.kind: scan miss the tiles");
}

TEST_CASE("catch needs an agent that acts, and episodes long enough for a ball to land") {
  const auto fault = [&](const Overrides& more) {
    return message("", with({"scene.kind=catch", "scene.canvas=[24, 24]"}, more));
  };
  check_starts(fault({}),
               "override 'scene.canvas=[24, 24]': attention.glimpse.num_glimpses: 8 ends");
  const std::string long_enough = "attention.glimpse.num_glimpses=23";
  CHECK(fault({long_enough}) == "nothing thrown");
  for (const std::string kind : {"whole", "soft_gaussian"})
    check_starts(fault({long_enough, "attention.glimpse.kind=" + kind}),
                 "override 'attention.glimpse.kind=" + kind + "': scene.kind: catch changes");
  check_starts(fault({long_enough, "model.kind=mlp"}),
               "override 'model.kind=mlp': scene.kind: catch");
}

TEST_CASE("search needs an agent whose first look alone sees the cue") {
  const auto fault = [](const Overrides& more) {
    return message("", with({"scene.kind=search", "scene.canvas=[100, 100]"}, more));
  };
  for (const std::string kind :
       {"hard_gaussian", "hard_categorical", "soft_point", "random", "center", "scan", "oracle"})
    CHECK(fault({"attention.glimpse.kind=" + kind}) == "nothing thrown");
  for (const std::string first : {"center", "random"})
    CHECK(fault({"model.context=thumbnail", "attention.glimpse.first=" + first}) ==
          "nothing thrown");
  CHECK(fault({"attention.glimpse.first=learned"}) == "nothing thrown");
  check_starts(fault({"attention.glimpse.kind=soft_grid"}),
               "override 'attention.glimpse.kind=soft_grid': attention.glimpse.kind: soft_grid "
               "with attention.glimpse.addressing: content sees all candidates once");
  check_starts(fault({"attention.glimpse.kind=whole"}),
               "override 'attention.glimpse.kind=whole': scene.kind: search changes while");
  check_starts(fault({"model.context=thumbnail", "attention.glimpse.first=learned"}),
               "override 'attention.glimpse.first=learned': attention.glimpse.first: learned with "
               "model.context: thumbnail");
  check_starts(fault({"attention.glimpse.num_glimpses=1"}),
               "override 'attention.glimpse.num_glimpses=1': attention.glimpse.num_glimpses: 1 "
               "sees only the cue");
}

TEST_CASE("a gate's sharpness must be positive") {
  for (const std::string value : {"0", "-1"})
    CHECK(
        override_message("attention.input.alpha=" + value) ==
        fmt::format("override 'attention.input.alpha={0}': attention.input.alpha: '{0}' is out of "
                    "range; allowed: a number >= 0.0001 and <= 1000",
                    value));
}

TEST_CASE("a temperature is a positive number or a ramp between such") {
  const auto temperature_message = [](const std::string& value) {
    return message("attention: {glimpse: {kind: soft_grid, temperature: " + value + "}}");
  };
  const std::string allowed =
      "; allowed: a number >= 0.0001 and <= 1000, or {from, to, over}: two such numbers and a "
      "share > 0 "
      "and <= 1";
  for (const std::string value : {"0", "-1", "1001"})
    CHECK(temperature_message(value) ==
          "x.yaml:1:53: attention.glimpse.temperature: '" + value + "' is out of range" + allowed);
  CHECK(temperature_message("{from: 2, to: 0}") ==
        "x.yaml:1:67: attention.glimpse.temperature: '0' is out of range" + allowed);
  CHECK(temperature_message("{from: 2, to: 0.1, over: 0.5}") == "nothing thrown");
}

TEST_CASE("a kind sets the defaults of dependent settings, but not explicit ones") {
  const std::string kind = "attention.glimpse.kind=soft_grid";
  CHECK(parse("", {kind}).agent.glimpse.expect == "features");
  CHECK(parse("", {kind, "attention.glimpse.expect=pixels"}).agent.glimpse.expect == "pixels");
}

}  // namespace saccade
