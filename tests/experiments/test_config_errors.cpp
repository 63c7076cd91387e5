#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>

#include "agent/cores/core.h"
#include "agent/model/model.h"
#include "base/name_table.h"
#include "experiments/config/config.h"
#include "tests/experiments/config_messages.h"
#include "tests/experiments/support.h"
#include "tests/special_files.h"

namespace saccade {

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
  CHECK(contains(message(list(49'997)), "is a key of studies"));  // the list, its key and the file
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
        "allowed: a list of two, each an integer from 8 to 2048");
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

}  // namespace saccade
