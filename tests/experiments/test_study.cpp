#include "experiments/runs/study.h"

#include <doctest/doctest.h>

#include <regex>

#include "experiments/config/variants.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/metrics_file.h"
#include "experiments/runs/run_folder.h"
#include "experiments/training/run_study.h"
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

TEST_CASE("a listener receives the rows of each run, and can stop the study") {
  class Listener : public StudyProgress {
   public:
    explicit Listener(std::atomic<bool>& stop) : stop_(stop) {}
    std::unique_ptr<Progress> begin_run(int run, const std::string&,
                                        const RunFolder& folder) override {
      CHECK(run == static_cast<int>(folders.size()));
      folders.push_back(folder.path());
      rows.emplace_back();
      return std::make_unique<OfRun>(*this);
    }
    std::vector<fs::path> folders;
    std::vector<std::vector<MetricsRow>> rows;

   private:
    struct OfRun : Progress {
      explicit OfRun(Listener& listener_) : listener(listener_) {}
      void row(const MetricsRow& row, TrainingHandle&) override {
        auto& rows_so_far = listener.rows.back();
        rows_so_far.push_back(row);
        CHECK(read_metrics(RunFolder(listener.folders.back()).metrics()).size() ==
              rows_so_far.size());
        listener.stop_ = listener.folders.size() == 2;
      }
      Listener& listener;
    };
    std::atomic<bool>& stop_;
  };

  const TinyStudy tiny("seeds: 3\n");
  const Study study = read_study(tiny.yaml, {});
  const RunRequest options = tiny.options("study");
  std::atomic<bool> stop{false};
  Listener listener(stop);
  CHECK_FALSE(run_study(
      study, {.folder = options.out, .threads = options.threads, .command = options.command},
      listener, stop));
  CHECK(listener.folders == std::vector{options.out / "base/seed-1", options.out / "base/seed-2"});
  CHECK(listener.rows[1].size() == 1);
  const std::vector<MetricsRow> written = read_metrics(RunFolder(listener.folders[0]).metrics());
  REQUIRE(listener.rows[0].size() == written.size());
  REQUIRE(written.size() > 1);
  for (std::size_t i = 0; i < written.size(); ++i)
    for (const auto& [metric, value] : listener.rows[0][i])
      CHECK(written[i].at(metric) == doctest::Approx(value));
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

TEST_CASE("a study trains every run, reports failures, skips finished runs and compares") {
  const TinyStudy tiny("vary: {model.core: [rnn, gru]}\nseeds: 2\n");
  const auto folder = tiny.path / "study";
  // An impossible run: its folder exists with other contents.
  fs::create_directories(folder / "model.core=rnn/seed-2");
  put_bytes(folder / "model.core=rnn/seed-2/mine", "mine");
  const std::string failure =
      message_of<std::runtime_error>([&] { run(tiny.options("study"), false); });
  CHECK(contains(failure, "1 of 4 runs failed"));
  CHECK(bytes_of(folder / "model.core=rnn/seed-2/mine") == "mine");
  for (const char* done :
       {"model.core=rnn/seed-1", "model.core=gru/seed-1", "model.core=gru/seed-2"})
    CHECK(is_finished(RunFolder(folder / done)));
  CHECK(fs::exists(folder / "comparison/report.html"));

  // Started again, it does only what is left.
  fs::remove_all(folder / "model.core=rnn/seed-2");
  const auto before = contents(folder / "model.core=gru");
  CHECK(run(tiny.options("study"), false));
  CHECK(contents(folder / "model.core=gru") == before);
  CHECK(is_finished(RunFolder(folder / "model.core=rnn/seed-2")));
  CHECK(contains(bytes_of(folder / "comparison/compare.csv"), "\nrnn,2,"));

  // A run of a study equals the run trained alone.
  put_bytes(tiny.yaml, tiny_yaml(tiny.path / "data"));
  const auto alone = tiny.train("alone", {"model.core=gru", "seed=2"});
  CHECK(bytes_of(folder / "model.core=gru/seed-2" / kLast) == bytes_of(alone / kLast));
}

TEST_CASE("a stopped study continues where it was") {
  const TinyStudy tiny("seeds: 2\n");
  CHECK(!run(tiny.options("study"), true));  // after one update of the first run
  const auto folder = tiny.path / "study";
  CHECK(!is_finished(RunFolder(folder / "base/seed-1")));
  CHECK(!fs::exists(folder / "base/seed-2"));
  CHECK(contains(to_text(plan(tiny.options("study"))), "to be resumed at 0 episodes"));
  CHECK(run(tiny.options("study"), false));
  check_contains(to_text(plan(tiny.options("study"))), {"base/seed-2", "finished"});
  CHECK(run(tiny.options("whole"), false));
  CHECK(bytes_of(folder / "base/seed-1" / kLast) ==
        bytes_of(tiny.path / "whole/base/seed-1" / kLast));
}

TEST_CASE("a finished run of another configuration is neither used nor touched") {
  const TinyStudy tiny("seeds: 1\n");
  CHECK(run(tiny.options("study"), false));
  const auto before = contents(tiny.path / "study/base");
  std::string text = bytes_of(tiny.yaml);
  text.replace(text.find("0.02"), 4, "0.03");
  put_bytes(tiny.yaml, text);
  CHECK(contains(message_of<std::runtime_error>([&] { run(tiny.options("study"), false); }),
                 "1 of 1 runs failed"));
  const std::string planned = to_text(plan(tiny.options("study", {"seeds=2"})));
  check_contains(planned, {"  base/seed-1  fails: ", "training.learning_rate: 0.02 there, 0.03 now",
                           "  base/seed-2  about "});
  CHECK(contents(tiny.path / "study/base") == before);
}

TEST_CASE("a tuned study ends with the comparison of the chosen runs") {
  const TinyStudy tiny(
      "vary: {model.core: [rnn, gru], training.ema: [0.5, 0.9]}\n"
      "tuned_by: training.ema\n");
  CHECK(run(tiny.options("study"), false));
  const std::string table = bytes_of(tiny.path / "study/comparison/compare.md");
  check_contains(table, {"training.ema", "| gru |"});
  CHECK(!contains(table, "gru, training.ema"));  // of four runs two represent their variants
}

TEST_CASE("the runs of a study on other scenes are compared by themselves") {
  const TinyStudy tiny("vary: {model.core: [rnn, gru], scene.num_distractors: [1, 0]}\n");
  CHECK(run(tiny.options("study"), false));
  for (const char* comparison : {"comparison", "comparison-2"}) {
    const std::string table = bytes_of(tiny.path / "study" / comparison / "compare.csv");
    check_contains(table, {"\nrnn", "\ngru"});
  }
  CHECK_FALSE(fs::exists(tiny.path / "study/comparison-3"));
}

TEST_CASE("the runs of a study with other tests are compared by themselves") {
  for (const char* vary :
       {"evaluation.seed: [777, 778]", "evaluation.draws: [1, 2]", "evaluation.scenes: [20, 24]"}) {
    CAPTURE(vary);
    const TinyStudy tiny(fmt::format("vary: {{model.core: [rnn, gru], {}}}\n", vary));
    CHECK(run(tiny.options("study"), false));
    for (const char* comparison : {"comparison", "comparison-2"})
      check_contains(bytes_of(tiny.path / "study" / comparison / "compare.csv"),
                     {"\nrnn", "\ngru"});
  }
}

TEST_CASE("a comparison counts the test scenes with their draws, and its command once") {
  const TinyStudy tiny("vary: {model.core: [rnn, gru]}\n");
  RunRequest request = tiny.options("study");
  request.overrides = {"evaluation.scenes=20", "evaluation.draws=3"};
  request.command = "saccade run tiny.yaml";
  CHECK(run(request, false));
  const std::string page = bytes_of(tiny.path / "study/comparison/compare.md");
  CHECK(contains(page, "same 60 scenes"));
  CHECK(page.find(request.command) == page.rfind(request.command));
}

TEST_CASE("--dry-run lists the runs and writes nothing") {
  const TinyStudy tiny("vary: {model.core: [rnn, gru]}\nseeds: 2\n");
  const std::string text = to_text(plan(tiny.options("study")));
  CHECK(std::regex_search(text, std::regex("^tiny: 4 runs, about [0-9:]+ in all, into .*study\n")));
  CHECK(contains(text, "\n  model.core=gru/seed-2  about "));
  CHECK(!fs::exists(tiny.path / "study"));
  put_bytes(tiny.yaml, tiny_yaml(tiny.path / "data"));
  CHECK(contains(to_text(plan(tiny.options("alone"))), "tiny: 1 run, about "));

  // As run would: refused without --resume.
  tiny.train("alone");
  RunRequest again = tiny.options("alone");
  CHECK(contains(message_of<InputError>([&] { plan(again); }), "alone: exists already"));
  again.resume = true;
  CHECK(contains(to_text(plan(again)), "finished"));
}

TEST_CASE("--dry-run says which runs would fail") {
  const TinyStudy tiny("vary: {training.freeze: [[core], [nonsense]]}\nseeds: 2\n");
  const std::string frozen = to_text(plan(tiny.options("frozen")));
  INFO(frozen);
  CHECK(contains(frozen, "\n  training.freeze=core/seed-2      about "));
  for (const char* seed : {"1", "2"})
    CHECK(contains(frozen, fmt::format("\n  training.freeze=nonsense/seed-{}  fails: ", seed)));

  put_bytes(tiny.yaml, tiny_yaml(tiny.path / "data") + "vary: {init_from: [null, nosuch]}\n");
  const std::string missing = to_text(plan(tiny.options("missing")));
  INFO(missing);
  CHECK(contains(missing, "fails: init_from: nosuch: no run folder with a checkpoint"));
  put_bytes(tiny.yaml, tiny_yaml(tiny.path / "data") + "init_from: nosuch\n");
  CHECK(
      contains(message_of<InputError>([&] { plan(tiny.options("alone")); }), "init_from: nosuch"));
}

TEST_CASE("a study is not written into the folder of a run, nor over a file of the user's") {
  const TinyStudy tiny("");
  tiny.train("of_run");
  put_bytes(tiny.yaml, tiny_yaml(tiny.path / "data") + "seeds: 1\n");
  const std::atomic<bool> stop = false;
  const auto fault = [&](const std::string& out) {
    return message_of<InputError>([&] { run(tiny.options(out), stop); });
  };
  CHECK(contains(fault("of_run"), "of_run: is the folder of a run; --out DIR chooses another"));
  fs::create_directory(tiny.path / "mine");
  put_bytes(tiny.path / "mine/study.txt", "precious\n");
  CHECK(contains(fault("mine"), "study.txt: 'precious' is not the folder of a run"));
  CHECK(bytes_of(tiny.path / "mine/study.txt") == "precious\n");
}

TEST_CASE("a variant is not called as what a study's folder has") {
  for (const std::string name : {"study.txt", "slurm.sh", "comparison", "comparison-2"}) {
    CAPTURE(name);
    const TinyStudy tiny("vary: [{name: " + name + ", training.ema: 0.5}]\n");
    CHECK(contains(message_of<InputError>([&] { tiny.study(); }),
                   "variant: " + name + ": a study has a file or folder of this name"));
  }
  CHECK_NOTHROW(TinyStudy("vary: [{name: comparisons, training.ema: 0.5}]\n").study());
}

}  // namespace saccade
