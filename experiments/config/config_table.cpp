#include "experiments/config/config_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "agent/cores/core.h"
#include "agent/credit/advantage.h"
#include "agent/credit/critic.h"
#include "agent/credit/reward.h"
#include "agent/looking/context_network.h"
#include "agent/looking/glimpse_input.h"
#include "agent/looking/location_estimator.h"
#include "agent/model/model.h"
#include "attention/score.h"
#include "base/name_table.h"
#include "env/task_kinds.h"
#include "experiments/config/recording_formats.h"

namespace saccade {
namespace {

// Counts of updates and episodes are 32-bit words of the random streams.
constexpr double kMaxEpisodes = 4e9;
// The largest integer that every reader of JSON and YAML keeps exact: 2^53 - 1.
constexpr double kMaxSeed = 9'007'199'254'740'991;

constexpr Interval closed(double low, double high) { return {low, high}; }  // [low, high]
constexpr Interval below(double low, double high) {
  return {low, high, true, false};
}  // [low, high)

constexpr Interval kWidth = closed(1, 8192);
constexpr Interval kWeight = closed(0, 1000);
constexpr Interval kDecay = below(0, 1);

}  // namespace

std::vector<Setting> settings(Config& c) {
  AugmentationConfig& augmentation = c.augmentation;
  ModelConfig& model = c.agent.model;
  GlimpseConfig& glimpse = c.agent.glimpse;
  InputConfig& input = c.agent.input;
  HiddenConfig& hidden = c.agent.hidden;
  AttendConfig& attend = c.agent.hidden.attend;
  ReinforceConfig& reinforce = c.agent.reinforce;
  TrainingConfig& training = c.agent.training;
  OptimizerConfig& optimizer = c.agent.training.optimizer;

  return {
      {"name", &c.name, Text::word, "of the experiment and of its folder in runs/"},
      {"variant", &c.variant, Text::word_or_none, "of a study, by name; null: by its settings"},
      {"seed", &c.seed, closed(0, kMaxSeed), "of everything random in training"},
      {"init_from", &c.init_from, Text::path, "run folder to take shared weights from; null: none"},

      {"data.source", &c.data.source, digit_sources(), "where the digits come from"},
      {"data.path", &c.data.path, Text::path, "null: $SACCADE_DATA, then the cache folder"},
      {"data.size", &c.data.size, closed(0, 1024), "folder: pixels to resize to; 0 keeps the size"},
      {"data.mean", &c.pixels.mean, closed(0, 1), "networks read (pixel - mean) / deviation"},
      {"data.deviation", &c.pixels.deviation, closed(0.01, 10), "pixels in [0, 1]; by channel"},
      {"data.augmentation.rotation", &augmentation.rotation, closed(0, 180), "+- degrees"},
      {"data.augmentation.scale", &augmentation.scale, closed(0, 0.9), "factor 1 +- this"},
      {"data.augmentation.shear", &augmentation.shear, closed(0, 1), "x += s y, s within +- this"},
      {"data.augmentation.shift", &augmentation.shift, closed(0, 16), "+- pixels along x and y"},
      {"data.augmentation.elastic", &augmentation.elastic, closed(0, 16),
       "+- pixels at 5 x 5 knots"},

      {"scene.kind", &c.scene.kind, task_kinds(), "where digits lie and what else is there"},
      {"scene.canvas", &c.scene.canvas, closed(8, 2048), "rows, cols in pixels"},
      {"scene.num_digits", &c.scene.num_digits, closed(0, kMaxDigits), "digits in a scene"},
      {"scene.min_digits", &c.scene.min_digits, closed(0, kMaxDigits), "bag, transcribe; 0: all"},
      {"scene.label", &c.scene.label, scene_labels(), "the class of two digits and more"},
      {"scene.num_distractors", &c.scene.num_distractors, closed(0, 1024), "cluttered only"},
      {"scene.distractor_size", &c.scene.distractor_size, closed(1, 512), "side in pixels"},
      {"scene.max_number", &c.scene.max_number, closed(1, 999'999), "digits_to_words: the largest"},
      {"scene.border", &c.scene.border, closed(0, 1024), "pixels left free at each edge"},

      {"retina.patch_size", &c.retina.patch_size, closed(1, 512), "side of a glimpse in pixels"},
      {"retina.scales", &c.retina.scales, closed(1, 6), "resolutions of a glimpse"},
      {"retina.scale_factor", &c.retina.scale_factor, closed(1, 8), "from a scale to the next"},
      {"retina.pooling", &c.retina.pooling, retina_poolings(), "what a coarse pixel shows"},

      {"model.kind", &model.kind, model_kinds(), "what looks; mlp and cnn see all"},
      {"model.core", &model.core, core_kinds(), "the recurrent network"},
      {"model.hidden_size", &model.hidden_size, kWidth, "width of the core's state"},
      {"model.heads", &model.heads, closed(1, 64), "core attention; divides hidden_size"},
      {"model.depth", &model.depth, closed(1, 16), "core attention: its layers"},
      {"model.glimpse_network", &model.glimpse_network, glimpse_networks(), "what sees a glimpse"},
      {"model.glimpse_filters", &model.glimpse_filters, closed(1, 1024), "conv: on each scale"},
      {"model.glimpse_kernel", &model.glimpse_kernel, closed(1, 31), "conv: side in pixels"},
      {"model.glimpse_stride", &model.glimpse_stride, closed(1, 31), "conv: pixels"},
      {"model.glimpse_hidden", &model.glimpse_hidden, kWidth, "width of the `what` layer"},
      {"model.location_hidden", &model.location_hidden, kWidth, "width of the `where` layer"},
      {"model.feature_size", &model.feature_size, kWidth, "width of the glimpse feature"},
      {"model.locator_hidden", &model.locator_hidden, kWidth, "width of the locator's layer"},
      {"model.context", &model.context, contexts(), "what the locator sees of the canvas"},
      {"model.context_size", &model.context_size, closed(12, 24), "thumbnail: side in pixels"},
      {"model.context_hidden", &model.context_hidden, kWidth, "thumbnail: width of its layer"},
      {"model.canvas_hidden", &model.canvas_hidden, kWidth, "mlp: width of its hidden layer"},
      {"model.channels", &model.channels, closed(1, 1024), "cnn: of its two layers"},
      {"model.kernel_size", &model.kernel_size, closed(1, 31), "cnn: side in pixels"},

      {"attention.glimpse.kind", &glimpse.kind, glimpse_kinds(), "who chooses the next location"},
      {"attention.glimpse.num_glimpses", &glimpse.num_glimpses, closed(1, 256), "in an episode"},
      {"attention.glimpse.first", &glimpse.first, first_glimpses(), "the first location"},
      {"attention.glimpse.std", &glimpse.std, closed(1e-4, 4), "of the policy, in half canvases"},
      {"attention.glimpse.learn_std", &glimpse.learn_std, {}, "train the std as well"},
      {"attention.glimpse.spread", &glimpse.spread, closed(0, 4),
       "of its deterministic pass, in std"},
      {"attention.glimpse.grid", &glimpse.grid.cells, closed(1, 64),
       "candidates; else as the canvas"},
      {"attention.glimpse.stride", &glimpse.grid.stride, closed(1, 512), "of the grid, in pixels"},
      {"attention.glimpse.tiles", &glimpse.grid.tiles, closed(0, 64), "part the canvas instead"},
      {"attention.glimpse.addressing", &glimpse.addressing, addressings(), "of grid kinds"},
      {"attention.glimpse.score", &glimpse.score, score_kinds(), "of addressing: content"},
      {"attention.glimpse.score_hidden", &glimpse.score_hidden, kWidth,
       "inside additive, location_free"},
      {"attention.glimpse.expect", &glimpse.expect, expectations(), "soft_grid: the mean of what"},
      {"attention.glimpse.temperature", &glimpse.temperature, closed(1e-4, 1000), "of grid kinds"},
      {"attention.glimpse.entropy", &glimpse.entropy, kWeight, "soft_grid: weight of its bonus"},
      {"attention.glimpse.coverage", &glimpse.coverage, kWeight, "soft_grid: of the penalty"},
      {"attention.glimpse.row_penalty", &glimpse.row_penalty, kWeight, "soft_grid: likewise"},
      {"attention.glimpse.filters", &glimpse.filters, closed(1, 128), "soft_gaussian: a side"},
      {"attention.glimpse.detach_state",
       &glimpse.detach_state,
       {},
       "of the gradient of soft_point, soft_gaussian, pathwise"},
      {"attention.glimpse.size", &glimpse.size, closed(0, 2048), "whole: to shrink to; 0: as is"},
      {"attention.glimpse.order", &glimpse.order, reading_orders(), "whole: of what is read"},
      {"attention.input.kind", &input.kind, input_kinds(), "gate on what the core reads"},
      {"attention.input.alpha", &input.alpha, closed(1e-4, 1000), "gate: sharpness of its softmax"},
      {"attention.input.learn_alpha", &input.learn_alpha, {}, "gate: train alpha as well"},
      {"attention.input.gain", &input.gain, closed(1e-4, 8192), "gate: times the gated input"},
      {"attention.hidden.kind", &hidden.kind, hidden_kinds(), "attention over h_1 .. h_T"},
      {"attention.hidden.query", &hidden.query, hidden_queries(), "attend: what asks"},
      {"attention.hidden.output", &hidden.output, hidden_outputs(), "attend: what is read"},
      {"attention.hidden.score", &attend.score, score_kinds(), "attend: of query and state"},
      {"attention.hidden.score_hidden", &attend.score_hidden, kWidth, "inside a score, and self"},
      {"attention.hidden.area", &attend.area, attention_areas(), "attend: states it may reach"},
      {"attention.hidden.position", &attend.position, attention_positions(), "local: its centre"},
      {"attention.hidden.window", &attend.window, closed(1, 256), "local: states at each side"},
      {"attention.hidden.mask", &hidden.mask, Text::path, "0s and 1s: steps it may read"},
      {"attention.hidden.hops", &hidden.hops, closed(1, 64), "self: rows of its matrix A"},
      {"attention.hidden.penalty", &hidden.penalty, kWeight, "self: of |A A' - I|^2"},
      {"decoder.core", &c.agent.decoder.core, recurrent_core_kinds(), "says a sequence"},
      {"decoder.hidden_size", &c.agent.decoder.hidden_size, kWidth, "width of its state"},

      {"reinforce.rollouts", &reinforce.rollouts, closed(1, 1024), "episodes that share a scene"},
      {"reinforce.estimator", &reinforce.estimator, location_estimators(), "of hard_gaussian"},
      {"reinforce.advantage", &reinforce.advantage, advantage_estimators(), "the baseline"},
      {"reinforce.critic", &reinforce.critic, critic_kinds(), "the network of learned and gae"},
      {"reinforce.critic_hidden", &reinforce.critic_hidden, kWidth, "mlp, privileged: its layer"},
      {"reinforce.reward", &reinforce.reward, reward_kinds(), "of the looks"},
      {"reinforce.weight", &reinforce.weight, kWeight, "of the REINFORCE term"},
      {"reinforce.entropy", &reinforce.entropy, kWeight, "of the policy's entropy bonus"},
      {"reinforce.baseline_weight", &reinforce.baseline_weight, kWeight, "of its own loss"},
      {"reinforce.shared_baseline", &reinforce.shared_baseline, {}, "its gradient trains the core"},
      {"reinforce.constant", &reinforce.constant, closed(0, 1), "the baseline of `constant`"},
      {"reinforce.trace", &reinforce.trace, closed(0, 1), "gain, gae: lambda"},
      {"reinforce.discount", &reinforce.discount, closed(0, 1), "actions: of rewards, per step"},
      {"reinforce.action_entropy", &reinforce.action_entropy, kWeight, "actions: of their bonus"},
      {"reinforce.ema_decay", &reinforce.ema_decay, kDecay, "of the baseline of `ema`"},

      {"training.episodes", &training.episodes, closed(1, kMaxEpisodes), "to train in all"},
      {"training.batch_size", &training.batch_size, closed(1, 65536), "episodes in an update"},
      {"training.lane_size", &training.lane_size, closed(1, 65536), "episodes a thread takes"},
      {"training.optimizer", &optimizer.optimizer, optimizers(), "the update rule"},
      {"training.learning_rate", &optimizer.learning_rate, closed(1e-30, 10), "after the warm-up"},
      {"training.locator_factor", &training.locator_factor, closed(1e-6, 1000),
       "times learning_rate"},
      {"training.baseline_factor", &training.baseline_factor, closed(1e-6, 1000),
       "times learning_rate"},
      {"training.freeze", &training.freeze, {}, "parts that keep their first weights: [core]"},
      {"training.schedule", &optimizer.schedule, learning_rate_schedules(), "of learning_rate"},
      {"training.warmup", &optimizer.warmup, below(0, 1), "share of the training"},
      {"training.final_learning_rate", &optimizer.final_learning_rate, closed(0, 10), "at the end"},
      {"training.weight_decay", &optimizer.weight_decay, closed(0, 10),
       "adamw: decoupled; else in the gradient"},
      {"training.momentum", &optimizer.momentum, kDecay, "sgd"},
      {"training.beta1", &optimizer.beta1, kDecay, "adam, adamw"},
      {"training.beta2", &optimizer.beta2, kDecay, "adam, adamw"},
      {"training.epsilon", &optimizer.epsilon, closed(1e-30, 1), "adam, adamw"},
      {"training.max_grad_norm", &optimizer.max_grad_norm, closed(0, 1e6), "0: no clipping"},
      {"training.ema", &optimizer.ema, kDecay, "decay of the averaged weights; 0: the last ones"},
      {"training.classifier_weight", &training.classifier_weight, kWeight, "at the last step"},
      {"training.step_loss", &training.step_loss, kWeight, "cross-entropy of the earlier steps"},

      {"evaluation.every", &c.evaluation.every, closed(1, kMaxEpisodes), "training episodes"},
      {"evaluation.scenes", &c.evaluation.scenes, closed(1, 1e7), "in an evaluation"},
      {"evaluation.draws", &c.evaluation.draws, closed(1, 1000),
       "of the test: how often its digits are placed anew"},
      {"evaluation.seed", &c.evaluation.seed, closed(0, kMaxSeed), "of the scenes"},
      {"evaluation.rollouts", &c.evaluation.rollouts, closed(1, 1000), "passes that are averaged"},
      {"evaluation.beam", &c.evaluation.beam, closed(1, 100), "sequences: width of the search"},

      {"log.every", &c.log.every, closed(1, kMaxEpisodes), "training episodes between rows"},
      {"log.jsonl", &c.log.jsonl, {}, "metrics.jsonl: the rows as JSON, one a line"},
      {"log.tensorboard", &c.log.tensorboard, {}, "the rows and recordings as its events"},

      {"record.every", &c.record.every, closed(0, kMaxEpisodes), "training episodes; 0: never"},
      {"record.scenes", &c.record.scenes, closed(1, kMaxSheetScenes), "of validation, filmed"},
      {"record.format", &c.record.format, recording_formats(), "films or a contact sheet"},
  };
}

bool Interval::contains(double value) const {
  return (with_low ? value >= low : value > low) && (with_high ? value <= high : value < high);
}

namespace {

struct Describe {
  const Setting& setting;

  std::string integer() const {
    const Interval& range = std::get<Interval>(setting.allowed);
    return fmt::format("an integer from {} to {}", static_cast<std::int64_t>(range.low),
                       static_cast<std::int64_t>(range.high));
  }
  std::string number() const {
    const Interval& range = std::get<Interval>(setting.allowed);
    return fmt::format("a number {} {} and {} {}", range.with_low ? ">=" : ">", range.low,
                       range.with_high ? "<=" : "<", range.high);
  }

  std::string operator()(const bool*) const { return "true, false"; }
  std::string operator()(const int*) const { return integer(); }
  std::string operator()(const std::int64_t*) const { return integer(); }
  std::string operator()(const std::uint64_t*) const { return integer(); }
  std::string operator()(const double*) const { return number(); }
  std::string operator()(const std::array<int, 2>*) const {
    return "[rows, cols], each " + integer();
  }
  std::string operator()(const std::vector<double>*) const {
    return number() + ", or a list of such numbers, one for each channel";
  }
  std::string operator()(const std::vector<std::string>*) const {
    return "a list of the beginnings of parameter names, as [core, glimpse]";
  }
  std::string operator()(const Ramp*) const {
    return number() + ", or {from, to, over}: two such numbers and a share > 0 and <= 1";
  }
  std::string operator()(const std::string*) const {
    if (const Names* names = std::get_if<Names>(&setting.allowed)) return join(*names);
    const Text text = std::get<Text>(setting.allowed);
    if (text == Text::path) return "a path or null";
    return std::string("up to 100 letters, digits, '.', '_' and '-', the first a letter or digit") +
           (text == Text::word_or_none ? "; or null" : "");
  }
};

// 24_000_000 is 24000000: an underscore between two digits is dropped, any other stays.
std::string without_separators(const std::string& text) {
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '_' || i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) plain += text[i];
  return plain;
}

}  // namespace

std::optional<std::int64_t> parse_integer(const std::string& text) {
  const std::string plain = without_separators(text);
  const char* end = plain.data() + plain.size();
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(plain.data(), end, value);
  if (rest != end || error == std::errc::invalid_argument) return std::nullopt;
  using Limits = std::numeric_limits<std::int64_t>;
  if (error == std::errc::result_out_of_range)
    return plain[0] == '-' ? Limits::min() : Limits::max();
  return value;
}

std::optional<double> parse_number(const std::string& text) {
  const std::string plain = without_separators(text);
  const char* end = plain.data() + plain.size();
  double value = 0.0;
  const auto [rest, error] = std::from_chars(plain.data(), end, value);
  if (rest != end || error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool is_word(const std::string& text) {
  const auto alphanumeric = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !text.empty() && text.size() <= 100 && alphanumeric(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

bool takes_list(const Setting& setting) {
  return std::holds_alternative<std::array<int, 2>*>(setting.field) ||
         std::holds_alternative<std::vector<double>*>(setting.field) ||
         std::holds_alternative<std::vector<std::string>*>(setting.field);
}

std::string allowed_values(const Setting& setting) {
  return std::visit(Describe{setting}, setting.field);
}

std::vector<std::string> section_names(const std::vector<Setting>& table) {
  std::vector<std::string> names;
  for (const Setting& setting : table)
    for (std::size_t dot = setting.key.find('.'); dot != std::string::npos;
         dot = setting.key.find('.', dot + 1)) {
      const std::string name = setting.key.substr(0, dot);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  return names;
}

}  // namespace saccade
