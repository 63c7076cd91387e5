#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "agent/model.h"
#include "experiments/config.h"
#include "experiments/config_table.h"
#include "experiments/study.h"
#include "nn/error.h"
#include "tests/support.h"

namespace saccade {
namespace {

using Overrides = std::vector<std::string>;

Config parse(const std::string& text, const Overrides& overrides = {}) {
  return parse_config(text, "x.yaml", overrides);
}

std::string message(const std::string& text, const Overrides& overrides = {}) {
  return message_of<InputError>([&] { parse(text, overrides); });
}

std::string override_message(const std::string& override) { return message("", {override}); }

void check_starts(const std::string& text, const std::string& start) {
  INFO("message: " << text);
  INFO("expected: " << start);
  CHECK(text.substr(0, start.size()) == start);
}

bool same(const Ramp& a, const Ramp& b) {
  return a.from == b.from && a.to == b.to && a.over == b.over;
}
bool same(const auto& a, const auto& b) { return a == b; }

// Compares every setting, bit by bit.
void check_equal(Config a, Config b) {
  const std::vector<Setting> left = settings(a), right = settings(b);
  for (std::size_t i = 0; i < left.size(); ++i) {
    INFO("key: " << left[i].key);
    const auto same_as_right = [&](auto* field) {
      return same(*field, *std::get<decltype(field)>(right[i].field));
    };
    CHECK(std::visit(same_as_right, left[i].field));
  }
}

}  // namespace

TEST_CASE("defaults are those of DESIGN.md section 6") {
  const Config config = parse(R"(
name: cluttered60
seed: 1
data:       {source: mnist, path: null}
scene:      {kind: cluttered, canvas: [60, 60], num_digits: 1, num_distractors: 4, distractor_size: 8, border: 0}
retina:     {patch_size: 12, scales: 3, scale_factor: 2}
model:      {kind: recurrent, core: rnn, hidden_size: 256, glimpse_hidden: 128, location_hidden: 128, locator_hidden: 128}
attention:
  glimpse:  {kind: hard_gaussian, num_glimpses: 8, first: random, std: 0.1}
  input:    {kind: none}
  hidden:   {kind: last}
reinforce:  {rollouts: 1, advantage: learned, reward: correct, weight: 1.0, entropy: 0.0}
training:   {episodes: 36000000, batch_size: 256, lane_size: 64, optimizer: adam, learning_rate: 0.001, schedule: cosine, warmup: 0.02,
             max_grad_norm: 5.0, ema: 0.999, step_loss: 0.0}
evaluation: {every: 2000000, scenes: 10000, seed: 777, rollouts: 10}
log:        {every: 100000}
)");
  check_equal(config, parse("name: cluttered60"));
  Config defaults;
  defaults.name = "cluttered60";
  check_equal(config, defaults);
}

TEST_CASE("every default is allowed, and a file that says nothing is the defaults") {
  check_equal(parse(to_yaml(Config{})), Config{});
  check_equal(parse(""), Config{});
  check_equal(parse("# nothing\n"), Config{});
  check_equal(parse("training:\n  # episodes: 5\nlog:\n"), Config{});
}

TEST_CASE("a file sets what it names, and overrides follow in their order") {
  const Config config =
      parse("name: tiny\nscene: {canvas: [28, 40]}\ntraining:\n  episodes: 24_000_000\n",
            {"training.episodes=100", "scene.kind=translated", "training.episodes=200",
             "attention.glimpse.std={from: 0.3, to: 0.05, over: 0.6}", "scene.canvas=[30, 50]"});
  CHECK(config.name == "tiny");
  CHECK(config.agent.training.episodes == 200);
  CHECK(config.scene.kind == "translated");
  CHECK(config.scene.canvas == std::array{30, 50});
  CHECK(same(config.agent.glimpse.std, Ramp{0.3, 0.05, 0.6}));
  CHECK(parse("training: {episodes: 24_000_000}").agent.training.episodes == 24'000'000);
  CHECK(same(parse("attention: {glimpse: {std: 0.2}}").agent.glimpse.std, Ramp{0.2, 0.2, 1.0}));
  CHECK(same(parse("attention: {glimpse: {std: {from: 1, to: 2}}}").agent.glimpse.std,
             Ramp{1.0, 2.0, 1.0}));
}

TEST_CASE("data.path may be null") {
  CHECK(parse("data: {path: /digits}").data.path == "/digits");
  CHECK(parse("data: {path: null}").data.path.empty());
  CHECK(parse("data: {path: /digits}", {"data.path=null"}).data.path.empty());
  CHECK(parse("data: {path: /digits}", {"data.path="}).data.path.empty());
}

TEST_CASE("to_yaml and back gives the same configuration") {
  const Config config = parse(
      "name: '007'\nseed: 9007199254740991\n"
      "data: {source: folder, path: \"a: b #c\\n'\\\"d\", size: 20,\n"
      "       augmentation: {rotation: 12.3, scale: 0.1, shear: 0.30000000000000004, shift: "
      "1e-7}}\n"
      "scene: {kind: translated, canvas: [64, 100], num_digits: 2, label: pair, border: 3}\n"
      "model: {core: lstm, hidden_size: 7}\n"
      "attention: {glimpse: {first: learned, std: {from: 0.3, to: 0.05, over: 0.6}}}\n"
      "reinforce: {rollouts: 4, advantage: leave_one_out, weight: 0.1}\n"
      "training: {episodes: 123456789, learning_rate: 1.0e-06, epsilon: 1e-300}\n");
  CHECK(config.agent.training.optimizer.final_learning_rate == 0.01 * 1e-6);
  CHECK(config.scene.num_distractors == 0);
  check_equal(parse(to_yaml(config)), config);
  CHECK(to_yaml(parse(to_yaml(config))) == to_yaml(config));

  Config learned = parse("name: \"null\"", {"attention.glimpse.learn_std=true"});
  learned.agent.glimpse.std.over = 0.5;
  check_equal(parse(to_yaml(learned)), learned);
}

TEST_CASE("to_yaml writes each key once, sections as blocks") {
  const std::string yaml = to_yaml(Config{});
  CHECK(yaml.find("\nattention:\n  glimpse:\n    kind: hard_gaussian ") != std::string::npos);
  CHECK(yaml.find("\n  path: null ") != std::string::npos);
  CHECK(yaml.find("\n  canvas: [60, 60] ") != std::string::npos);
  CHECK(yaml.find("\n    std: 0.1 ") != std::string::npos);
  Config config;
  std::size_t lines = section_names(settings(config)).size() + settings(config).size();
  CHECK(std::count(yaml.begin(), yaml.end(), '\n') == static_cast<std::ptrdiff_t>(lines));
}

TEST_CASE("every preset can be read and written") {
  int presets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(SACCADE_SOURCE_DIR) / "experiments")) {
    if (entry.path().extension() != ".yaml") continue;
    ++presets;
    INFO("preset: " << entry.path().filename().string());
    std::vector<Config> configs;
    if (const auto study = read_study(entry.path(), {}))
      for (const StudyRun& run : study->runs) configs.push_back(run.config);
    else
      configs.push_back(read_config(entry.path()));
    for (const Config& config : configs) {
      CHECK(config.name == entry.path().stem().string());
      check_equal(parse(to_yaml(config)), config);
    }
  }
  CHECK(presets > 0);
}

