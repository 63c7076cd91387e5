#pragma once

#include <cstdlib>
#include <optional>

#include "tests/experiments/program.h"

namespace saccade {

/// Returns a node on the PATH, if there is one.
inline std::optional<fs::path> find_node() {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':'))
    if (access((fs::path(folder) / "node").c_str(), X_OK) == 0) return fs::path(folder) / "node";
  return std::nullopt;
}

/// Without node: reports that the test is skipped, and returns true.
inline bool skipped_without_node(const std::string& test) {
  if (find_node()) return false;
  MESSAGE("skipped: '" << test << "' needs node");
  return true;
}

/// Runs a script of this folder, which ends with 0 if it finds what it expects, in `folder`.
inline void run_node(const fs::path& folder, const std::string& script,
                     const CommandWords& arguments) {
  CommandWords words = {find_node()->string(),
                        (source_folder() / "tests/experiments" / script).string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Program::Result result = Program(folder, words).finish();
  INFO("a module of pages that is older than the sources fails here; make web builds it anew");
  MESSAGE(result.out);
  CHECK_MESSAGE(result.err == "", result.err);
  CHECK(result.code == 0);
}

}  // namespace saccade
