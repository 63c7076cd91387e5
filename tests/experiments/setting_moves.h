// For every setting a value that makes a difference, with the other settings it needs to take
// effect.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "experiments/task/scene_blocks.h"
#include "tests/experiments/support.h"

namespace saccade {

// Where a changed setting must show. All but `weights` leave every weight unchanged.
enum class Shows {
  weights,  // in the last checkpoint: it affects the network, initial values, or training steps
  test,     // in the test results: it affects only the evaluation
  rows,     // in the rows of metrics.csv: it affects when something is measured
  videos,   // in the pictures of the run folder: it affects what is drawn
  files,    // in the files of the run folder: it affects what is written
  folder,   // in the path of the run
};

struct Move {
  std::string key, value;
  Overrides with = {};  // settings it needs to take effect, in both runs
  Shows shows = Shows::weights;
};

inline const Overrides kContent = with(kSoftGrid, {"attention.glimpse.addressing=content"});
inline const Overrides kConv = {"model.glimpse_network=conv", "model.glimpse_kernel=3"};
inline const Overrides kResidual = {"model.glimpse_network=residual", "model.glimpse_filters=4"};
inline const Overrides kContext = {"model.context=thumbnail", "model.context_size=12"};
inline const Overrides kWhole = {"attention.glimpse.kind=whole"};
inline const Overrides kGate = {"attention.input.kind=gate"};
inline const Overrides kAttend = {"attention.hidden.kind=attend"};
inline const Overrides kLocal = {"attention.hidden.kind=attend", "attention.hidden.area=local"};
inline const Overrides kSelf = {"attention.hidden.kind=self", "attention.hidden.penalty=0.1"};
inline const Overrides kWide = {"scene.canvas=[13, 40]", "scene.num_digits=2"};
inline const Overrides kWords = {"scene.kind=transcribe", "scene.canvas=[13, 40]",
                                 "scene.num_digits=2", "decoder.hidden_size=5"};
// Long enough that answers vary between scenes.
inline const Overrides kLearned = {"training.episodes=960", "evaluation.scenes=400",
                                   "attention.glimpse.std=1"};
inline const Overrides kLearnedWords = {
    "scene.kind=transcribe",  "scene.canvas=[13, 40]", "scene.num_digits=2",
    "decoder.hidden_size=5",  "scene.min_digits=1",    "training.learning_rate=0.01",
    "training.episodes=3200", "evaluation.every=3200", "evaluation.scenes=2000"};
inline const Overrides kText = {"scene.kind=digits_to_words", "scene.num_distractors=0",
                                "attention.glimpse.kind=whole", "decoder.hidden_size=5"};
inline const Overrides kCatch = {"scene.kind=catch", "scene.canvas=[8, 9]",
                                 "scene.num_distractors=0", "attention.glimpse.num_glimpses=7"};
inline const Overrides kSearch = {"scene.kind=search", "scene.num_distractors=0",
                                  "scene.num_digits=3"};
inline const Overrides kOwn = {"scene.kind=own", "scene.num_distractors=0"};
inline const Overrides kOwnWorld = {"scene.kind=own_world", "scene.num_distractors=0"};
inline const Overrides kOwnGame = {"scene.kind=own_game", "scene.num_distractors=0"};
inline const Overrides kCnn = {"model.kind=cnn", "model.channels=[2, 3]", "model.kernel_size=3"};
inline const Overrides kMlp = {"model.kind=mlp"};
inline const Overrides kAttention = {"model.core=attention", "model.heads=2"};
inline const Overrides kSgd = {"training.optimizer=sgd"};
inline const Overrides kVideos = {"record.every=32", "record.format=gif"};

inline std::vector<Move> moves() {
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
      {"data.augmentation.stroke", "0.8"},
      {"data.augmentation.flip", "true"},
      {"data.augmentation.distractors", "false", {"data.augmentation.rotation=30"}},
      {"scene.kind", "centered", {"scene.num_distractors=0"}},
      {"scene.canvas", "[14, 15]"},
      {"scene.num_digits", "2", {"scene.canvas=[13, 40]"}},
      {"scene.min_digits", "1", kWords},
      {"scene.label", "pair", kWide},
      {"scene.num_distractors", "2"},
      {"scene.distractor_size", "4"},
      {"scene.digit_scale", "0.5"},
      {"scene.max_number", "99", kText},
      {"scene.border", "2"},
      {"scene.target", "brightness", kSearch},
      {"scene.classes", "[a, b, a cat]", kOwn},
      {"scene.channels", "3", kOwn},
      {"scene.glimpse_size", "4", kOwnWorld},
      {"scene.best_return", "2", kOwnGame, Shows::test},
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
      {"model.glimpse_stages", "1", kResidual},
      {"model.glimpse_blocks", "2", kResidual},
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
      {"attention.glimpse.moves", "relative"},
      {"attention.glimpse.max_step", "0.4", {"attention.glimpse.moves=relative"}},
      {"attention.glimpse.std", "0.3"},
      {"attention.glimpse.learn_std", "true", {"attention.glimpse.std=0.3"}},
      {"attention.glimpse.zoom", "{from: 1, to: 2}"},
      {"attention.glimpse.zoom_std", "0.4", {"attention.glimpse.zoom={from: 1, to: 2}"}},
      {"attention.glimpse.spread", "1", {"attention.glimpse.std=1"}, Shows::test},
      {"attention.glimpse.grid", "[3, 3]", kSoftGrid},
      {"attention.glimpse.stride", "3", kSoftGrid},
      {"attention.glimpse.tiles", "[1, 3]", kSoftGrid},
      {"attention.glimpse.addressing", "location", kSoftGrid},
      {"attention.glimpse.score", "additive", kContent},
      {"attention.glimpse.score_hidden", "9",
       with(kSoftGrid,
            {"attention.glimpse.addressing=content", "attention.glimpse.score=additive"})},
      {"attention.glimpse.expect", "pixels", kSoftGrid},
      {"attention.glimpse.temperature", "0.5", kSoftGrid},
      {"attention.glimpse.entropy", "0.5", kSoftGrid},
      {"attention.glimpse.coverage", "0.5", kSoftGrid},
      {"attention.glimpse.row_penalty", "0.5", kSoftGrid},
      {"attention.glimpse.stop", "expected"},
      {"attention.glimpse.stop_price", "0.5", {"attention.glimpse.stop=sampled"}},
      {"attention.glimpse.stop_threshold",
       "0.99",
       {"attention.glimpse.stop=expected"},
       Shows::test},
      {"attention.glimpse.stop_prior", "0.9", {"attention.glimpse.stop=expected"}},
      {"attention.glimpse.stop_prior_weight", "0.5", {"attention.glimpse.stop=expected"}},
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
      // Sums of floats follow the order of the lanes.
      {"training.lane_size", "8"},
      {"training.optimizer", "sgd"},
      {"training.learning_rate", "0.01"},
      {"training.locator_factor", "2"},
      {"training.baseline_factor", "2", {"reinforce.advantage=learned"}},
      {"training.freeze", "[core]"},
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
      {"evaluation.draws", "3", {}, Shows::test},
      {"evaluation.seed", "778", {}, Shows::test},
      {"evaluation.rollouts", "1", kLearned, Shows::test},
      {"evaluation.beam", "1", kLearnedWords, Shows::test},
      {"log.every", "16", {}, Shows::rows},
      {"log.jsonl", "true", {}, Shows::files},
      {"log.tensorboard", "true", {}, Shows::files},
      {"log.snapshots", "true", {}, Shows::files},
      {"record.every", "32", {}, Shows::videos},
      {"record.scenes", "2", kVideos, Shows::videos},
      {"record.format", "png", kVideos, Shows::videos},
  };
}

// Scenes for scene.kind: own, of any size: a shade by the number.
class ShadedScenes final : public SceneBlocks {
 public:
  explicit ShadedScenes(const SceneConfig& config)
      : pixels_(static_cast<std::size_t>(config.channels) * config.canvas[0] * config.canvas[1]),
        classes_(static_cast<int>(config.classes.size())) {}

  std::int64_t size() const override { return 100; }
  void read(std::span<const std::int64_t> numbers, SceneBlock& block) override {
    block.canvases.clear();
    block.labels.clear();
    for (const std::int64_t n : numbers) {
      block.canvases.insert(block.canvases.end(), pixels_, static_cast<std::uint8_t>(2 * n));
      block.labels.push_back(static_cast<int>(n % classes_));
    }
  }

 private:
  std::size_t pixels_;
  int classes_;
};

// Writes both the IDX files and an image folder, so that one path serves both sources.
inline void write_images(const fs::path& folder) {
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

}  // namespace saccade