TEST_CASE("a file that cannot be read is named") {
  const TemporaryFolder folder;
  const std::string missing = (folder.path / "missing.yaml").string();
  CHECK(message_of<InputError>([&] { read_config(missing); }) ==
        missing + ": cannot be read: No such file or directory");
  CHECK(message_of<InputError>([&] { read_config(folder.path); }) ==
        folder.path.string() + ": cannot be read: it is a folder");

  const std::filesystem::path file = folder.path / "x.yaml";
  std::ofstream(file) << "name: tiny\nsede: 3\n";
  CHECK(message_of<InputError>([&] { read_config(file); }) ==
        file.string() + ":2:1: unknown key 'sede'; did you mean 'seed'?");
}

TEST_CASE("what is no configuration is refused with its place") {
  check_starts(message("training: {episodes: 5\nseed: 1\n"), "x.yaml:2:");
  CHECK(message("name: a\n\tseed: 1\n").find("not valid YAML: ") != std::string::npos);
  check_starts(message("- 1\n- 2\n"), "x.yaml:1:1: a list is no configuration");
  check_starts(message("hello\n"), "x.yaml:1:1: 'hello' is no configuration");
  check_starts(message("name: a\n---\nname: b\n"), "x.yaml:3:1: a second YAML document");
  check_starts(message("[1, 2]: 3\n"), "x.yaml:1:1: a list is no key");
  check_starts(message("name: a\n? {b: c}\n: 3\n"), "x.yaml:2:3: a section is no key");
}

