#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "experiments/config_table.h"
#include "nn/error.h"

// The rules are those of the library: each stands where the thing is that it is about. Here they
// get the place of what was given. What was not given is settled here, and what a task asks of the
// agent stands here.
namespace saccade {
namespace {

bool is_of_key(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

// The place of the first setting that a message names and that was given; empty if none was. A word
// without a dot is no setting there: `name` and `seed` are words, too.
std::string place_of(const std::string& message, const GivenKeys& given) {
  for (auto begin = message.begin(), end = begin; begin != message.end(); begin = end) {
    begin = std::find_if(begin, message.end(), is_of_key);
    end = std::find_if_not(begin, message.end(), is_of_key);
    std::string word(begin, end);
    while (word.ends_with('.')) word.pop_back();
    const auto found = given.find(word);
    if (found != given.end() && word.find('.') != std::string::npos) return found->second;
  }
  return "";
}

// Runs a rule of the library. What it throws gets its place.
template <class Rule>
void at_its_place(const GivenKeys& given, const Rule& rule) {
  try {
    rule();
  } catch (const InputError& error) {
    const std::string place = place_of(error.what(), given);
    throw InputError(place.empty() ? error.what() : place + ": " + error.what());
  }
}

// Throws unless `holds`, at the place of the first of `keys` that was given.
void require(bool holds, const GivenKeys& given, std::initializer_list<const char*> keys,
             const std::string& message) {
  if (holds) return;
  for (const char* key : keys)
    if (const auto found = given.find(key); found != given.end())
      throw InputError(found->second + ": " + message);
  throw InputError(message);
}

// What nobody said is what the rest implies.
void settle(Config& config, const GivenKeys& given) {
  SceneConfig scene = config.scene;
  settle(scene);
  if (!given.contains("scene.num_distractors"))
    config.scene.num_distractors = scene.num_distractors;
  settle(config.agent.glimpse);
  OptimizerConfig& optimizer = config.agent.training.optimizer;
  if (!given.contains("training.final_learning_rate") &&
      optimizer.final_learning_rate > optimizer.learning_rate)
    optimizer.final_learning_rate = 0.01 * optimizer.learning_rate;
}

// What a game asks of the agent that plays it.
void resolve_catch(const Config& config, const GivenKeys& given) {
  const AgentConfig& agent = config.agent;
  require(agent.model.kind == "recurrent" && agent.glimpse.kind != "whole" &&
              agent.glimpse.kind != "soft_gaussian",
          given, {"model.kind", "attention.glimpse.kind", "scene.kind"},
          "scene.kind: catch moves while it is looked at and needs model.kind: recurrent and an "
          "attention.glimpse.kind that takes glimpses of points or of a grid");
  require(agent.glimpse.num_glimpses >= config.scene.canvas[0] - 1, given,
          {"attention.glimpse.num_glimpses", "scene.canvas", "scene.kind"},
          fmt::format("attention.glimpse.num_glimpses: {} ends before a ball of scene.kind: catch "
                      "lands; allowed: {} and more",
                      agent.glimpse.num_glimpses, config.scene.canvas[0] - 1));
  require(agent.reinforce.reward == "correct", given, {"reinforce.reward", "scene.kind"},
          fmt::format("reinforce.reward: {} has no effect with scene.kind: catch, which pays "
                      "itself; allowed: correct",
                      agent.reinforce.reward));
}

// What a text asks of the agent that reads it.
void resolve_text(const AgentConfig& agent, const GivenKeys& given) {
  require(agent.glimpse.kind == "whole", given, {"attention.glimpse.kind", "scene.kind"},
          fmt::format("attention.glimpse.kind: {} cannot look at scene.kind: digits_to_words, a "
                      "text; allowed: whole",
                      agent.glimpse.kind));
  require(agent.model.kind == "recurrent", given, {"model.kind", "scene.kind"},
          fmt::format("model.kind: {} cannot read a text; allowed: recurrent", agent.model.kind));
}

// A scan walks the tiles of as many digits as it has glimpses.
void resolve_bag(const Config& config, const GivenKeys& given) {
  const int digits = config.scene.num_digits, glimpses = config.agent.glimpse.num_glimpses;
  require(config.agent.glimpse.kind != "scan" || glimpses == digits, given,
          {"attention.glimpse.num_glimpses", "scene.num_digits", "scene.kind"},
          fmt::format("attention.glimpse.num_glimpses: {} of attention.glimpse.kind: scan miss the "
                      "tiles of scene.kind: bag; allowed: scene.num_digits: {}",
                      glimpses, digits));
}

void resolve_task(const Config& config, const GivenKeys& given) {
  if (config.scene.kind == "bag") resolve_bag(config, given);
  if (config.scene.kind == "catch") resolve_catch(config, given);
  if (config.scene.kind == "digits_to_words") resolve_text(config.agent, given);
}

AnswerKind answer_of(const SceneConfig& scene) {
  if (scene.kind == "catch") return AnswerKind::actions;
  return scene.kind == "transcribe" || scene.kind == "digits_to_words" ? AnswerKind::sequence
                                                                       : AnswerKind::one_class;
}

}  // namespace

void resolve(Config& config, const GivenKeys& given) {
  settle(config, given);
  at_its_place(given, [&] {
    check(config.data);
    check(config.scene);
  });
  resolve_task(config, given);
  at_its_place(given, [&] { check(config.agent, answer_of(config.scene)); });
}

}  // namespace saccade
