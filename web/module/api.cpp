// The C interface of the module (web/page/saccade.js is its other side). Text is UTF-8, JSON where
// it has parts, and valid until the next call that returns text. Errors become JavaScript errors
// (stand_ins/exceptions.cpp).
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "env/scene_kinds.h"
#include "experiments/config/settings_json.h"
#include "web/module/player.h"

namespace saccade {
namespace {

using Json = nlohmann::json;

std::vector<std::unique_ptr<Player>>& players() {
  static std::vector<std::unique_ptr<Player>> all;
  return all;
}

Player& player_at(int agent) {
  const auto all = static_cast<int>(players().size());
  if (agent < 0 || agent >= all || !players()[agent])
    throw InputError(fmt::format("agent {} was freed or never loaded", agent));
  return *players()[agent];
}

const char* returned(const Json& json) {
  static std::string text;
  text = json.dump();
  return text.c_str();
}

Json parsed(const char* text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw InputError("not a JSON object");
  return json;
}

std::optional<float> number_in(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return json.at(key).get<float>();
}

// Throws InputError unless digits of this shape, with a label each, have `size` bytes. Divides,
// because the sides of a file may have any product.
void check_size(const std::array<std::size_t, 4>& shape, std::size_t size) {
  std::size_t each = 1;  // bytes of an image
  bool fits = true;
  for (std::size_t i = 1; i < shape.size() && fits; ++i) {
    fits = shape[i] > 0 && each <= size / shape[i];
    each *= shape[i];
  }
  if (!fits || size == 0 || size % (each + 1) != 0 || size / (each + 1) != shape[0])
    throw InputError(
        fmt::format("shape: ({}, {}, {}, {}) does not fit {} bytes of digits; "
                    "allowed: images of this shape and a label each",
                    shape[0], shape[1], shape[2], shape[3], size));
}

// Digits are (N, rows, cols, channels) bytes, then N labels.
std::shared_ptr<Digits> digits_of(const Json& about, const std::uint8_t* bytes, std::size_t size) {
  auto digits = std::make_shared<Digits>();
  digits->class_names = about.at("class_names").get<std::vector<std::string>>();
  const auto shape = about.at("shape").get<std::array<std::size_t, 4>>();
  check_size(shape, size);
  Dataset& set = digits->test;
  set.classes = static_cast<int>(digits->class_names.size());
  set.images.resize(shape);
  set.labels.resize({shape[0]});
  std::copy_n(bytes, set.images.size(), set.images.data());
  std::copy_n(bytes + set.images.size(), shape[0], set.labels.data());
  for (std::size_t i = 0; i < shape[0]; ++i)
    if (set.labels(i) >= set.classes)
      throw InputError(
          fmt::format("class {} of digit {}; allowed: 0 to {}", set.labels(i), i, set.classes - 1));
  digits->train = set;
  return digits;
}

Json facts_of(const Player& player) {
  const Task& task = player.task();
  const Model& model = task.model;
  const LookTraits& look = model.look();
  const AnswerTraits& answer = model.answer();
  const RetinaConfig& retina = task.config.retina;
  const GlimpseConfig& glimpse = task.config.agent.glimpse;
  const Exploration explores = player.exploration();
  std::vector<std::string> names;
  for (int c = 0; c < model.num_classes(); ++c) names.push_back(task.class_name(c));
  return {
      {"canvas", {model.canvas().channels, model.canvas().rows, model.canvas().cols}},
      {"looks", model.num_glimpses()},
      {"names", names},
      {"location_size", look.location_size},
      {"zoom",
       look.zoom.is_point() ? Json() : Json{{"from", look.zoom.from}, {"to", look.zoom.to}}},
      {"gazes", look.looks},
      {"points", looks_at_points(look)},
      {"smooth", look.smooth},
      {"spreads", look.spreads()},
      {"expects", look.expects},
      // How widely it looks about; null for kinds that have no such number.
      {"std", look.looks && find_glimpse_kind(glimpse.kind).has_std ? Json(explores.std) : Json()},
      {"temperature", look.num_candidates > 0 ? Json(explores.temperature) : Json()},
      {"classifies", answer.classifies},
      {"stops", answer.stops},
      {"stop_threshold", answer.stop_threshold},
      {"retina",
       {{"patch", retina.patch_size}, {"scales", retina.scales}, {"factor", retina.scale_factor}}},
      {"kind", glimpse.kind},
      {"scene", task.config.scene.kind},
      {"num_distractors", task.config.scene.num_distractors},
      {"distractor_size", task.config.scene.distractor_size},
      {"has_clutter", has_clutter(task.config.scene.kind)}};
}

Json scene_json(const Player& player, const SceneFacts& facts) {
  std::vector<std::array<int, 4>> boxes;
  for (int k = 0; k < facts.num_digits; ++k) {
    const Box& box = facts.boxes[k];
    boxes.push_back({box.x, box.y, box.width, box.height});
  }
  // A sequence ends with its mark, which is not said.
  const std::vector<int> answer =
      facts.num_symbols > 0
          ? std::vector<int>(facts.symbols.begin(), facts.symbols.begin() + facts.num_symbols - 1)
          : std::vector<int>{facts.label};
  return {{"answer", player.task().spoken(answer)}, {"labels", answer}, {"boxes", boxes}};
}

}  // namespace
}  // namespace saccade