TEST_CASE("an unknown key comes with the nearest valid one") {
  const auto suggestion = [](const std::string& key) {
    const std::string text = override_message(key + "=1");
    const std::string start =
        fmt::format("override '{}=1': unknown key '{}'; did you mean '", key, key);
    check_starts(text, start);
    return text.substr(start.size(), text.size() - start.size() - 2);
  };
  CHECK(message("training:\n  episodes: 5\n  learning_rat: 1\n") ==
        "x.yaml:3:3: unknown key 'training.learning_rat'; did you mean 'training.learning_rate'?");
  CHECK(message("trainig: {episodes: 5}\n") ==
        "x.yaml:1:1: unknown key 'trainig'; did you mean 'training'?");
  CHECK(suggestion("learning_rate") == "training.learning_rate");
  CHECK(suggestion("trainig.episodes") == "training.episodes");
  CHECK(suggestion("training.lr") == "training.learning_rate");
  CHECK(suggestion("training.batchsize") == "training.batch_size");
  CHECK(suggestion("training.hidden_size") == "model.hidden_size");
  CHECK(suggestion("model.hidden") == "model.hidden_size");
  CHECK(suggestion("glimpse.kind") == "attention.glimpse.kind");
  CHECK(suggestion("attention.num_glimpses") == "attention.glimpse.num_glimpses");
  CHECK(suggestion("sead") == "seed");
  CHECK(suggestion("training.epochs") == "training.episodes");
  CHECK(suggestion("log.evry") == "log.every");
}

TEST_CASE("a repeated key names both lines") {
  CHECK(message("seed: 1\nname: a\nseed: 2\n") ==
        "x.yaml:3:1: repeated key 'seed'; line 1 has it already");
  CHECK(message("training: {ema: 0.9}\nname: a\ntraining: {episodes: 5}\n") ==
        "x.yaml:3:1: repeated key 'training'; line 1 has it already");
  CHECK(message("training:\n  ema: 0.9\n  ema: 0.9\n") ==
        "x.yaml:3:3: repeated key 'training.ema'; line 2 has it already");
  CHECK(message("training:\n  ema: 0.9\ntraining.ema: 0.8\n") ==
        "x.yaml:3:1: repeated key 'training.ema'; line 2 has it already");
}

