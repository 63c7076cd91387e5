#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>

#include "agent/cores/core.h"
#include "agent/model/model.h"
#include "base/name_table.h"
#include "experiments/config/config.h"
#include "experiments/config/settings.h"
#include "experiments/runs/study.h"
#include "tests/experiments/config_messages.h"
#include "tests/experiments/support.h"
#include "tests/special_files.h"

namespace saccade {
namespace {

// Compares every setting bit for bit.
void check_same_config(const Config& a, const Config& b) {
  for (const Setting& setting : settings()) {
    INFO("key: " << setting.key);
    const SettingField right = field_in(b, setting.field);
    const bool same =
        std::visit([&]<class T>(const T* left) { return *left == *std::get<T*>(right); },
                   field_in(a, setting.field));
    CHECK(same);
  }
}

}  // namespace

TEST_CASE("the defaults are these") {
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
  check_same_config(config, parse("name: cluttered60"));
  Config defaults;
  defaults.name = "cluttered60";
  check_same_config(config, defaults);
}

TEST_CASE("every default is valid, and an empty file gives the defaults") {
  check_same_config(parse(to_yaml(Config{})), Config{});
  check_same_config(parse(""), Config{});
  check_same_config(parse("# nothing\n"), Config{});
  check_same_config(parse("training:\n  # episodes: 5\nlog:\n"), Config{});
}

TEST_CASE("a file sets the keys it names, and overrides are applied in order") {
  const Config config =
      parse("name: tiny\nscene: {canvas: [28, 40]}\ntraining:\n  episodes: 24_000_000\n",
            {"training.episodes=100", "scene.kind=translated", "training.episodes=200",
             "attention.glimpse.std={from: 0.3, to: 0.05, over: 0.6}", "scene.canvas=[30, 50]"});
  CHECK(config.name == "tiny");
  CHECK(config.agent.training.episodes == 200);
  CHECK(config.scene.kind == "translated");
  CHECK(config.scene.canvas == std::array{30, 50});
  CHECK(config.agent.glimpse.std == Ramp{0.3, 0.05, 0.6});
  CHECK(parse("training: {episodes: 24_000_000}").agent.training.episodes == 24'000'000);
  CHECK(parse("attention: {glimpse: {std: 0.2}}").agent.glimpse.std == Ramp{0.2, 0.2, 1.0});
  CHECK(parse("attention: {glimpse: {std: {from: 1, to: 2}}}").agent.glimpse.std ==
        Ramp{1.0, 2.0, 1.0});
}

TEST_CASE("a zoom is one number, or a range that does not go down") {
  const auto zoom = [](const std::string& value) {
    return parse("attention: {glimpse: {zoom: " + value + "}}").agent.glimpse.zoom;
  };
  CHECK(Config{}.agent.glimpse.zoom == LogRange{1.0, 1.0});
  CHECK(zoom("1") == LogRange{1.0, 1.0});
  CHECK(zoom("{from: 1, to: 4}") == LogRange{1.0, 4.0});
  const std::string allowed =
      "a number >= 1 and <= 2048, or {from, to}: two such numbers, from <= to";
  const auto message = [](const std::string& value) {
    return override_message("attention.glimpse.zoom=" + value);
  };
  check_starts(
      message("{from: 0.5, to: 4}"),
      "override 'attention.glimpse.zoom={from: 0.5, to: 4}': attention.glimpse.zoom: '0.5' "
      "is out of range; allowed: " +
          allowed);
  check_starts(message("{from: 4, to: 2}"),
               "override 'attention.glimpse.zoom={from: 4, to: 2}': attention.glimpse.zoom: from 4 "
               "to 2 goes down; allowed: " +
                   allowed);
  check_starts(message("{from: 4}"),
               "override 'attention.glimpse.zoom={from: 4}': attention.glimpse.zoom: a section "
               "without 'to'; allowed: " +
                   allowed);
  check_starts(
      message("{from: 1, to: 4, over: 1}"),
      "override 'attention.glimpse.zoom={from: 1, to: 4, over: 1}': attention.glimpse.zoom: "
      "'over' is unknown or repeated; allowed: " +
          allowed);
}

TEST_CASE("a pixel scale is one number, or one per channel") {
  const Config one = parse("data: {mean: 0.13, deviation: 0.31}");
  CHECK(one.pixels.mean == std::vector<double>{0.13});
  CHECK(one.pixels.deviation == std::vector<double>{0.31});
  const Config three = parse("data: {mean: [0.49, 0.48, 0.45]}", {"data.deviation=[0.2, 1, 0.3]"});
  CHECK(three.pixels.mean == std::vector<double>{0.49, 0.48, 0.45});
  CHECK(three.pixels.deviation == std::vector<double>{0.2, 1, 0.3});
  check_same_config(parse(to_yaml(three)), three);
  check_starts(
      message("data: {mean: [0, 0, 0, 0]}"),
      "x.yaml:1:14: data.mean: a list of 4 numbers; allowed: a number >= 0 and <= 1, or a");
  check_starts(message("data: {deviation: 0}"),
               "x.yaml:1:19: data.deviation: '0' is out of range; allowed: a number >= 0.01");
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
      "training: {episodes: 123456789, learning_rate: 1.0e-06, epsilon: 1e-30}\n");
  CHECK(config.agent.training.optimizer.final_learning_rate == 0.01 * 1e-6);
  CHECK(config.scene.num_distractors == 0);
  check_same_config(parse(to_yaml(config)), config);
  CHECK(to_yaml(parse(to_yaml(config))) == to_yaml(config));

