// Settings that have to fit each other.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "experiments/config/config.h"
#include "tests/experiments/config_messages.h"

namespace saccade {

TEST_CASE("settings that contradict each other are both named, with the place of one") {
  CHECK(message("training:\n  batch_size: 100\n") ==
        "x.yaml:2:3: training.batch_size: 100 is not a multiple of training.lane_size: 64");
  CHECK(message("training: {lane_size: 100}\n") ==
        "x.yaml:1:12: training.batch_size: 256 is not a multiple of training.lane_size: 100");
  CHECK(override_message("reinforce.rollouts=3") ==
        "override 'reinforce.rollouts=3': training.lane_size: 64 is not a multiple of "
        "reinforce.rollouts: 3");
  CHECK(message("reinforce: {advantage: leave_one_out}") ==
        "x.yaml:1:13: reinforce.advantage: leave_one_out needs reinforce.rollouts > 1, not 1");
  CHECK(message("reinforce: {entropy: 0.1}") ==
        "x.yaml:1:13: reinforce.entropy: 0.1 has no effect without attention.glimpse.learn_std: "
        "the entropy of a given std is constant");
  CHECK(message("attention: {glimpse: {learn_std: true, std: {from: 0.3, to: 0.1}}}") ==
        "x.yaml:1:23: attention.glimpse.learn_std needs one number to begin with as "
        "attention.glimpse.std, not a ramp from 0.3 to 0.1");
  CHECK(message("attention: {glimpse: {kind: random, first: learned}}") ==
        "x.yaml:1:37: attention.glimpse.first: learned is never learned with "
        "attention.glimpse.kind: random");
  CHECK(message("attention: {glimpse: {kind: scan, learn_std: true}}") ==
        "x.yaml:1:35: attention.glimpse.learn_std has no effect with attention.glimpse.kind: scan");
  CHECK(message("scene: {kind: translated, num_distractors: 2}") ==
        "x.yaml:1:27: scene.num_distractors: 2 has no effect with scene.kind: translated; "
        "allowed: 0");
  CHECK(message("scene:\n  label: pair\n") ==
        "x.yaml:2:3: scene.label: pair needs scene.num_digits: 2, not 1");
  CHECK(message("training: {learning_rate: 1e-4, final_learning_rate: 1e-3}") ==
        "x.yaml:1:33: training.final_learning_rate: 0.001 is above training.learning_rate: 0.0001");
  CHECK(message("training: {schedule: exponential, final_learning_rate: 0}") ==
        "x.yaml:1:35: training.schedule: exponential needs training.final_learning_rate > 0");
  CHECK(message("data: {source: idx}") == "x.yaml:1:8: data.source: idx needs data.path");
  CHECK(message("data: {source: folder, path: null}") ==
        "x.yaml:1:24: data.source: folder needs data.path");
  CHECK(message("data: {size: 20}") ==
        "x.yaml:1:8: data.size: 20 has no effect with data.source: mnist; it resizes a folder's "
        "images");
}

TEST_CASE("settings of other kinds of attention are refused") {
  // The message of an override on top of `kind`, from its key on.
  const auto refusal = [](const std::string& kind, const std::string& override) {
    const std::string text = message("", {"attention.glimpse.kind=" + kind, override});
    const std::string start = fmt::format("override '{}': ", override);
    check_starts(text, start);
    return text.substr(std::min(start.size(), text.size()));
  };
  for (const std::string kind : {"hard_gaussian", "hard_categorical", "soft_gaussian", "scan"}) {
    CAPTURE(kind);
    for (const std::string expect : {"features", "pixels"})
      CHECK(refusal(kind, "attention.glimpse.expect=" + expect) ==
            fmt::format("attention.glimpse.expect: {} has no effect with attention.glimpse.kind: "
                        "{}, which takes no expectation; allowed: none",
                        expect, kind));
    for (const std::string key : {"entropy", "coverage", "row_penalty"})
      CHECK(refusal(kind, fmt::format("attention.glimpse.{}=0.5", key)) ==
            fmt::format("attention.glimpse.{}: 0.5 has no effect with attention.glimpse.kind: {}; "
                        "it is a setting of soft_grid",
                        key, kind));
  }
  for (const std::string kind : {"hard_gaussian", "soft_gaussian", "random", "oracle"})
    for (const std::string addressing : {"location", "content"})
      CHECK(refusal(kind, "attention.glimpse.addressing=" + addressing) ==
            fmt::format("attention.glimpse.addressing: {} has no effect with "
                        "attention.glimpse.kind: {}, which has no grid; allowed: none",
                        addressing, kind));
  // Where the kind is what was given last, or all that was given.
  CHECK(message("attention: {glimpse: {expect: pixels, kind: random}}") ==
        "x.yaml:1:23: attention.glimpse.expect: pixels has no effect with "
        "attention.glimpse.kind: random, which takes no expectation; allowed: none");
}

TEST_CASE("the heads of an attention core divide its width") {
  CHECK(message("", {"model.core=attention", "model.heads=3"}) ==
        "override 'model.heads=3': model.heads: 3 does not divide model.hidden_size: 256");
  CHECK(message("", {"model.core=attention", "model.hidden_size=6"}) ==
        "override 'model.hidden_size=6': model.heads: 4 does not divide model.hidden_size: 6");
  CHECK(message("", {"model.core=attention", "model.heads=3", "model.hidden_size=6"}) ==
        "nothing thrown");
  CHECK(message("", {"model.core=gru", "model.heads=3"}) == "nothing thrown");
}

TEST_CASE("scores that compare number by number need equal widths") {
  for (const std::string score : {"dot", "scaled_dot"}) {
    CAPTURE(score);
    const Overrides content = {"attention.glimpse.kind=hard_categorical",
                               "attention.glimpse.addressing=content",
                               "attention.glimpse.score=" + score, "model.hidden_size=96"};
    CHECK(message("", content) ==
          fmt::format("override 'attention.glimpse.score={0}': attention.glimpse.score: {0} needs "
                      "model.hidden_size: 96 and model.feature_size: 256 to be equal; general and "
                      "additive do not",
                      score));
    Overrides equal = content;
    equal.push_back("model.feature_size=96");
    CHECK(message("", equal) == "nothing thrown");
    // soft_grid scores by content unless it is told not to.
    const Overrides soft = {"attention.glimpse.kind=soft_grid", "attention.glimpse.score=" + score,
                            "model.feature_size=96"};
    CHECK(message("", soft).find("model.hidden_size: 256 and model.feature_size: 96") !=
          std::string::npos);
    Overrides by_location = soft;
    by_location.push_back("attention.glimpse.addressing=location");
    CHECK(message("", by_location) == "nothing thrown");
  }
  for (const std::string score : {"general", "additive"})
    CHECK(message("", {"attention.glimpse.kind=soft_grid", "attention.glimpse.score=" + score,
                       "model.feature_size=96"}) == "nothing thrown");
}

TEST_CASE("attention over states and its score fit together, and the task") {
  const auto with = [](const std::string& scene, Overrides more) {
    more.insert(more.begin(), "scene.kind=" + scene);
    return message("", more);
  };
  const std::string attend = "attention.hidden.kind=attend";
  check_starts(with("cluttered", {attend, "attention.hidden.query=none"}),
               "override 'attention.hidden.query=none': attention.hidden.query: none does not go "
               "with attention.hidden.score: general");
  check_starts(with("cluttered", {attend, "attention.hidden.score=location_free"}),
               "override 'attention.hidden.score=location_free': attention.hidden.query: last does "
               "not go with attention.hidden.score: location_free");
  CHECK(with("cluttered", {attend, "attention.hidden.score=location_free",
                           "attention.hidden.query=none"}) == "nothing thrown");
  CHECK(with("transcribe", {attend, "attention.hidden.score=location_free"}) == "nothing thrown");
  check_starts(with("cluttered", {"attention.hidden.kind=mean", "model.kind=mlp"}),
               "override 'attention.hidden.kind=mean': attention.hidden.kind: mean has no states");

  const std::string whole = "attention.glimpse.kind=whole";
  for (const std::string score : {"dot", "scaled_dot"}) {
    const Overrides unequal = {whole, attend, "attention.hidden.score=" + score,
                               "decoder.hidden_size=96"};
    CHECK(with("digits_to_words", unequal) ==
          fmt::format("override 'attention.hidden.score={0}': attention.hidden.score: {0} needs "
                      "decoder.hidden_size: 96 and model.hidden_size: 256 to be equal; general and "
                      "additive do not",
                      score));
  }
  check_starts(with("digits_to_words", {whole, "attention.hidden.kind=self"}),
               "override 'attention.hidden.kind=self': attention.hidden.kind: self reads once");
  check_starts(
      with("digits_to_words", {}),
      "override 'scene.kind=digits_to_words': attention.glimpse.kind: hard_gaussian cannot "
      "look at");
}

TEST_CASE("a scan of a bag has a glimpse for each digit") {
  const auto with = [](const std::string& glimpses, const std::string& kind) {
    return message("", {"scene.kind=bag", "scene.num_digits=4", "attention.glimpse.kind=" + kind,
                        "attention.glimpse.num_glimpses=" + glimpses});
  };
  CHECK(with("4", "scan") == "nothing thrown");
  CHECK(with("6", "hard_gaussian") == "nothing thrown");
  check_starts(with("6", "scan"),
               "override 'attention.glimpse.num_glimpses=6': attention.glimpse.num_glimpses: 6 of "
               "attention.glimpse.kind: scan miss the tiles");
}

TEST_CASE("catch needs an agent that acts and an episode that lets a ball land") {
  const Overrides plays = {"scene.kind=catch", "scene.canvas=[24, 24]"};
  const auto with = [&](Overrides more) {
    more.insert(more.begin(), plays.begin(), plays.end());
    return message("", more);
  };
  check_starts(with({}),
               "override 'scene.canvas=[24, 24]': attention.glimpse.num_glimpses: 8 ends");
  const std::string long_enough = "attention.glimpse.num_glimpses=23";
  CHECK(with({long_enough}) == "nothing thrown");
  check_starts(with({long_enough, "attention.hidden.kind=mean"}),
               "override 'attention.hidden.kind=mean': attention.hidden.kind: mean has no effect");
  check_starts(with({long_enough, "reinforce.reward=probability"}),
               "override 'reinforce.reward=probability': reinforce.reward: probability has no");
  for (const std::string kind : {"whole", "soft_gaussian"})
    check_starts(with({long_enough, "attention.glimpse.kind=" + kind}),
                 "override 'attention.glimpse.kind=" + kind + "': scene.kind: catch moves");
  check_starts(with({long_enough, "model.kind=mlp"}),
               "override 'model.kind=mlp': scene.kind: catch");
}

TEST_CASE("a gate is as sharp as a number above 0, on an agent with a core") {
  for (const std::string value : {"0", "-1"})
    CHECK(
        override_message("attention.input.alpha=" + value) ==
        fmt::format("override 'attention.input.alpha={0}': attention.input.alpha: '{0}' is out of "
                    "range; allowed: a number > 0 and <= 1000",
                    value));
  check_starts(message("", {"attention.input.kind=gate", "model.kind=cnn"}),
               "override 'attention.input.kind=gate': attention.input.kind: gate needs");
}

TEST_CASE("a temperature is a number above 0, or a ramp of such") {
  const auto temperature_message = [](const std::string& value) {
    return message("attention: {glimpse: {kind: soft_grid, temperature: " + value + "}}");
  };
  const std::string allowed =
      "; allowed: a number > 0 and <= 1000, or {from, to, over}: two such numbers and a share > 0 "
      "and <= 1";
  for (const std::string value : {"0", "-1", "1001"})
    CHECK(temperature_message(value) ==
          "x.yaml:1:53: attention.glimpse.temperature: '" + value + "' is out of range" + allowed);
  CHECK(temperature_message("{from: 2, to: 0}") ==
        "x.yaml:1:67: attention.glimpse.temperature: '0' is out of range" + allowed);
  CHECK(temperature_message("{from: 2, to: 0.1, over: 0.5}") == "nothing thrown");
}

TEST_CASE("what a kind implies is settled, what was said stays") {
  const auto settled = [](const std::string& kind, Overrides overrides = {}) {
    overrides.insert(overrides.begin(), "attention.glimpse.kind=" + kind);
    return parse("", overrides).agent.glimpse;
  };
  CHECK(settled("hard_categorical").addressing == "location");
  CHECK(settled("hard_categorical").expect == "none");
  CHECK(settled("soft_grid").addressing == "content");
  CHECK(settled("soft_grid").expect == "features");
  CHECK(settled("soft_grid").first == "random");
  CHECK(settled("soft_gaussian").addressing == "none");
  CHECK(settled("soft_gaussian").first == "learned");
  CHECK(settled("hard_gaussian").addressing == "none");
  CHECK(settled("hard_categorical", {"attention.glimpse.addressing=content"}).addressing ==
        "content");
  const GlimpseConfig soft = settled(
      "soft_grid", {"attention.glimpse.addressing=location", "attention.glimpse.expect=pixels"});
  CHECK(soft.addressing == "location");
  CHECK(soft.expect == "pixels");
}

TEST_CASE("settings that agree are accepted") {
  parse(
      "training: {batch_size: 96, lane_size: 48}\nreinforce: {rollouts: 3, advantage: "
      "leave_one_out}");
  parse("reinforce: {entropy: 0.1}\nattention: {glimpse: {learn_std: true}}");
  parse("data: {source: folder, path: /digits, size: 20}");
  parse("scene: {kind: centered, num_distractors: 0, num_digits: 2, label: pair}");
  const Config slow = parse("training: {learning_rate: 1e-6, schedule: exponential}");
  CHECK(slow.agent.training.optimizer.final_learning_rate == doctest::Approx(1e-8));
}

}  // namespace saccade
