#include "experiments/runs/study.h"

#include <doctest/doctest.h>

#include "experiments/config/variants.h"
#include "tests/experiments/studies.h"

namespace saccade {
namespace {

std::string fault_of(const TinyStudy& tiny, const Overrides& overrides = {}) {
  return message_of<InputError>([&] { read_study(tiny.yaml, overrides); });
}

const std::string kTwoByTwo = R"(vary:
  model.core: [rnn, gru]
  attention.glimpse.num_glimpses: [2, 3]
seeds: 2
)";

}  // namespace

TEST_CASE("a file without vary and seeds defines a single run") {
  const TinyExperiment tiny;
  const Study study = read_study(tiny.yaml, {"model.core=gru"});
  CHECK(study.single);
  REQUIRE(study.runs.size() == 1);
  CHECK(study.runs[0].folder == "model.core=gru/seed-1");
  CHECK(study.runs[0].config.agent.model.core == "gru");
}

TEST_CASE("a study is every combination with every seed, the last key varying fastest") {
  const TinyStudy tiny(kTwoByTwo);
  const auto runs = tiny.runs({"training.episodes=32"});
  REQUIRE(runs.size() == 8);
  CHECK(runs[0].folder == "model.core=rnn,glimpse.num_glimpses=2,training.episodes=32/seed-1");
  CHECK(runs[3].folder == "model.core=rnn,glimpse.num_glimpses=3,training.episodes=32/seed-2");
  CHECK(runs[7].config.agent.model.core == "gru");
  CHECK(runs[7].config.agent.glimpse.num_glimpses == 3);
  CHECK(runs[7].config.seed == 2);
  for (const StudyRun& run : runs) CHECK(run.config.agent.training.episodes == 32);
}

TEST_CASE("an override that lists values varies its key, in any file") {
  const TinyExperiment tiny;
  const auto folders = [&](const Overrides& overrides) {
    Names names;
    const Study study = read_study(tiny.yaml, overrides);
    if (study.single) return names;
    for (const StudyRun& run : study.runs) names.push_back(run.folder.string());
    return names;
  };
  const Names kinds = {"glimpse.kind=hard_gaussian/seed-1", "glimpse.kind=soft_point/seed-1"};
  CHECK(folders({"attention.glimpse.kind=hard_gaussian,soft_point"}) == kinds);
  CHECK(folders({"attention.glimpse.kind=[hard_gaussian, soft_point]"}) == kinds);
  CHECK(folders({"attention.glimpse.kind=hard_gaussian"}) == Names{});
  CHECK(folders({"retina.patch_size=3,5", "model.core=rnn,gru"}).size() == 4);
  CHECK(folders({"retina.patch_size=3,5", "seeds=2"}).size() == 4);
  // A setting that is itself a list has one value.
  CHECK(folders({"scene.canvas=[14, 15]"}) == Names{});
  CHECK(folders({"data.mean=[0.1]"}) == Names{});
  CHECK(folders({"scene.canvas=[14, 15],[13, 13]"}).size() == 2);
  CHECK(folders({"attention.glimpse.std={from: 0.3, to: 0.1}"}) == Names{});
  CHECK(folders({"attention.glimpse.std={from: 0.3, to: 0.1},0.2"}).size() == 2);
  CHECK(folders({"data.path=a,b"}) == Names{});

  const TinyStudy study(kTwoByTwo);
  CHECK(study.runs({"retina.patch_size=3,5"}).size() == 16);
  CHECK(contains(fault_of(study, {"model.core=lstm,rnn"}), "model.core stands in two lists"));
  CHECK(contains(message_of<InputError>([&] { read_study(tiny.yaml, {"seed=1,2"}); }),
                 "seeds: [...] varies seeds"));
  CHECK(contains(message_of<InputError>([&] { read_study(tiny.yaml, {"model.core=rnn,rnn"}); }),
                 "share the folder"));
}

TEST_CASE("values that have no effect with a variant's other settings give a single run") {
  const TinyExperiment tiny;
  const Study study = read_study(tiny.yaml, {"attention.glimpse.kind=hard_gaussian,center",
                                             "reinforce.reward=correct,gain,probability"});
  CHECK(study.runs.size() == 4);
  // The same if the file varies a setting that an override makes ineffective, with the default
  // among its values.
  const TinyStudy varied("vary: {reinforce.advantage: [none, learned]}\n");
  CHECK(varied.runs().size() == 2);
  CHECK(varied.runs({"attention.glimpse.kind=soft_point"}).size() == 1);
  const TinyStudy named(
      "vary: [{name: a, model.core: rnn}, "
      "{name: a, model.core: rnn, attention.glimpse.grid: [2, 3]}]\n");
  CHECK(named.runs().size() == 1);
}

