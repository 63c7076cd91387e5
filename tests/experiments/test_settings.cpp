// Every setting of the table, moved to another value, changes what training or the test comes to. A
// setting that nothing reads fails, and so does one that has no line here.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <optional>
#include <set>

#include "experiments/config/config_table.h"
#include "experiments/config/unused_settings.h"
#include "experiments/runs/run_folder.h"
#include "nn/safetensors.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
using Overrides = std::vector<std::string>;

// What a moved setting must change. All but `weights` leave every weight as it was.
enum class Shows {
  weights,  // of the last checkpoint: the network, its first values, or a step of training
  test,     // what the test says: it is about the evaluation alone
  rows,     // the rows of metrics.csv: it is about when something is measured
  films,    // the pictures in the run folder: it is about what is drawn
  files,    // which files the run folder has: it is about what is written
  folder,   // where a run is kept
};

struct Move {
  std::string key, value;
  Overrides with = {};  // what gives the setting something to say, in both runs
  Shows shows = Shows::weights;
};

const Overrides kSoft = {"attention.glimpse.kind=soft_grid", "attention.glimpse.grid=[2, 3]",
                         "attention.glimpse.stride=4"};
const Overrides kContent = {"attention.glimpse.kind=soft_grid", "attention.glimpse.grid=[2, 3]",
                            "attention.glimpse.stride=4", "attention.glimpse.addressing=content"};
const Overrides kConv = {"model.glimpse_network=conv", "model.glimpse_kernel=3"};
const Overrides kContext = {"model.context=thumbnail", "model.context_size=12"};
const Overrides kWhole = {"attention.glimpse.kind=whole"};
const Overrides kGate = {"attention.input.kind=gate"};
const Overrides kAttend = {"attention.hidden.kind=attend"};
const Overrides kLocal = {"attention.hidden.kind=attend", "attention.hidden.area=local"};
const Overrides kSelf = {"attention.hidden.kind=self", "attention.hidden.penalty=0.1"};
const Overrides kWide = {"scene.canvas=[13, 40]", "scene.num_digits=2"};
const Overrides kWords = {"scene.kind=transcribe", "scene.canvas=[13, 40]", "scene.num_digits=2",
                          "decoder.hidden_size=5"};
// Long enough that answers differ from scene to scene.
const Overrides kLearned = {"training.episodes=960", "evaluation.scenes=400",
                            "attention.glimpse.std=1"};
const Overrides kLearnedWords = {
    "scene.kind=transcribe",  "scene.canvas=[13, 40]", "scene.num_digits=2",
    "decoder.hidden_size=5",  "scene.min_digits=1",    "training.learning_rate=0.01",
    "training.episodes=3200", "evaluation.every=3200", "evaluation.scenes=2000"};
const Overrides kText = {"scene.kind=digits_to_words", "scene.num_distractors=0",
                         "attention.glimpse.kind=whole", "decoder.hidden_size=5"};
const Overrides kCatch = {"scene.kind=catch", "scene.canvas=[8, 9]", "scene.num_distractors=0",
                          "attention.glimpse.num_glimpses=7"};
const Overrides kCnn = {"model.kind=cnn", "model.channels=[2, 3]", "model.kernel_size=3"};
const Overrides kMlp = {"model.kind=mlp"};
const Overrides kAttention = {"model.core=attention", "model.heads=2"};
const Overrides kSgd = {"training.optimizer=sgd"};
const Overrides kFilms = {"record.every=32", "record.format=gif"};

