#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "agent/spec/config.h"
#include "agent/spec/pixel_scale.h"
#include "env/augmentation.h"
#include "env/digits.h"
#include "env/retina.h"
#include "env/scene_config.h"

namespace saccade {

/// Keys: evaluation.*
struct EvaluationConfig {
  std::int64_t every = 2'000'000;  // training episodes between evaluations
  int scenes = 10'000;             // fewer than digits: of digits drawn at random by the seed
  int draws = 1;                   // of the test, of so many scenes each, for the same digits
  std::uint64_t seed = 777;
  int rollouts = 10;  // passes that test/error_averaged averages
  int beam = 4;       // hypotheses of a decoder's beam search, for test/error_beam
};

/// Scenes of a work item of an evaluation; a program's scenes come in such blocks. The last bits of
/// an evaluation depend on it.
constexpr int kScenesAtATime = 100;

/// Keys: log.*
struct LogConfig {
  std::int64_t every = 100'000;  // training episodes between rows of metrics.csv
  bool jsonl = false;            // and of metrics.jsonl
  bool tensorboard = false;      // and events that TensorBoard reads
  bool snapshots = false;        // the averaged weights at every evaluation
};

/// Keys: record.*
struct RecordConfig {
  std::int64_t every = 0;      // training episodes between recordings; 0: none
  int scenes = 4;              // the first validation scenes
  std::string format = "gif";  // a name of recording_formats()
};

/// A setting that was given but has no effect with the others. It is reset to its default.
struct UnusedSetting {
  std::string key;
  std::string place;      // where it was given
  std::string reason;     // "model.core is lstm"
  bool replaced = false;  // it has an effect in the file alone, but none with the overrides

  bool operator==(const UnusedSetting&) const = default;
};

/// One experiment. A YAML file says only what differs from these defaults.
struct Config {
  std::string name = "unnamed";
  std::string variant;  // name within a study; empty: derived from its settings
  std::uint64_t seed = 1;
  std::string init_from;  // run folder whose weights the training begins with; empty: none
  DataConfig data;
  PixelConfig pixels;
  AugmentationConfig augmentation;
  SceneConfig scene;
  RetinaConfig retina;
  AgentConfig agent;
  EvaluationConfig evaluation;
  LogConfig log;
  RecordConfig record;

  /// The settings that were given, and where: "file.yaml:7:3" or "override 'key=value'".
  std::map<std::string, std::string> given;
  /// Settings that were given but have no effect. They are not in `given`.
  std::vector<UnusedSetting> unused;
};

/// Reads a YAML file, or the preset of that name, and then `key.path=value` overrides in order.
/// Sets values that depend on others (final_learning_rate unless it was given, no distractors in
/// scenes without clutter), and resets settings that the chosen kinds do not read. Throws
/// InputError with file:line:column (or the override), the key, the value, what is allowed and, for
/// an unknown key, the nearest valid one.
Config read_config(const std::filesystem::path& path, std::span<const std::string> overrides = {});

/// The same from the text of a file; `origin` stands for the file's name in messages.
Config parse_config(const std::string& text, const std::string& origin,
                    std::span<const std::string> overrides = {});

/// All keys, in the order of the documentation.
std::vector<std::string> setting_keys();

/// The value of a setting as YAML. `key` is one of setting_keys().
std::string value_of(const Config& config, const std::string& key);

/// The values of all settings as YAML, by key.
std::map<std::string, std::string> values_of(const Config& config);

/// A setting in which two configurations differ, and both its values as YAML.
struct Difference {
  std::string key;
  std::string first;
  std::string second;
};
std::vector<Difference> differences(const Config& first, const Config& second);

/// Whether `longer` is `config` with more episodes and nothing else.
bool is_longer(const Config& longer, const Config& config);

/// All values as YAML, each with a comment, in the order of the documentation. parse_config() of
/// the text gives the same Config, if `config` was read.
std::string to_yaml(const Config& config);
/// The same; `notes` replaces the comments of some keys.
std::string to_yaml(const Config& config, const std::map<std::string, std::string>& notes);

}  // namespace saccade