TEST_CASE("variants can be listed, each with the settings that belong together") {
  const TinyStudy tiny(R"(vary:
  - {attention.glimpse.kind: hard_gaussian, attention.glimpse.std: {from: 0.3, to: 0.1}}
  - {attention.glimpse.kind: soft_grid, attention.glimpse.grid: [2, 3], training.ema: 0.5}
)");
  const auto runs = tiny.runs();
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].config.agent.glimpse.std.from == 0.3);
  CHECK(runs[0].config.agent.training.optimizer.ema == 0.999);
  CHECK(runs[1].config.agent.glimpse.kind == "soft_grid");
  CHECK(runs[1].config.agent.glimpse.grid.cells == std::array{2, 3});
  CHECK(runs[1].config.agent.training.optimizer.ema == 0.5);
  CHECK(runs[1].config.agent.glimpse.num_glimpses == 3);  // the file's value is kept
}

TEST_CASE("lists of variants are combined, the last list varying fastest") {
  const TinyStudy tiny(R"(vary:
  - - {attention.glimpse.kind: hard_gaussian, attention.glimpse.std: 0.3}
    - {attention.glimpse.kind: soft_grid, attention.glimpse.grid: [2, 3]}
  - [{training.learning_rate: 0.01}, {training.learning_rate: 0.02}, {training.ema: 0.5}]
seeds: 2
)");
  const auto runs = tiny.runs();
  REQUIRE(runs.size() == 12);
  CHECK(runs[3].folder ==
        "glimpse.kind=hard_gaussian,glimpse.std=0.3,training.learning_rate=0.02/seed-2");
  CHECK(runs[3].config.agent.training.optimizer.learning_rate == 0.02);
  CHECK(runs[6].config.agent.glimpse.kind == "soft_grid");
  CHECK(runs[6].config.agent.glimpse.grid.cells == std::array{2, 3});
  CHECK(runs[6].config.agent.training.optimizer.learning_rate == 0.01);
  CHECK(runs[11].config.agent.training.optimizer.ema == 0.5);
  CHECK(runs[11].config.seed == 2);
  CHECK(tiny.runs({"vary=[[{model.core: rnn}], [{training.ema: 0.5}, {training.ema: 0.9}]]"})
            .size() == 4);
}

TEST_CASE("seeds are a count or a list, and overrides replace those of the file") {
  const TinyStudy tiny("seeds: [7, 3]\n");
  CHECK(tiny.runs().size() == 2);
  CHECK(tiny.runs()[0].folder == "base/seed-7");
  CHECK(tiny.runs({"seeds=3"})[2].config.seed == 3);
  CHECK(tiny.runs({"vary={model.core: [rnn, gru]}"})[3].folder == "model.core=gru/seed-3");
}

TEST_CASE("a variant can have a name, for its folder and its label") {
  const TinyStudy tiny(R"(vary:
  - - {name: few, attention.glimpse.num_glimpses: 2, attention.glimpse.first: center}
    - {name: many, attention.glimpse.num_glimpses: 4}
  - [{training.ema: 0.5}, {training.ema: 0.9}]
)");
  const auto runs = tiny.runs({"training.episodes=32"});
  REQUIRE(runs.size() == 4);
  CHECK(runs[1].folder == "few,training.episodes=32,training.ema=0.9/seed-1");
  CHECK(runs[2].config.variant == "many");
  CHECK(runs[2].config.agent.glimpse.num_glimpses == 4);

  const TinyStudy both(R"(vary:
  - [{name: few, attention.glimpse.num_glimpses: 2}, {name: many, attention.glimpse.num_glimpses: 4}]
  - [{name: slow, training.learning_rate: 0.001}, {name: fast, training.learning_rate: 0.01}]
)");
  CHECK(both.runs()[1].folder == "few-fast/seed-1");
  const Study study = read_study(both.yaml, {});
  CHECK(variant_labels(configs_of(study)) ==
        Names{"few-slow", "few-fast", "many-slow", "many-fast"});
}

