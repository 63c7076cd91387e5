// Every setting of the table, changed to another value, affects the result of training or test. A
// setting that has no effect fails, and so does one without an entry here.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <optional>
#include <set>

#include "env/task_kinds.h"
#include "experiments/config/settings.h"
#include "experiments/runs/run_folder.h"
#include "nn/safetensors.h"
#include "tests/env/own_worlds.h"
#include "tests/experiments/setting_moves.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

// Result of a run.
struct Outcome {
  std::map<std::string, std::vector<float>> weights;
  nlohmann::json test;
  std::map<std::string, Names> rows;
  std::map<std::string, std::string> videos;
  std::set<std::string> files;
  fs::path folder;  // its default location
};

class ShortRuns {
 public:
  ShortRuns() { write_images(tiny_.path / "data"); }

  const Outcome& of(const Overrides& overrides) {
    std::string words;
    for (const std::string& word : overrides) words += word + " ";
    const auto found = known_.find(words);
    return found != known_.end() ? found->second : known_[words] = train(overrides);
  }
  fs::path folder_of(const Overrides& overrides) {
    of(overrides);
    return tiny_.path / fmt::format("run{}", known_.size() - 1);
  }
  Config config(const Overrides& overrides) const {
    return read_config(tiny_.yaml, quick(overrides));
  }

 private:
  static Overrides quick(const Overrides& more) {
    return with({"training.episodes=64", "evaluation.every=32", "evaluation.scenes=60",
                 "log.every=32", "reinforce.ema_decay=0.9"},
                more);
  }

  // Trains into the folder `out`, and gives the scenes of a task that needs a program.
  fs::path run(const std::string& out, const Overrides& overrides) const {
    const Config read = config(overrides);
    const TaskKind& kind = find_task_kind(read.scene.kind);
    if (!kind.is_own) return tiny_.train(out, quick(overrides));
    ShadedScenes scenes(read.scene);
    const OwnScenes own{scenes, scenes, scenes};
    const OwnWorldMaker world = wave_worlds(static_cast<int>(read.scene.classes.size()));
    TrainingRequest request{.threads = 1, .command = "x"};
    if (kind.gives_glimpses)
      request.own.world = &world;
    else
      request.own.scenes = &own;
    Progress unseen;
    CHECK(saccade::train(read, RunFolder(tiny_.path / out), request, unseen,
                         std::atomic<bool>(false)));
    return tiny_.path / out;
  }

  Outcome train(const Overrides& overrides) const {
    const fs::path folder = run(fmt::format("run{}", known_.size()), overrides);
    Outcome outcome;
    for (const NamedTensor& tensor : read_safetensors(folder / kLast).tensors)
      outcome.weights[tensor.name] = {tensor.data.begin(), tensor.data.end()};
    outcome.test = without_times(read_json(folder / "summary.json"));
    outcome.rows = without_times(Csv(folder / "metrics.csv"));
    for (const auto& [path, bytes] : contents(folder)) {
      outcome.files.insert(path);
      if (path.ends_with(".gif") || path.ends_with(".png") || path.ends_with(".avi"))
        outcome.videos[path] = bytes;
    }
    const Config read = config(overrides);
    outcome.folder = fs::path("runs") / read.name / run_folder_below(read, overrides);
    return outcome;
  }

  TinyExperiment tiny_;
  std::map<std::string, Outcome> known_;
};

void check_move(const Move& move, const Outcome& before, const Outcome& after) {
  if (move.shows == Shows::weights) {
    CHECK(after.weights != before.weights);
    return;
  }
  CHECK(after.weights == before.weights);
  if (move.shows == Shows::test) CHECK(after.test != before.test);
  if (move.shows == Shows::rows) CHECK(after.rows != before.rows);
  if (move.shows == Shows::videos) CHECK(after.videos != before.videos);
  if (move.shows == Shows::files) CHECK(after.files != before.files);
  if (move.shows == Shows::folder) CHECK(after.folder != before.folder);
}

bool is_left_out(const Config& config, const std::string& key) {
  return std::ranges::find(config.unused, key, &UnusedSetting::key) != config.unused.end();
}

}  // namespace

TEST_CASE("an ignored setting changes nothing, and a setting with an effect is not ignored") {
  ShortRuns runs;
  int left_out = 0;
  for (const Move& move : moves()) {
    CAPTURE(move.key);
    const std::string moved = move.key + "=" + move.value;
    Overrides overrides = move.with;
    overrides.push_back(moved);
    CHECK_FALSE(is_left_out(runs.config(overrides), move.key));

    std::optional<Config> alone;
    try {
      alone = runs.config({moved});
    } catch (const InputError&) {
      continue;  // it is refused
    }
    if (!is_left_out(*alone, move.key)) continue;
    ++left_out;
    CHECK(differences(*alone, runs.config({})).empty());
  }
  CHECK(left_out > 20);
}

TEST_CASE("every setting has an effect") {
  const TemporaryFolder cache;  // for data.source=folder, instead of the user's
  const TemporaryVariable cache_variable("XDG_CACHE_HOME", cache.path.c_str());
  ShortRuns runs;
  std::vector<Move> all = moves();
  all.push_back({"init_from", runs.folder_of({"seed=5"}).string()});
  // The same digits except for the first.
  const TemporaryFolder other;
  write_digits(other.path / "data", 90);
  all.push_back({"data.path", (other.path / "data").string()});

  Names moved;
  for (const Move& move : all) {
    CAPTURE(move.key);
    moved.push_back(move.key);
    Overrides overrides = move.with;
    overrides.push_back(move.key + "=" + move.value);
    CHECK_NOTHROW(CHECK(to_yaml(runs.config(overrides)) != to_yaml(runs.config(move.with))));
    CHECK_NOTHROW(check_move(move, runs.of(move.with), runs.of(overrides)));
  }
  for (const Setting& setting : settings()) {
    CAPTURE(setting.key);
    CHECK(std::ranges::count(moved, setting.key) == 1);
  }
}

TEST_CASE("every setting is described by a sentence that begins with a noun, and by settings") {
  for (const Setting& setting : settings()) {
    CAPTURE(setting.key);
    CHECK(std::isupper(static_cast<unsigned char>(setting.about[0])) != 0);
    CHECK(setting.about.size() > 10);
    CHECK_FALSE(setting.about.ends_with('.'));
    CHECK(needs_of(setting).size() == setting.needs.all.size());  // throws if it needs no setting
  }
}

}  // namespace saccade