  Config learned = parse("name: \"null\"", {"attention.glimpse.learn_std=true"});
  learned.agent.glimpse.std.over = 0.5;
  check_same_config(parse(to_yaml(learned)), learned);
}

TEST_CASE("text that YAML could read as another type is quoted") {
  for (const std::string text :
       {"01101", "0",      "007",   "0o17", "0x1F", "0b101", "1_000",      "+1",
        "-1",    "1.5",    ".5",    "1.",   "1e3",  "1:30",  "1:30:00",    ".inf",
        "-.Inf", ".nan",   ".NaN",  "y",    "N",    "yes",   "No",         "on",
        "OFF",   "true",   "False", "null", "Null", "~",     "2026-11-22", "2026-11-22 10:00:00",
        "<<",    "=",      "-",     "---",  "a: b", "a #b",  "#a",         "[a]",
        "{a}",   "*a",     "&a",    "!a",   "|",    ">",     "%a",         "@a",
        "`a",    "'a'",    "\"a\"", "a\\b", " a",   "a ",    " ",          "a\nb",
        "a\tb",  "\u00e9", "../a",  "?",    "a,b"}) {
    CAPTURE(text);
    Config config;
    config.data.path = text;
    CHECK(value_of(config, "data.path").front() == '"');
    CHECK(value_of(config, "data.path").back() == '"');
    check_same_config(parse(to_yaml(config)), config);
  }
  for (const std::string text : {"/data/mnist", "runs/a-b_c.d/seed-1", "nothing", "e3", "x0110"}) {
    CAPTURE(text);
    Config config;
    config.data.path = text;
    CHECK(value_of(config, "data.path") == text);
    check_same_config(parse(to_yaml(config)), config);
  }
}

TEST_CASE("a mask means the same with and without quotes") {
  const auto masked = [](const std::string& mask) {
    return parse("attention: {hidden: {kind: attend, mask: " + mask + "}}",
                 {"attention.glimpse.num_glimpses=5"});
  };
  CHECK(masked("01101").agent.hidden.mask == "01101");
  CHECK(value_of(masked("01101"), "attention.hidden.mask") == "\"01101\"");
  CHECK(differences(masked("01101"), masked("\"01101\"")).empty());
}

TEST_CASE("to_yaml writes each key once, and sections as blocks") {
  const std::string yaml = to_yaml(Config{});
  CHECK(yaml.find("\nattention:\n  glimpse:\n    kind: hard_gaussian ") != std::string::npos);
  CHECK(yaml.find("\n  path: null ") != std::string::npos);
  CHECK(yaml.find("\n  canvas: [60, 60] ") != std::string::npos);
  CHECK(yaml.find("\n    std: 0.1 ") != std::string::npos);
  const std::size_t lines = section_names().size() + settings().size();
  CHECK(std::count(yaml.begin(), yaml.end(), '\n') == static_cast<std::ptrdiff_t>(lines));
}