std::vector<Move> moves() {
  return {
      {"name", "another", {}, Shows::folder},
      {"variant", "another", {}, Shows::folder},
      {"seed", "2"},
      {"data.source", "folder"},
      {"data.size", "5", {"data.source=folder"}},
      {"data.mean", "0.3"},
      {"data.deviation", "0.4"},
      {"data.augmentation.rotation", "30"},
      {"data.augmentation.scale", "0.5"},
      {"data.augmentation.shear", "0.5"},
      {"data.augmentation.shift", "2"},
      {"data.augmentation.elastic", "2"},
      {"scene.kind", "centered", {"scene.num_distractors=0"}},
      {"scene.canvas", "[14, 15]"},
      {"scene.num_digits", "2", {"scene.canvas=[13, 40]"}},
      {"scene.min_digits", "1", kWords},
      {"scene.label", "pair", kWide},
      {"scene.num_distractors", "2"},
      {"scene.distractor_size", "4"},
      {"scene.max_number", "99", kText},
      {"scene.border", "2"},
      {"retina.patch_size", "5"},
      {"retina.scales", "1"},
      {"retina.scale_factor", "3"},
      {"retina.pooling", "max"},
      {"model.kind", "mlp"},
      {"model.core", "gru"},
      {"model.hidden_size", "7"},
      {"model.heads", "3", kAttention},
      {"model.depth", "2", kAttention},
      {"model.glimpse_network", "conv", {"model.glimpse_kernel=3"}},
      {"model.glimpse_filters", "5", kConv},
      {"model.glimpse_kernel", "2", kConv},
      {"model.glimpse_stride", "1", kConv},
      {"model.glimpse_hidden", "6"},
      {"model.location_hidden", "5"},
      {"model.feature_size", "9"},
      {"model.locator_hidden", "6"},
      {"model.context", "thumbnail", {"model.context_size=12"}},
      {"model.context_size", "13", kContext},
      {"model.context_hidden", "6", kContext},
      {"model.canvas_hidden", "6", kMlp},
      {"model.channels", "[2, 4]", kCnn},
      {"model.kernel_size", "5", kCnn},
      {"attention.glimpse.kind", "soft_gaussian"},
      {"attention.glimpse.num_glimpses", "4"},
      {"attention.glimpse.first", "center"},
      {"attention.glimpse.std", "0.3"},
      {"attention.glimpse.learn_std", "true", {"attention.glimpse.std=0.3"}},
      {"attention.glimpse.spread", "1", {"attention.glimpse.std=1"}, Shows::test},
      {"attention.glimpse.grid", "[3, 3]", kSoft},
      {"attention.glimpse.stride", "3", kSoft},
      {"attention.glimpse.tiles", "[1, 3]", kSoft},
      {"attention.glimpse.addressing", "location", kSoft},
      {"attention.glimpse.score", "additive", kContent},
      {"attention.glimpse.score_hidden",
       "9",
       {"attention.glimpse.kind=soft_grid", "attention.glimpse.grid=[2, 3]",
        "attention.glimpse.stride=4", "attention.glimpse.addressing=content",
        "attention.glimpse.score=additive"}},
      {"attention.glimpse.expect", "pixels", kSoft},
      {"attention.glimpse.temperature", "0.5", kSoft},
      {"attention.glimpse.entropy", "0.5", kSoft},
      {"attention.glimpse.coverage", "0.5", kSoft},
      {"attention.glimpse.row_penalty", "0.5", kSoft},
      {"attention.glimpse.filters", "4", {"attention.glimpse.kind=soft_gaussian"}},
      {"attention.glimpse.detach_state", "false", {"attention.glimpse.kind=soft_point"}},
      {"attention.glimpse.size", "[5, 6]", kWhole},
      {"attention.glimpse.order", "at_once", kWhole},
      {"attention.input.kind", "gate"},
      {"attention.input.alpha", "2", kGate},
      {"attention.input.learn_alpha", "true", kGate},
      {"attention.input.gain", "3", kGate},
      {"attention.hidden.kind", "mean"},
      {"attention.hidden.query", "mean", kAttend},
      {"attention.hidden.output", "context", kAttend},
      {"attention.hidden.score", "additive", kAttend},
      {"attention.hidden.score_hidden", "9", kSelf},
      {"attention.hidden.area", "local", kAttend},
      {"attention.hidden.position",
       "predicted",
       {"attention.hidden.kind=attend", "attention.hidden.area=local",
        "attention.hidden.position=current"}},
      {"attention.hidden.window", "1", kLocal},
      {"attention.hidden.mask", "011", {"attention.hidden.kind=mean"}},
      {"attention.hidden.hops", "2", kSelf},
      {"attention.hidden.penalty", "0.5", kSelf},
      {"decoder.core", "lstm", kWords},
      {"decoder.hidden_size", "6", kWords},
      {"reinforce.rollouts", "2"},
      {"reinforce.advantage", "learned"},
      {"reinforce.critic", "mlp", {"reinforce.advantage=learned"}},
      {"reinforce.critic_hidden", "7", {"reinforce.advantage=gae", "reinforce.critic=privileged"}},
      {"reinforce.reward", "probability"},
      {"reinforce.weight", "0.5"},
      {"reinforce.entropy",
       "0.1",
       {"attention.glimpse.learn_std=true", "attention.glimpse.std=0.3"}},
      {"reinforce.baseline_weight", "0.5", {"reinforce.advantage=learned"}},
      {"reinforce.estimator", "both"},
      {"reinforce.shared_baseline", "true", {"reinforce.advantage=learned"}},
      {"reinforce.constant", "0.25", {"reinforce.advantage=constant"}},
      {"reinforce.trace", "0.5", {"reinforce.reward=gain"}},
      {"reinforce.discount", "0.5", kCatch},
      {"reinforce.action_entropy", "0.5", kCatch},
      {"reinforce.ema_decay", "0.5"},
      {"training.episodes", "80"},
      {"training.batch_size", "32"},
      // Sums of floats have the order of the lanes.
      {"training.lane_size", "8"},
      {"training.optimizer", "sgd"},
      {"training.learning_rate", "0.01"},
      {"training.locator_factor", "2"},
      {"training.baseline_factor", "2", {"reinforce.advantage=learned"}},
      {"training.schedule", "constant"},
      {"training.warmup", "0.5"},
      {"training.final_learning_rate", "0.01"},
      {"training.weight_decay", "0.1", kSgd},
      {"training.momentum", "0.5", kSgd},
      {"training.beta1", "0.5"},
      {"training.beta2", "0.5"},
      {"training.epsilon", "0.1"},
      {"training.max_grad_norm", "0.01"},
      {"training.ema", "0.1"},
      {"training.classifier_weight", "0.5"},
      {"training.step_loss", "0.5"},
      {"evaluation.every", "16", {}, Shows::rows},
      {"evaluation.scenes", "50", {}, Shows::test},
      {"evaluation.seed", "778", {}, Shows::test},
      {"evaluation.rollouts", "1", kLearned, Shows::test},
      {"evaluation.beam", "1", kLearnedWords, Shows::test},
      {"log.every", "16", {}, Shows::rows},
      {"log.jsonl", "true", {}, Shows::files},
      {"log.tensorboard", "true", {}, Shows::files},
      {"record.every", "32", {}, Shows::films},
      {"record.scenes", "2", kFilms, Shows::films},
      {"record.format", "png", kFilms, Shows::films},
  };
}

