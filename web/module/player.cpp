#include "web/module/player.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "attention/policy.h"
#include "base/error.h"
#include "env/given_environment.h"
#include "experiments/evaluation/attention_weights.h"

namespace saccade {
namespace {

Config checked(const Config& config) {
  const TaskKind& kind = find_task_kind(config.scene.kind);
  if (kind.moves() || kind.is_text)
    throw InputError(
        fmt::format("scene.kind: {} is no still picture, which a page shows", config.scene.kind));
  return config;
}

// Whether it learns the places of looks that go to one place each.
bool learns_points(const Task& task) {
  return looks_at_points(task.model.look()) &&
         find_glimpse_kind(task.config.agent.glimpse.kind).learning != GlimpseKind::Learning::none;
}

std::vector<float>& floats(NpzArray& array) { return std::get<std::vector<float>>(array.values); }

// Where each look went.
void add_gazes(std::vector<NpzArray>& arrays, const Rollout& rollout) {
  const auto steps = static_cast<std::size_t>(rollout.core.steps);
  const auto places = static_cast<std::size_t>(rollout.look->gaze(0, 0).places.rows);
  if (places == 0) return;
  NpzArray at = float_array("gaze_places", {steps, places, 2});
  NpzArray weights = float_array("gaze_weights", {steps, places});
  NpzArray size = float_array("gaze_size", {steps, 2});
  NpzArray exposure = float_array("exposure", {steps});
  for (std::size_t t = 0; t < steps; ++t) {
    const Gaze gaze = rollout.look->gaze(static_cast<int>(t), 0);
    for (std::size_t k = 0; k < places; ++k)
      std::copy_n(gaze.places.row(static_cast<int>(k)), 2, &floats(at)[2 * (t * places + k)]);
    std::ranges::copy(gaze.weights, floats(weights).begin() + t * places);
    floats(size)[2 * t] = gaze.half_width;
    floats(size)[2 * t + 1] = gaze.half_height;
    floats(exposure)[t] = gaze.exposure;
  }
  for (NpzArray* array : {&at, &weights, &size, &exposure}) arrays.push_back(std::move(*array));
}

}  // namespace

bool looks_at_points(const LookTraits& look) {
  return look.looks && look.num_candidates == 0 && !look.frame;
}

Player::Player(const Config& config, std::shared_ptr<Digits> digits, const Checkpoint& weights)
    : digits_(std::move(digits)),
      task_(checked(config), std::shared_ptr<const Digits>(digits_)),
      weights_(zeros<1>(task_.model.layout().size())),
      canvas_(task_.model.canvas().pixels()),
      eye_(on_canvas()),
      rollout_(task_.model, on_canvas()),
      glimpse_(eye_->glimpse_size()),
      slopes_(glimpse_.size() * eye_->location_size()) {
  weights.restore_averaged(weights_, task_.model.layout());
}

std::unique_ptr<Environment> Player::on_canvas() const {
  const Model& model = task_.model;
  const AnswerSpec answer{task_.kind.answer, model.num_classes(),
                          model.answer().spells ? model.answer().outputs : 0};
  return std::make_unique<CanvasEnvironment>(canvas_, std::span<const int>(), model.canvas(),
                                             *task_.retina, answer, 1);
}

const SceneFacts& Player::show(std::uint64_t number, std::uint64_t seed, const SceneConfig& scene,
                               bool digit_order) {
  if (scene.canvas != task_.config.scene.canvas || scene.kind != task_.config.scene.kind)
    throw InputError("scene.canvas and scene.kind of a scene are those of the agent");
  const int all = digits_->test.size();
  const auto scenes = task_.kind.make({.scene = scene,
                                       .augmentation = task_.config.augmentation,
                                       .digits = *digits_,
                                       .retina = &*task_.retina,
                                       .split = Split::test,
                                       .seed = seed,
                                       .episodes = 1,
                                       .rollouts = 1,
                                       // Fewer scenes than show every digit are shuffled.
                                       .scenes = digit_order ? all : 1});
  scenes->reset(number);
  std::vector<float> pixels(canvas_.size());
  scenes->view(
      {pixels.data(), 1, static_cast<int>(pixels.size()), static_cast<int>(pixels.size())});
  std::ranges::transform(pixels, canvas_.begin(), [](float pixel) {
    return static_cast<std::uint8_t>(std::lround(255.0F * pixel));
  });
  facts_ = scenes->facts()[0];
  return facts_;
}

void Player::check_digit(int index) const {
  if (index < 0 || index >= digits_->test.size())
    throw InputError(fmt::format("digit {}; allowed: 0 to {}", index, digits_->test.size() - 1));
}

std::span<std::uint8_t> Player::digit(int index) {
  check_digit(index);
  Dataset& set = digits_->test;
  const std::size_t pixels = set.images.size() / set.labels.size();
  return {set.images.data() + pixels * index, pixels};
}

int Player::label(int index) const {
  check_digit(index);
  return digits_->test.labels(index);
}

void Player::set_label(int index, int label) {
  check_digit(index);
  const int classes = digits_->test.classes;
  if (label < 0 || label >= classes)
    throw InputError(
        fmt::format("class {} of digit {}; allowed: 0 to {}", label, index, classes - 1));
  digits_->test.labels(index) = label;
}

std::span<const float> Player::look(const float* location) {
  const int width = eye_->location_size(), size = eye_->glimpse_size();
  const ConstMatrix place{location, 1, width, width};
  const Matrix glimpse{glimpse_.data(), 1, size, size};
  eye_->reset(0);
  if (task_.model.look().smooth)
    eye_->look_smoothly(place, glimpse, {slopes_.data(), 1, width * size, width * size});
  else
    eye_->look(place, glimpse);
  return glimpse_;
}

Exploration Player::exploration() const {
  return task_.model.looking->exploration_at(1.0, flat(weights_));
}

// A decision is the mean of an action, which a relative move leads from the place before.
void Player::add_means() {
  const Look& look = *rollout_.look;
  const Moves moves = task_.model.looking->moves();
  const auto steps = static_cast<std::size_t>(rollout_.core.steps);
  NpzArray means = float_array("means", {steps, 2});
  NpzArray deviations = float_array("deviations", {steps, 2});
  std::ranges::fill(floats(means), std::numeric_limits<float>::quiet_NaN());
  const std::size_t first = first_is_learned(task_.config.agent.glimpse.first) ? 0 : 1;
  for (std::size_t t = first; t < steps; ++t) {
    const int now = static_cast<int>(t);
    const ConstMatrix from = t > 0 ? step(look.locations, now - 1).columns(0, 2) : ConstMatrix{};
    move_forward({&floats(means)[2 * t], 1, 2, 2}, step(look.decisions, now).columns(0, 2), from,
                 moves);
    for (int axis = 0; axis < 2; ++axis) {
      const float unit = !moves.relative ? 1.0F : t > 0 ? moves.max_step : moves.reach[axis];
      floats(deviations)[2 * t + axis] = unit * look.exploration.std;
    }
  }
  arrays_.push_back(std::move(means));
  arrays_.push_back(std::move(deviations));
}

const std::vector<NpzArray>& Player::play(const PlayOptions& options) {
  const Model& model = task_.model;
  const auto width = static_cast<std::size_t>(model.look().location_size);
  RolloutRequest request = RolloutRequest::of_scenes(0, options.seed);
  request.sampling = options.samples ? SamplingMode::sample : SamplingMode::deterministic;
  request.classify_every_step = true;
  Exploration exploration = this->exploration();
  exploration.std = options.std.value_or(exploration.std);
  exploration.temperature = options.temperature.value_or(exploration.temperature);
  if (!(exploration.std >= 0.0F && exploration.std <= 2.0F))
    throw InputError(fmt::format("std: {}; allowed: 0 to 2", exploration.std));
  if (!(exploration.temperature >= 1e-4F && exploration.temperature <= 1e4F))
    throw InputError(
        fmt::format("temperature: {}; allowed: 0.0001 to 10000", exploration.temperature));
  request.exploration = &exploration;
  if (options.random) request.policy = find_policy("random");
  Tensor<3> places = zeros<3>(model.num_glimpses(), 1, width);
  if (!options.places.empty()) {
    std::ranges::copy(options.places.first(std::min(options.places.size(), places.size())),
                      places.begin());
    request.locations = &places;
    request.replay_steps = static_cast<int>(options.places.size() / width);
  }
  rollout_.run(flat(weights_), request);

  AttentionWeights played(model, 1, Kept::everything);
  played.record(rollout_, 0, 0);
  arrays_ = played.take();
  for (NpzArray& array : arrays_) array.shape.erase(array.shape.begin());  // there is one scene
  if (learns_points(task_) && !options.random) add_means();
  if (model.answer().classifies || model.answer().stops) {
    arrays_.push_back(float_array("sureness", {static_cast<std::size_t>(model.num_glimpses())}));
    for (int t = 0; t < model.num_glimpses(); ++t)
      floats(arrays_.back())[t] = rollout_.answer->sureness(t, 0);
  }
  add_gazes(arrays_, rollout_);
  return arrays_;
}

std::string Player::spoken_answer() const {
  std::vector<int> symbols;
  for (const NpzArray& array : arrays_)
    if (array.name == "answers")
      std::ranges::copy_if(std::get<std::vector<int>>(array.values), std::back_inserter(symbols),
                           [](int symbol) { return symbol >= 0; });
  return task_.spoken(symbols);
}

}  // namespace saccade
