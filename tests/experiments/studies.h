#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "experiments/runs/study.h"
#include "tests/experiments/support.h"

namespace saccade {

/// The tiny experiment plus lines that make it a study.
struct TinyStudy : TinyExperiment {
  explicit TinyStudy(const std::string& lines) {
    put_bytes(yaml, tiny_yaml(path / "data") + lines);
  }

  Study study(const std::vector<std::string>& overrides = {}) const {
    const Study study = read_study(yaml, overrides);
    CHECK_FALSE(study.single);
    CHECK(study.name == "tiny");
    return study;
  }
  std::vector<StudyRun> runs(const std::vector<std::string>& overrides = {}) const {
    return study(overrides).runs;
  }
};

/// Checks that two run folders have the same bytes, except for times.
inline void check_same_run(const std::filesystem::path& one, const std::filesystem::path& other) {
  CAPTURE(one);
  CAPTURE(other);
  CHECK((bytes_of(one / kLast) == bytes_of(other / kLast)));
  CHECK((bytes_of(one / kBest) == bytes_of(other / kBest)));
  CHECK(without_times(Csv(one / "metrics.csv")) == without_times(Csv(other / "metrics.csv")));
  CHECK(without_times(read_json(one / "summary.json")) ==
        without_times(read_json(other / "summary.json")));
  CHECK(bytes_of(one / "test.json") == bytes_of(other / "test.json"));
  CHECK(bytes_of(one / "config.yaml") == bytes_of(other / "config.yaml"));
}

}  // namespace saccade