TEST_CASE("a study can name the keys it is tuned by") {
  const auto keys = [](const std::string& lines, const Overrides& overrides = {}) {
    return read_study(TinyStudy(lines).yaml, overrides).tuned_by;
  };
  const std::string vary = "vary: {model.core: [rnn, gru], training.ema: [0.5, 0.9]}\n";
  CHECK(keys(vary).empty());
  CHECK(keys(vary + "tuned_by: training.ema\n") == Names{"training.ema"});
  CHECK(keys(vary + "tuned_by: [training.ema, model.core]\n") ==
        Names{"training.ema", "model.core"});
  CHECK(keys(vary + "tuned_by: training.ema\n", {"tuned_by=model.core"}) == Names{"model.core"});
  CHECK(keys(vary + "tuned_by: training.ema\n", {"tuned_by=[]"}).empty());
}

TEST_CASE("an invalid study is refused with its location") {
  const auto fault = [](const std::string& lines, const Overrides& overrides = {}) {
    return fault_of(TinyStudy(lines), overrides);
  };
  CHECK(contains(fault("", {"vary={model.core: [rnn], model.core: [gru]}"}),
                 "gru]}': repeated key 'model.core'"));
  const std::pair<std::string, std::string> faults[] = {
      {"vary: {}\n", "an empty study"},
      {"vary:\n", "an empty study"},
      {"vary: {model.core: []}\n", "model.core: allowed: a list"},
      {"vary: {model.core: rnn}\n", "model.core: allowed: a list"},
      {"vary: {seed: [1, 2]}\n", "seeds: [...] varies seeds"},
      {"vary: {model.core: [rnn, rnn]}\n", "share the folder"},
      {"vary: [{}, {}]\n", "two variants would share the folder base/seed-1"},
      {"vary: {model: [rnn]}\n", "'model' is a section"},
      {"vary: {name: [a, b]}\n", "name cannot be varied"},
      {"vary: [{variant: a}]\n", "{name: ..., key.path: value} names a variant"},
      {"vary: [{name: a/b, training.ema: 0.5}]\n",
       "tiny.yaml:12:15: vary: name: 'a/b' cannot name a folder"},
      {"vary: [{name: a, training.ema: 0.5}, {name: a, model.core: gru}]\n",
       "share the folder a/seed-1"},
      // The settings that count differ, beside one that has no effect.
      {"vary: [{name: a, model.core: rnn}, {name: a, model.core: gru, "
       "attention.glimpse.grid: [2, 3]}]\n",
       "share the folder a/seed-1"},
      {"seeds: 2\nseeds: 5\n", "tiny.yaml:13:1: repeated key 'seeds'; line 12 has it already"},
      {"vary: {model.core: [rnn, gru]}\nvary: {training.ema: [0.5, 0.6]}\n",
       "tiny.yaml:13:1: repeated key 'vary'; line 12 has it already"},
      {"vary:\n  model.core: [rnn, gru]\n  model.core: [lstm]\n",
       "tiny.yaml:14:3: repeated key 'model.core'; line 13 has it already"},
      {"vary: [{training.ema: 0.5, training.ema: 0.6}]\n", "repeated key 'training.ema'"},
      {"vary: [{name: a, name: b, training.ema: 0.6}]\n", "repeated key 'name'"},
      {"vary: []\n", "an empty study"},
      {"vary: [rnn]\n", "allowed in its list"},
      {"vary: [{seed: 2}]\n", "seeds: [...] varies seeds"},
      {"vary: [{model.core: rnn}, [{model.core: gru}]]\n",
       "tiny.yaml:12:27: vary: allowed in its list: {key.path: value, ...}, or lists"},
      {"vary: [[{model.core: rnn}], {model.core: gru}]\n",
       "allowed in its list of lists: [{key.path: value, ...}, ...]"},
      {"vary: [[{model.core: rnn}], []]\n", "allowed in its list of lists"},
      {"vary: [[rnn], [gru]]\n", "tiny.yaml:12:9: vary: allowed in its list"},
      {"vary: [[{model.core: rnn}], [{training.ema: 0.5, model.core: gru}]]\n",
       "tiny.yaml:12:62: vary: model.core stands in two lists that are combined"},
      {"vary: {training.learning_rate: [0.1, 0.2]}\nseeds: 5001\n", "seeds: more than 10000 runs"},
      {"tuned_by: training.ema\n",
       "tiny.yaml:12:11: tuned_by: 'training.ema' is not varied; allowed: a key that "
       "every variant of vary has, or a list of them"},
      {"vary: [{training.ema: 0.5}, {model.core: gru}]\ntuned_by: training.ema\n",
       "'training.ema' is not varied"},
      {"seeds: 0\n", "seeds: '0'"},
      {"seeds: [1, 1]\n", "seeds: '[1, 1]'"},
      {"seeds: [1, 01]\n", "seeds: '[1, 01]'"},
      {"seeds: [-1]\n", "seed: '-1' is out of range"},
      {"seed: 4\nseeds: 2\n", "seed has no effect with seeds"},
      {"vary: {seeds: [1, 2]}\n", "tiny.yaml:12:16: seeds is a key of studies, not of one run"},
      {"vary: {model.coer: [rnn]}\n", "did you mean 'model.core'"},
      {"vary: [{attention.glimpse.knid: random}]\n", "did you mean 'attention.glimpse.kind'"}};
  for (const auto& [lines, message] : faults) {
    CAPTURE(lines);
    CHECK(contains(fault(lines), message));
  }
  const auto list = [](const std::string& key) {
    std::string all;
    for (int i = 1; i <= 101; ++i) all += fmt::format("{{{}: 0.{}}}, ", key, i);
    return "[" + all + "]";
  };
  const std::string many =
      fmt::format("vary: [{}, {}]\n", list("training.ema"), list("training.learning_rate"));
  CHECK(contains(fault(many), "vary: more than 10000 variants"));
  CHECK(contains(fault("vary: {training.ema: [0.5, 0.9]}\n", {"tuned_by=[training.ema, seed]"}),
                 "override 'tuned_by=[training.ema, seed]': tuned_by: 'seed' is not varied"));
  CHECK(contains(fault("seeds: 2\n", {"seed=4"}), "seeds=[...] replaces"));
  CHECK(contains(fault(kTwoByTwo, {"model.core=lstm"}), "model.core is varied at"));

  // Errors of a variant are reported at their location in the file.
  const std::string typo = fault("vary:\n  model.core: [rnn, grru]\n");
  CHECK(contains(typo, "tiny.yaml:13:21: model.core: 'grru' is unknown"));
  CHECK(contains(fault("vary: [{attention.glimpse.knid: random}]\n"),
                 "did you mean 'attention.glimpse.kind'"));
}

