// A run trained by several ranks: its files, refusals, and how it ends.
#include <doctest/doctest.h>

#include <atomic>

#include "agent/learning/checkpoint.h"
#include "experiments/training/run.h"
#include "experiments/training/same_run.h"
#include "tests/experiments/support.h"
#include "tests/thread_ranks.h"

namespace saccade {
namespace {

struct Ends {
  std::vector<int> done;  // 0: stopped, 1: done, -1: an error
  Names errors;
};

// Runs each rank with its own options; rank `stopped` is asked to stop in its next update.
Ends run_on_ranks(const std::vector<RunRequest>& options, int stopped = -1) {
  const int count = static_cast<int>(options.size());
  Ends ends{std::vector<int>(count, -1), Names(count, "no error")};
  on_ranks(count, [&](Ranks& ranks) {
    const int rank = ranks.rank();
    try {
      ends.done[rank] = stopped < 0 ? run(options[rank], std::atomic<bool>(false), ranks).done
                                    : run_one_update(options[rank], ranks, rank == stopped);
    } catch (const std::exception& error) {
      ends.errors[rank] = error.what();
    }
  });
  return ends;
}

Ends run_on_ranks(int count, const RunRequest& options, int stopped = -1) {
  return run_on_ranks(std::vector<RunRequest>(count, options), stopped);
}

}  // namespace

TEST_CASE("several ranks write the same files as one process") {
  const TinyExperiment tiny;
  const fs::path one = tiny.train("one", {"record.every=96"});
  for (const int count : {2, 3, 4}) {
    CAPTURE(count);
    const RunRequest options = tiny.options("many-" + std::to_string(count), {"record.every=96"});
    CHECK(run_on_ranks(count, options).done == std::vector<int>(count, 1));
    auto files = contents(options.out), expected = contents(one);
    for (const char* name : {"metrics.csv", "summary.json", "meta.json", "command.txt"}) {
      CHECK(files.erase(name) == 1);
      expected.erase(name);
    }
    CHECK((files == expected));
    check_same_run(options.out, one);
    CHECK(read_json(options.out / "meta.json").at("ranks") == count);
  }
}

TEST_CASE("a stop request to any rank stops all after the same update, and others continue") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole");
  RunRequest options = tiny.options("stopped");
  for (int n = 0; n < 6; ++n) {
    const int count = 1 + n % 4;
    CHECK(run_on_ranks(count, options, count - 1).done == std::vector<int>(count, 0));
    CHECK(Checkpoint(options.out / kLast).updates() == n + 1);
    options.resume = true;
  }
  CHECK(run_on_ranks(3, options).done == std::vector<int>(3, 1));
  check_same_run(options.out, whole);
}

TEST_CASE("ranks with different settings are refused before anything is written") {
  const TinyExperiment tiny;
  const TinyExperiment other;
  write_digits(other.path / "data", 41);
  const RunRequest options = tiny.options("out");
  const auto fault = [&](const RunRequest& second) {
    const Ends ends = run_on_ranks({options, second, options});
    CHECK(ends.done == std::vector<int>(3, -1));
    CHECK(ends.errors[1] == "");
    CHECK(ends.errors[2] == "");
    CHECK_FALSE(fs::exists(options.out));
    return ends.errors[0];
  };
  const std::string advice =
      "; all ranks are to be started with the same program, file, overrides and data";
  CHECK(fault(tiny.options("out", {"training.learning_rate=0.01"})) ==
        "rank 1 is not as rank 0: training.learning_rate: 0.01 there, 0.02 here" + advice);

  RunRequest missing = options;
  missing.config = tiny.path / "none.yaml";
  CHECK(fault(missing) == fmt::format("rank 1: {}: cannot be read: No such file or directory",
                                      missing.config.string()));
}

TEST_CASE("ranks with different data are refused") {
  Names said(2);
  on_ranks(2, [&](Ranks& ranks) {
    const std::string checksum = ranks.first() ? "0a" : "0b";
    said[ranks.rank()] = message_of<InputError>([&] {
      require_same_run(ranks, Config(), {{"train-images", checksum}});
    });
  });
  CHECK(contains(said[0],
                 R"(rank 1 is not as rank 0: checksums of the data: {"train-images":"0b"} there)"));
}

TEST_CASE("if the first rank cannot start or continue, all ranks end") {
  const TinyExperiment tiny;
  const RunRequest options = tiny.options("out");
  fs::create_directory(options.out);
  put_bytes(options.out / "something", "");
  Ends ends = run_on_ranks(2, options);
  CHECK(contains(ends.errors[0], "exists already"));
  CHECK(ends.errors[1] == "");

  ends = run_on_ranks(2, tiny.options("study", {"seeds=[1, 2]"}));
  CHECK(contains(ends.errors[0], "a study of 2 runs, and 2 ranks train one run together"));
  CHECK_FALSE(fs::exists(tiny.path / "study"));

  ends = run_on_ranks(5, tiny.options("many"));
  CHECK(contains(ends.errors[0], "5 ranks; allowed: 1 to 4"));
  CHECK_FALSE(fs::exists(tiny.path / "many"));
}

TEST_CASE("a non-finite loss ends all ranks alike") {
  const TinyExperiment tiny;
  const Ends ends =
      run_on_ranks(2, tiny.options("out", {"model.core=rnn", "reinforce.advantage=learned",
                                           "reinforce.baseline_weight=100",
                                           "training.optimizer=sgd", "training.learning_rate=10",
                                           "training.warmup=0", "training.max_grad_norm=0"}));
  CHECK(contains(ends.errors[0], "the last good checkpoint is"));
  CHECK(ends.errors[1] == "");
}

}  // namespace saccade
