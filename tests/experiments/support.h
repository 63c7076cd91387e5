#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "env/digits.h"
#include "experiments/training/run.h"
#include "experiments/training/train.h"
#include "tests/check_contains.h"
#include "tests/support.h"

namespace saccade {

// ---- Files ----

inline nlohmann::json read_json(const fs::path& path) {
  return nlohmann::json::parse(bytes_of(path));
}

inline Names split(const std::string& line, char separator) {
  Names words;
  std::istringstream stream(line + separator);
  for (std::string word; std::getline(stream, word, separator);) words.push_back(word);
  return words;
}

/// A table with a header, all cells as text.
struct Csv {
  explicit Csv(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    columns = split(line, ',');
    while (std::getline(file, line)) {
      const Names cells = split(line, ',');
      REQUIRE(cells.size() == columns.size());
      for (std::size_t i = 0; i < cells.size(); ++i) column[columns[i]].push_back(cells[i]);
    }
  }

  Names columns;                        // column names, in order
  std::map<std::string, Names> column;  // column name -> its cells
};

// In a run folder.
inline const std::string kLast = "checkpoints/last.safetensors";
inline const std::string kPrevious = "checkpoints/previous.safetensors";
inline const std::string kBest = "checkpoints/best.safetensors";

// ---- A task that runs in milliseconds ----

/// Writes four IDX files: 60 training and 20 test digits of 6x6 pixels in three classes
/// (horizontal, vertical and slanted bars). `first_pixel` is the first pixel of the first training
/// digit.
inline void write_digits(const fs::path& folder, char first_pixel = 40) {
  constexpr int kSide = 6, kClasses = 3;
  fs::create_directories(folder);
  for (const int split : {0, 1}) {
    const char count = split == 0 ? 60 : 20;
    std::string images("\0\0\x08\x03\0\0\0\0\0\0\0\x06\0\0\0\x06", 16);
    std::string labels("\0\0\x08\x01\0\0\0\0", 8);
    images[7] = labels[7] = count;
    for (int n = 0; n < count; ++n) {
      const int label = n % kClasses;
      labels += static_cast<char>(label);
      for (int y = 0; y < kSide; ++y)
        for (int x = 0; x < kSide; ++x) {
          const int place = (label == 0 ? y : label == 1 ? x : x + y) + n / kClasses;
          images += static_cast<char>(place % 3 == 0 ? 120 : 7 * ((n + x * y) % 8));
        }
    }
    if (split == 0) images[16] = first_pixel;
    put_bytes(folder / kIdxFiles[2 * split], images);
    put_bytes(folder / kIdxFiles[2 * split + 1], labels);
  }
}

/// The rows of metrics.csv and the evaluations that tiny_yaml() requests; an update has 16
/// episodes.
inline const Names kTinyRows = {"48", "64", "80", "128", "160", "192"};
inline const Names kTinyEvaluations = {"64", "128", "192"};

/// An experiment of 12 updates on the digits in `data`. 40 is not a multiple of the batch, 150 not
/// of an evaluation's chunk.
inline std::string tiny_yaml(const fs::path& data) {
  return fmt::format(R"(name: tiny
data: {{source: idx, path: {}}}
scene: {{canvas: [13, 15], num_distractors: 1, distractor_size: 3}}
retina: {{patch_size: 4, scales: 2}}
model: {{core: lstm, hidden_size: 6, glimpse_hidden: 7, location_hidden: 4, feature_size: 8,
        locator_hidden: 5}}
attention: {{glimpse: {{num_glimpses: 3, std: {{from: 0.4, to: 0.1}}}}}}
reinforce: {{advantage: ema}}
training: {{episodes: 192, batch_size: 16, lane_size: 4, learning_rate: 0.02}}
evaluation: {{every: 64, scenes: 150, rollouts: 2}}
log: {{every: 40}}
)",
                     data.string());
}

/// Overrides that fit it: soft attention on a grid, and tasks other than naming a digit.
inline const Overrides kSoftGrid = {"attention.glimpse.kind=soft_grid",
                                    "attention.glimpse.grid=[2, 3]", "attention.glimpse.stride=4"};
inline const Overrides kCatchTask = {"scene.kind=catch", "scene.num_distractors=0",
                                     "attention.glimpse.num_glimpses=12"};
inline const Overrides kWordTask = {"scene.kind=digits_to_words", "scene.num_distractors=0",
                                    "scene.max_number=99", "attention.glimpse.kind=whole",
                                    "attention.hidden.kind=attend"};
inline const Overrides kSequenceTask = {"scene.kind=transcribe", "scene.canvas=[13, 40]",
                                        "scene.num_digits=2", "attention.hidden.kind=attend",
                                        "decoder.hidden_size=5"};

/// A folder with digits in data/ and tiny_yaml() as tiny.yaml.
struct TinyExperiment : TemporaryFolder {
  TinyExperiment() {
    write_digits(path / "data");
    put_bytes(yaml, tiny_yaml(path / "data"));
  }

  fs::path yaml = path / "tiny.yaml";

  RunRequest options(const std::string& out, const Overrides& overrides = {}) const {
    return {.config = yaml,
            .overrides = overrides,
            .out = path / out,
            .threads = 1,
            .quiet = true,
            .command = "saccade run tiny.yaml --out " + out};
  }

  /// Trains into the folder `out` and returns that folder.
  fs::path train(const std::string& out, const Overrides& overrides = {}) const {
    CHECK(run(options(out, overrides), false));
    return path / out;
  }
};

/// The experiment after a training into the folder out/.
struct TrainedTiny : TinyExperiment {
  explicit TrainedTiny(const Overrides& overrides = {}) : run(train("out", overrides)) {}

  fs::path run;
};

/// Requests a stop, as Ctrl-C does, during the next update.
struct StopsInUpdate : Progress {
  void update(std::int64_t, double, double) override { stop = true; }
  std::atomic<bool> stop = false;
};

/// Trains one update, leaving its evaluation for the next run; returns whether the training is
/// complete. Shows nothing on the screen.
inline bool run_one_update(const RunRequest& options, Ranks& ranks = alone(), bool stop = true) {
  StopsInUpdate asks;
  Progress goes_on;
  Progress& progress = stop ? asks : goes_on;
  return train(read_config(options.config, options.overrides), RunFolder(options.out),
               {.resume = options.resume, .threads = options.threads, .command = options.command},
               progress, asks.stop, ranks);
}

/// All values of a JSON document except those named time/...
inline nlohmann::json without_times(nlohmann::json document) {
  std::erase_if(document.get_ref<nlohmann::json::object_t&>(),
                [](const auto& member) { return member.first.starts_with("time/"); });
  return document;
}

/// All columns of metrics.csv except time/...
inline std::map<std::string, Names> without_times(const Csv& csv) {
  auto columns = csv.column;
  std::erase_if(columns, [](const auto& column) { return column.first.starts_with("time/"); });
  return columns;
}

/// Checks that two run folders have the same bytes, except for times.
inline void check_same_run(const fs::path& one, const fs::path& other) {
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