TEST_CASE("a value of the wrong type names what is allowed") {
  CHECK(message("training:\n  learning_rate: fast\n") ==
        "x.yaml:2:18: training.learning_rate: 'fast' is not a number; "
        "allowed: a number > 0 and <= 10");
  CHECK(message("training: {batch_size: 1e3}\n") ==
        "x.yaml:1:24: training.batch_size: '1e3' is not an integer; "
        "allowed: an integer from 1 to 65536");
  for (const char* value : {"2.5", "1__0", "_1", "1_", "0x10", "''", "ten", "[1]", "{a: 1}"})
    CHECK(override_message(fmt::format("seed={}", value)).find("is not an integer") !=
          std::string::npos);
  for (const char* value : {".inf", "nan", "inf", "1e999", "1 2", "[1]", "{a: 1}", "0x1p3"})
    CHECK(override_message(fmt::format("reinforce.weight={}", value)).find("is not a number") !=
          std::string::npos);
  CHECK(message("attention: {glimpse: {learn_std: 1}}") ==
        "x.yaml:1:34: attention.glimpse.learn_std: '1' is neither true nor false; "
        "allowed: true, false");
  CHECK(message("training:\n  optimizer:\n    kind: adam\n") ==
        "x.yaml:3:5: training.optimizer: a section is not text; allowed: adam, adamw, sgd");
  CHECK(message("name: [a, b]") ==
        "x.yaml:1:7: name: a list is not text; allowed: up to 100 letters, digits, '.', '_' and "
        "'-', the first a letter or digit");
  CHECK(message("data: {path: [a]}") ==
        "x.yaml:1:14: data.path: a list is not text; allowed: a path or null");
  CHECK(message("seed:\nname: a\n") ==
        "x.yaml:1:1: seed: no value; allowed: an integer from 0 to 9007199254740991");
  CHECK(message("name: null") ==
        "x.yaml:1:1: name: no value; allowed: up to 100 letters, digits, '.', '_' and '-', the "
        "first a letter or digit");
  CHECK(message("training: 5\n") == message("training: '5'\n"));
  check_starts(message("name: a\ntraining: 5\n"),
               "x.yaml:2:1: training: '5' is no section; its keys: episodes, batch_size, ");
  check_starts(message("attention:\n  glimpse: [1]\n"),
               "x.yaml:2:3: attention.glimpse: a list is no section; its keys: kind, ");
}

TEST_CASE("a value out of its range names the range") {
  CHECK(message("training: {learning_rate: 0}") ==
        "x.yaml:1:27: training.learning_rate: '0' is out of range; "
        "allowed: a number > 0 and <= 10");
  CHECK(message("training: {ema: 1}") ==
        "x.yaml:1:17: training.ema: '1' is out of range; allowed: a number >= 0 and < 1");
  CHECK(message("retina: {scales: 7}") ==
        "x.yaml:1:18: retina.scales: '7' is out of range; allowed: an integer from 1 to 6");
  for (const char* value : {"-1", "9007199254740992", "99999999999999999999999"})
    CHECK(override_message(fmt::format("seed={}", value)) ==
          fmt::format("override 'seed={0}': seed: '{0}' is out of range; "
                      "allowed: an integer from 0 to 9007199254740991",
                      value));
  check_starts(override_message("model.hidden_size=4294967297"),
               "override 'model.hidden_size=4294967297': model.hidden_size: '4294967297' is out");
  for (const char* value : {"../x", ".hidden", "a/b", "a b", "-x"})
    check_starts(override_message(fmt::format("name={}", value)),
                 fmt::format("override 'name={0}': name: '{0}' cannot name a folder", value));
}

TEST_CASE("an unknown name lists the names") {
  CHECK(message("model: {core: lstn}") ==
        "x.yaml:1:15: model.core: 'lstn' is unknown; allowed: rnn, lstm, gru, feedforward, "
        "attention");
  CHECK(override_message("attention.hidden.kind=first") ==
        "override 'attention.hidden.kind=first': attention.hidden.kind: 'first' is unknown; "
        "allowed: last, mean, attend, self");
}

TEST_CASE("a canvas is two integers") {
  CHECK(message("scene: {canvas: [60, 4]}") ==
        "x.yaml:1:22: scene.canvas: '4' is out of range; "
        "allowed: [rows, cols], each an integer from 8 to 2048");
  check_starts(message("scene: {canvas: [60, 6.5]}"),
               "x.yaml:1:22: scene.canvas: '6.5' is not an integer");
  check_starts(message("scene: {canvas: 60}"), "x.yaml:1:17: scene.canvas: '60' is not a list");
  check_starts(message("scene: {canvas: [60]}"),
               "x.yaml:1:17: scene.canvas: a list is not a list of two");
}

