// Runs that are continued to more episodes than they were to have.
#include <doctest/doctest.h>

#include <algorithm>

#include "agent/learning/checkpoint.h"
#include "tests/experiments/resuming.h"

namespace saccade {

TEST_CASE("a finished run can be extended to more episodes, and its test is kept") {
  const TinyExperiment tiny;
  const fs::path out = tiny.train("out");
  const std::string summary = bytes_of(out / "summary.json"), test = bytes_of(out / "test.json");
  const Csv rows(out / "metrics.csv");
  CHECK(contains(resume_fault(tiny.options("out", {"training.episodes=384"})), "exists already"));

  const RunRequest longer = resumed(tiny.options("out", {"training.episodes=384"}));
  StopsAt stops(256);
  CHECK_FALSE(run_until(longer, stops, stops.stop));
  CHECK(contains(stops.notes, "continues from 192 episodes to 384 instead of 192: "));
  CHECK(bytes_of(out / "summary.before.json") == summary);
  CHECK(bytes_of(out / "test.before.json") == test);
  CHECK_FALSE(fs::exists(out / "summary.json"));
  CHECK(read_config(out / "config.yaml").agent.training.episodes == 384);
  CHECK(run(longer, false));
  CHECK(read_json(out / "summary.json")["status"] == "finished");
  CHECK(Checkpoint(out / kLast).updates() == 24);
  // The earlier rows are unchanged.
  const Csv all(out / "metrics.csv");
  for (const auto& [name, cells] : rows.column)
    CHECK(std::vector(all.column.at(name).begin(),
                      all.column.at(name).begin() + static_cast<int>(cells.size())) == cells);
  CHECK(all.column.at("episodes").back() == "384");
  // Nothing is left to do now, and a shorter run is refused.
  CHECK(run(longer, false));
  CHECK_FALSE(fs::exists(out / "summary.before-2.json"));
  CHECK(contains(resume_fault(resumed(tiny.options("out"))),
                 "another configuration: training.episodes: 384 there, 192 now"));
}

TEST_CASE("a stopped run can be extended to more episodes, as if configured so") {
  const TinyExperiment tiny;
  const RunRequest options = tiny.options("out");
  StopsAt stops(112);
  CHECK_FALSE(run_until(options, stops, stops.stop));
  const RunRequest longer = resumed(tiny.options("out", {"training.episodes=384"}));
  // If killed before its first checkpoint, it starts again from that of the shorter run.
  const std::string shorter = bytes_of(options.out / kLast);
  StopsAt next(160);
  CHECK_FALSE(run_until(longer, next, next.stop));
  put_bytes(options.out / kLast, shorter);
  CHECK(run(longer, false));
  CHECK(Checkpoint(options.out / kLast).updates() == 24);
}

TEST_CASE("a run that was killed while it was extended does not end as the shorter one") {
  const TinyExperiment tiny;
  const fs::path out = tiny.train("out");
  const auto shorter = contents(out);
  const RunRequest longer = resumed(tiny.options("out", {"training.episodes=384"}));
  struct : StopsAt {
    using StopsAt::StopsAt;
    void note(const std::string&) override {
      if (saved.empty()) saved = Checkpoint(last).config_yaml();
    }
    fs::path last;
    std::string saved;  // before the first update
  } begins{208};
  begins.last = out / kLast;
  CHECK_FALSE(run_until(longer, begins, begins.stop));
  CHECK(parse_config(begins.saved, "last").agent.training.episodes == 384);
  const std::string config = bytes_of(out / "config.yaml");

  // Killed before config.yaml was written: the shorter run is refused, the longer one continues.
  put_bytes(out / "config.yaml", shorter.at("config.yaml"));
  CHECK(contains(resume_fault(resumed(tiny.options("out"))),
                 "was saved with another configuration: training.episodes: 384 there, 192 now"));
  StopsAt next(224);
  CHECK_FALSE(run_until(longer, next, next.stop));
  CHECK(bytes_of(out / "config.yaml") == config);
  CHECK(run(longer, false));
  CHECK(read_json(out / "summary.json")["episodes"] == 384);
}

}  // namespace saccade