// What a run came to.
struct Outcome {
  std::map<std::string, std::vector<float>> weights;
  nlohmann::json test;
  std::map<std::string, std::vector<std::string>> rows;
  std::map<std::string, std::string> films;
  std::set<std::string> files;
  fs::path folder;  // where it would be by default
};

// Both the IDX files and the images of a folder, so that one path serves both sources.
void write_images(const fs::path& folder) {
  for (const std::string part : {"train", "test"})
    for (const std::string label : {"a", "b", "c"})
      for (int i = 0; i < 10; ++i) {
        fs::create_directories(folder / part / label);
        cv::Mat image(6, 6, CV_8UC1);
        for (int pixel = 0; pixel < 36; ++pixel)
          image.data[pixel] = static_cast<unsigned char>((pixel * (label[0] - 'a' + 2) + i) % 256);
        REQUIRE(cv::imwrite((folder / part / label / fmt::format("{}.png", i)).string(), image));
      }
}

class Runs {
 public:
  Runs() { write_images(tiny_.path / "data"); }

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
    Overrides all = {"training.episodes=64", "evaluation.every=32", "evaluation.scenes=60",
                     "log.every=32", "reinforce.ema_decay=0.9"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Outcome train(const Overrides& overrides) const {
    const fs::path folder = tiny_.train(fmt::format("run{}", known_.size()), quick(overrides));
    Outcome outcome;
    for (const NamedTensor& tensor : read_safetensors(folder / kLast).tensors)
      outcome.weights[tensor.name] = {tensor.data.begin(), tensor.data.end()};
    outcome.test = without_times(read_json(folder / "summary.json"));
    outcome.rows = without_times(Csv(folder / "metrics.csv"));
    for (const auto& [path, bytes] : contents(folder)) {
      outcome.files.insert(path);
      if (path.ends_with(".gif") || path.ends_with(".png") || path.ends_with(".avi"))
        outcome.films[path] = bytes;
    }
    outcome.folder = default_run_folder(config(overrides), overrides);
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
  if (move.shows == Shows::films) CHECK(after.films != before.films);
  if (move.shows == Shows::files) CHECK(after.files != before.files);
  if (move.shows == Shows::folder) CHECK(after.folder != before.folder);
}

bool is_told(const Config& config, const std::string& key) {
  const std::vector<UnusedSetting> unused = unused_settings(config);
  return std::ranges::find(unused, key, &UnusedSetting::key) != unused.end();
}

// Whether two runs are one, but for what they are called.
void check_same(const Outcome& a, const Outcome& b) {
  CHECK(a.weights == b.weights);
  CHECK(a.test == b.test);
  auto rows = a.rows, others = b.rows;
  rows.erase("train/temperature");  // is told, used or not
  others.erase("train/temperature");
  CHECK(rows == others);
  CHECK(a.films == b.films);
}

}  // namespace

TEST_CASE("what is told to be without use is, and what is of use is not told") {
  Runs runs;
  int told = 0;
  for (const Move& move : moves()) {
    CAPTURE(move.key);
    const std::string moved = move.key + "=" + move.value;
    Overrides overrides = move.with;
    overrides.push_back(moved);
    CHECK_FALSE(is_told(runs.config(overrides), move.key));

    std::optional<Config> alone;
    try {
      alone = runs.config({moved});
    } catch (const InputError&) {
      continue;  // it is refused
    }
    if (!is_told(*alone, move.key)) continue;
    ++told;
    check_same(runs.of({}), runs.of({moved}));
  }
  CHECK(told > 20);
}

TEST_CASE("every setting changes something") {
  const TemporaryFolder cache;  // of data.source=folder, not the user's
  const TemporaryVariable cache_variable("XDG_CACHE_HOME", cache.path.c_str());
  Runs runs;
  std::vector<Move> all = moves();
  all.push_back({"init_from", runs.folder_of({"seed=5"}).string()});
  // The same digits but the first.
  const TemporaryFolder other;
  write_digits(other.path / "data", 90);
  all.push_back({"data.path", (other.path / "data").string()});

  std::vector<std::string> moved;
  for (const Move& move : all) {
    CAPTURE(move.key);
    moved.push_back(move.key);
    Overrides overrides = move.with;
    overrides.push_back(move.key + "=" + move.value);
    CHECK_NOTHROW(CHECK(to_yaml(runs.config(overrides)) != to_yaml(runs.config(move.with))));
    CHECK_NOTHROW(check_move(move, runs.of(move.with), runs.of(overrides)));
  }
  Config config;
  for (const Setting& setting : settings(config)) {
    CAPTURE(setting.key);
    CHECK(std::ranges::count(moved, setting.key) == 1);
  }
}

}  // namespace saccade
