#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "experiments/task/task.h"

namespace saccade {

/// Settings of scenes other than those that an agent was trained on, each "scene.key=value".
using SceneOverrides = std::vector<std::string>;

/// Returns the configuration of a trained agent with other scenes. A grid of candidates that covers
/// the canvas as it does by default also covers another canvas so. Throws InputError with the key,
/// the value and what is allowed for a setting that is not one of scenes, that has no such value or
/// no effect, and for one that would change anything but the scenes.
Config with_scenes(const Config& trained, const SceneOverrides& scenes);

/// Throws InputError likewise if the agent of `trained` cannot be tested on other scenes: if they
/// ask for other answers, or if its network would have other parameters.
void check_same_agent(const Config& trained, const Task& tested);
/// The same where the task of the training is there.
void check_same_agent(const Task& trained, const Task& tested);

/// The settings of scenes and the source of the digits in which a test differs from the training.
std::vector<Difference> scene_differences(const Config& trained, const Config& tested);

/// The files of digits whose checksums differ, each as "data_crc32.<file>"; none if the training's
/// are not known or the test has no digits.
std::vector<Difference> data_differences(const std::map<std::string, std::string>& trained,
                                         const std::map<std::string, std::string>& tested);

/// "scene.num_distractors 16 (4 in training), scene.canvas [100, 100] ([60, 60] in training)"
std::string to_text(std::span<const Difference> from_training);

/// The same as a line of its own, "not as in training: ..."; empty if nothing differs.
std::string word_on_training(std::span<const Difference> from_training);

/// {"scene.num_distractors": {"training": 4, "test": 16}, ...}
nlohmann::ordered_json to_json(std::span<const Difference> from_training);

}  // namespace saccade