TEST_CASE("every preset can be read and written") {
  int presets = 0;
  for (const auto& entry : fs::directory_iterator(source_folder() / "experiments")) {
    if (entry.path().extension() != ".yaml") continue;
    ++presets;
    INFO("preset: " << entry.path().filename().string());
    std::vector<Config> configs;
    for (const StudyRun& run : read_study(entry.path(), {}).runs) configs.push_back(run.config);
    for (const Config& config : configs) {
      CHECK(config.name == entry.path().stem().string());
      check_same_config(parse(to_yaml(config)), config);
    }
  }
  CHECK(presets > 0);
}

TEST_CASE("the preset for newcomers is evaluated often enough for a learning curve") {
  const Config config = read_config(source_folder() / "experiments/quickstart.yaml");
  CHECK(config.agent.training.episodes / config.evaluation.every >= 8);
}

TEST_CASE("a missing or unreadable file is named") {
  const TemporaryFolder folder;
  const std::string missing = (folder.path / "missing.yaml").string();
  CHECK(message_of<InputError>([&] { read_config(missing); }) ==
        missing + ": cannot be read: No such file or directory");
  CHECK(message_of<InputError>([&] { read_config(folder.path); }) ==
        folder.path.string() + ": not a regular file");

  const fs::path file = folder.path / "x.yaml";
  std::ofstream(file) << "name: tiny\nsede: 3\n";
  CHECK(message_of<InputError>([&] { read_config(file); }) ==
        file.string() + ":2:1: unknown key 'sede'; did you mean 'seed'?");
}

TEST_CASE("a configuration must be a regular file of at most a megabyte") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "there.yaml";
  const auto fault = [&](const fs::path& of) {
    return message_of<InputError>([&] { read_config(of); });
  };
  for_each_special_file(path,
                        [&] { CHECK(fault(path) == path.string() + ": not a regular file"); });
  CHECK(fault("/dev/null") == "/dev/null: not a regular file");
  const std::string comment = "#" + std::string((1 << 20) - 2, ' ') + "\n";
  put_bytes(path, comment);
  CHECK(fault(path) == "nothing thrown");
  put_bytes(path, comment + "\n");
  CHECK(fault(path) ==
        path.string() + ": cannot be read: it has 1048577 bytes; allowed: at most 1048576");
}