TEST_CASE("a study can have settings between its file and its variants") {
  const std::string text = "name: tiny\nseed: 3\nmodel: {core: rnn, hidden_size: 8}\n";
  const Study study = parse_study(text + "vary: {model.core: [rnn, gru]}\n", "x.yaml",
                                  {{"model.core", "lstm", "there"},
                                   {"model.hidden_size", "16", "there"},
                                   {"training.ema", "0.5", "there"}},
                                  {"training.ema=0.25"});
  REQUIRE(study.runs.size() == 2);
  const Config& config = study.runs[1].config;
  CHECK(config.agent.model.core == "gru");
  CHECK(config.agent.model.hidden_size == 16);
  CHECK(config.agent.training.optimizer.ema == 0.25);
  CHECK(study.runs[1].folder == "model.core=gru,training.ema=0.25/seed-3");

  CHECK(message_of<InputError>([] {
          parse_study("seeds: 2\n", "x.yaml", {{"seed", "4", "there"}}, {});
        }) == "there: seed has no effect with seeds; allowed: one of the two");
  CHECK(contains(message_of<InputError>([&] {
                   parse_study("seeds: 2\n", "x.yaml", {{"model.cor", "rnn", "there"}}, {});
                 }),
                 "there: unknown key 'model.cor'; did you mean 'model.core'?"));
}

TEST_CASE("only run accepts a study") {
  const TinyStudy tiny("seeds: 2\n");
  CHECK(contains(message_of<InputError>([&] { read_config(tiny.yaml); }),
                 "seeds is a key of studies"));
  const TinyExperiment one;
  CHECK(
      message_of<InputError>([&] { read_config(one.yaml, Names{"seeds=2"}); }) ==
      "override 'seeds=2': seeds is a key of studies, not of one run; `saccade run` runs studies");
}

}  // namespace saccade