using namespace saccade;

#define SACCADE_EXPORT(name) __attribute__((export_name(#name))) name

extern "C" {

/// Memory for what the page passes in.
void* SACCADE_EXPORT(saccade_allocate)(std::size_t size) { return std::malloc(size); }
void SACCADE_EXPORT(saccade_release)(void* memory) { std::free(memory); }

/// Loads an agent and returns its number. `about`: {"settings", "class_names", "shape"} of to_json,
/// of the digits' classes and images. `weights` are the `size` bytes of a checkpoint; `digits` are
/// `digits_size` bytes: images of that shape, then a label each.
int SACCADE_EXPORT(saccade_load)(const char* about, const char* weights, std::size_t size,
                                 const std::uint8_t* digits, std::size_t digits_size) {
  const Json json = parsed(about);
  Config config;
  read_json(world_settings(config), json.at("settings").dump());
  const Checkpoint checkpoint(parse_safetensors(std::string(weights, size)), "weights");
  players().push_back(
      std::make_unique<Player>(config, digits_of(json, digits, digits_size), checkpoint));
  return static_cast<int>(players().size()) - 1;
}

/// Frees an agent. Its number is not used again.
void SACCADE_EXPORT(saccade_unload)(int agent) {
  player_at(agent);
  players()[agent].reset();
}

/// {"canvas": [channels, rows, cols], "looks": T, "names": of the classes, ...}
const char* SACCADE_EXPORT(saccade_facts)(int agent) {
  return returned(facts_of(player_at(agent)));
}

/// Shows a scene: `request` is {"number", "seed", "settings": {"scene.num_distractors": 4, ...},
/// "digit_order"}; returns {"answer", "labels", "boxes"}.
const char* SACCADE_EXPORT(saccade_scene)(int agent, const char* request) {
  const Json json = parsed(request);
  Player& player = player_at(agent);
  Config config = player.task().config;
  read_json(world_settings(config), json.value("settings", Json::object()).dump());
  const SceneFacts& facts =
      player.show(json.value("number", std::uint64_t{0}), json.value("seed", std::uint64_t{0}),
                  config.scene, json.value("digit_order", false));
  return returned(scene_json(player, facts));
}

/// The canvas (channels, rows, cols) of bytes, to be read or written.
std::uint8_t* SACCADE_EXPORT(saccade_canvas)(int agent) { return player_at(agent).canvas().data(); }

/// The image (rows, cols, channels) of digit `index`, of which scenes are made: bytes, to be read
/// or written.
std::uint8_t* SACCADE_EXPORT(saccade_digit)(int agent, int index) {
  return player_at(agent).digit(index).data();
}

/// The class of that digit.
int SACCADE_EXPORT(saccade_label)(int agent, int index) { return player_at(agent).label(index); }
void SACCADE_EXPORT(saccade_set_label)(int agent, int index, int label) {
  player_at(agent).set_label(index, label);
}

/// What the retina sees at a location: (scale, channel, row, col), in [0, 1].
const float* SACCADE_EXPORT(saccade_look)(int agent, const float* location) {
  return player_at(agent).look(location).data();
}

/// Plays an episode: `request` is {"player": "own" or "random", "samples", "seed", "std",
/// "temperature"}; the first looks go to `given` places. Returns {name: {"shape", "at", "type"}} of
/// the arrays of Player::play, which are valid until the next episode of this agent, "spread", and
/// of an answer that is a sequence "answer", as text.
const char* SACCADE_EXPORT(saccade_play)(int agent, const char* request, const float* places,
                                         int given) {
  const Json json = parsed(request);
  Player& player = player_at(agent);
  const auto width = static_cast<std::size_t>(player.task().model.look().location_size);
  const std::vector<NpzArray>& arrays =
      player.play({.random = json.value("player", std::string("own")) == "random",
                   .samples = json.value("samples", false),
                   .seed = json.value("seed", std::uint64_t{0}),
                   .places = {places, given * width},
                   .std = number_in(json, "std"),
                   .temperature = number_in(json, "temperature")});
  Json all = Json::object();
  for (const NpzArray& array : arrays)
    std::visit(
        [&](const auto& values) {
          using T = typename std::decay_t<decltype(values)>::value_type;
          all[array.name] = {{"shape", array.shape},
                             {"at", reinterpret_cast<std::uintptr_t>(values.data())},
                             {"type", std::is_same_v<T, float> ? "float32" : "int32"}};
        },
        array.values);
  all["spread"] = player.spread();
  if (!player.task().model.answer().classifies) all["answer"] = player.spoken_answer();
  return returned(all);
}
}