TEST_CASE("a configuration has at most 50000 keys and values") {
  const auto list = [](int values) {
    std::string text = "seeds: [1";
    for (int i = 1; i < values; ++i) text += ", " + std::to_string(i);
    return text + "]\n";
  };
  std::string keys;
  for (int i = 0; i < 25'000; ++i) keys += fmt::format("key{}: 1\n", i);
  check_contains(message(keys), {"x.yaml:25000:", ": more than 50000 keys and values"});
  CHECK(contains(message("no_such_key: 1\n"), "x.yaml:1:1: unknown key"));
  CHECK(contains(message(list(49'997)), "makes this a study"));  // the list, its key and the file
  CHECK(contains(message(list(49'998)), "more than 50000"));
}

TEST_CASE("an error shows only the beginning, the end and the length of a long text") {
  const std::string name(1'000'000, 'a');
  const std::string shown =
      std::string(150, 'a') + "... (1000000 characters) ..." + std::string(50, 'a');
  for (const char* key : {"name", "model.core", "seed", "scene.canvas", "training.learning_rate"}) {
    CAPTURE(key);
    const std::string fault = override_message(key + ("=" + name));
    CHECK(fault.size() < 2'000);
    check_contains(fault, {"characters) ...", "'" + shown + "'"});
  }
  for (const std::string& text : {name, name + "=1", name + ": 1", "vary=" + name})
    CHECK(override_message(text).size() < 1'000);
  CHECK(contains(message("? " + name + "\n: 1\n"), "unknown key '" + shown + "'; did you mean"));
  CHECK(contains(message("name: " + name + "\n"), "name: '" + shown + "' cannot name a folder"));
  CHECK(message("model: {core: *" + name + "}\n").size() < 1'000);
  CHECK(contains(message("data: {path: " + name + "}\n"), "has 1000000 bytes, and a path at most"));
}

TEST_CASE("invalid YAML is refused with its location") {
  check_starts(message("training: {episodes: 5\nseed: 1\n"), "x.yaml:2:");
  CHECK(message("name: a\n\tseed: 1\n").find("not valid YAML: ") != std::string::npos);
  check_starts(message("- 1\n- 2\n"), "x.yaml:1:1: a list is not a configuration");
  check_starts(message("hello\n"), "x.yaml:1:1: 'hello' is not a configuration");
  check_starts(message("name: a\n---\nname: b\n"), "x.yaml:2:1: a second YAML document");
  check_starts(message("[1, 2]: 3\n"), "x.yaml:1:1: a list is not a key");
  check_starts(message("name: a\n? {b: c}\n: 3\n"), "x.yaml:2:3: a section is not a key");
}

TEST_CASE("an unknown key is reported with the nearest valid one") {
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

TEST_CASE("a repeated key reports both lines") {
  CHECK(message("seed: 1\nname: a\nseed: 2\n") ==
        "x.yaml:3:1: repeated key 'seed'; line 1 has it already");
  CHECK(message("training: {ema: 0.9}\nname: a\ntraining: {episodes: 5}\n") ==
        "x.yaml:3:1: repeated key 'training'; line 1 has it already");
  CHECK(message("training:\n  ema: 0.9\n  ema: 0.9\n") ==
        "x.yaml:3:3: repeated key 'training.ema'; line 2 has it already");
  CHECK(message("training:\n  ema: 0.9\ntraining.ema: 0.8\n") ==
        "x.yaml:3:1: repeated key 'training.ema'; line 2 has it already");
}

TEST_CASE("a value of the wrong type reports what is allowed") {
  CHECK(message("training:\n  learning_rate: fast\n") ==
        "x.yaml:2:18: training.learning_rate: 'fast' is not a number; "
        "allowed: a number >= 1e-30 and <= 10");
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
               "x.yaml:2:1: training: '5' is not a section; its keys: episodes, batch_size, ");
  check_starts(message("attention:\n  glimpse: [1]\n"),
               "x.yaml:2:3: attention.glimpse: a list is not a section; its keys: kind, ");
}

TEST_CASE("a value out of range reports the range") {
  CHECK(message("training: {learning_rate: 0}") ==
        "x.yaml:1:27: training.learning_rate: '0' is out of range; "
        "allowed: a number >= 1e-30 and <= 10");
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

TEST_CASE("an unknown name lists the valid ones") {
  CHECK(message("model: {core: lstn}") ==
        "x.yaml:1:15: model.core: 'lstn' is unknown (did you mean 'lstm'?); allowed: " +
            join(core_kinds()));
  CHECK(override_message("attention.hidden.kind=nonesuch") ==
        "override 'attention.hidden.kind=nonesuch': attention.hidden.kind: 'nonesuch' is unknown; "
        "allowed: " +
            join(hidden_kinds()));
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
        "; allowed: a number >= 0.0001 and <= 4, or {from, to, over}: two such numbers and a share "
        "> 0 "
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
               "override 'attention.glimpse.std.from=1': attention.glimpse.std is not a section; "
               "allowed: a number >= 0.0001 and <= 4, or {from, to, over}");
  check_starts(override_message("scene.canvas=[1"), "override 'scene.canvas=[1': not valid YAML: ");
  check_starts(override_message("seed="), "override 'seed=': seed: no value; allowed: ");
}

TEST_CASE("to_yaml and back gives the same configuration for every kind of glimpse and model") {
  const auto check_round_trip = [](const Overrides& overrides) {
    const Config config = parse("", overrides);
    check_same_config(parse(to_yaml(config)), config);
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

}  // namespace saccade