TEST_CASE("a std is a number or a ramp") {
  const auto std_message = [](const std::string& value) {
    const std::string text = message("attention: {glimpse: {std: " + value + "}}");
    const std::string end =
        "; allowed: a number > 0 and <= 4, or {from, to, over}: two such numbers and a share > 0 "
        "and <= 1";
    INFO("message: " << text);
    REQUIRE(text.ends_with(end));
    return text.substr(0, text.size() - end.size());
  };
  CHECK(std_message("0") == "x.yaml:1:28: attention.glimpse.std: '0' is out of range");
  CHECK(std_message("wide") == "x.yaml:1:28: attention.glimpse.std: 'wide' is not a number");
  CHECK(std_message("[1, 2]") == "x.yaml:1:28: attention.glimpse.std: a list is not a number");
  CHECK(std_message("{from: 0.3}") == "x.yaml:1:28: attention.glimpse.std: a section without 'to'");
  CHECK(std_message("{from: 1, to: 5}") ==
        "x.yaml:1:42: attention.glimpse.std: '5' is out of range");
  CHECK(std_message("{from: 1, to: 1, over: 0}") ==
        "x.yaml:1:51: attention.glimpse.std: '0' is out of range");
  CHECK(std_message("{from: 1, to: 1, form: 0}") ==
        "x.yaml:1:45: attention.glimpse.std: 'form' is unknown or repeated");
  CHECK(std_message("{from: 1, from: 1}") ==
        "x.yaml:1:38: attention.glimpse.std: 'from' is unknown or repeated");
}

TEST_CASE("an override is key.path=value") {
  check_starts(override_message("training.ema"),
               "override 'training.ema': allowed: key.path=value");
  check_starts(override_message("=5"), "override '=5': allowed: key.path=value");
  check_starts(override_message("training=5"),
               "override 'training=5': 'training' is a section; its keys: episodes, ");
  check_starts(override_message("attention.glimpse.std.from=1"),
               "override 'attention.glimpse.std.from=1': attention.glimpse.std is no section; "
               "allowed: a number > 0 and <= 4, or {from, to, over}");
  check_starts(override_message("scene.canvas=[1"), "override 'scene.canvas=[1': not valid YAML: ");
  check_starts(override_message("seed="), "override 'seed=': seed: no value; allowed: ");
}

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

TEST_CASE("to_yaml and back, for every kind of glimpse and of model") {
  const auto check_round_trip = [](const Overrides& overrides) {
    const Config config = parse("", overrides);
    check_equal(parse(to_yaml(config)), config);
    CHECK(to_yaml(parse(to_yaml(config))) == to_yaml(config));
  };
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    check_round_trip({"attention.glimpse.kind=" + kind});
    check_round_trip({"attention.glimpse.kind=" + kind, "attention.glimpse.grid=[5, 7]",
                      "attention.glimpse.stride=3", "attention.glimpse.tiles=[2, 3]",
                      "attention.glimpse.temperature={from: 2, to: 0.5, over: 0.25}",
                      "attention.glimpse.score=additive", "attention.glimpse.score_hidden=9",
                      "attention.glimpse.filters=5"});
  }
  for (const std::string addressing : {"location", "content"})
    for (const std::string expect : {"features", "pixels"})
      check_round_trip({"attention.glimpse.kind=soft_grid",
                        "attention.glimpse.addressing=" + addressing,
                        "attention.glimpse.expect=" + expect, "attention.glimpse.entropy=0.125",
                        "attention.glimpse.coverage=0.3", "attention.glimpse.row_penalty=1e-7"});
  for (const std::string& kind : model_kinds())
    check_round_trip({"model.kind=" + kind, "model.canvas_hidden=5", "model.channels=[3, 4]",
                      "model.kernel_size=7"});
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
