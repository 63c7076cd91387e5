#include "experiments/training/run_study.h"

#include <doctest/doctest.h>

#include <regex>

#include "experiments/runs/finished_run.h"
#include "experiments/runs/metrics_file.h"
#include "experiments/runs/run_folder.h"
#include "tests/experiments/studies.h"

namespace saccade {

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
