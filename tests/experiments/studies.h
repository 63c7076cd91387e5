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

  Study study(const Overrides& overrides = {}) const {
    const Study study = read_study(yaml, overrides);
    CHECK_FALSE(study.single);
    CHECK(study.name == "tiny");
    return study;
  }
  std::vector<StudyRun> runs(const Overrides& overrides = {}) const {
    return study(overrides).runs;
  }
};

}  // namespace saccade
